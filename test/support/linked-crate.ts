import { metadata, zip, type Entity } from "./crates.js";

export const RELEASE = "ark:99999/release";
export const SUB = "ark:99999/sub";
export const CRATE_TYPE = ["Dataset", "https://w3id.org/EVI#ROCrate"];

/** A crate with an ARK, one entity with an ARK, and one file. */
export const sub = (says: Entity = {}, more: Entity[] = []): Entity =>
  metadata(
    [
      { "@id": "ark:99999/tool", "@type": "EVI:Software", name: "Tool" },
      { "@id": "a.csv", "@type": "File", name: "A" },
      ...more,
    ],
    { "@id": SUB, "@type": CRATE_TYPE, name: "Sub", hasPart: [{ "@id": "a.csv" }], ...says },
  );

export const alone = (document: Entity = sub()): Promise<Buffer> =>
  zip({ "ro-crate-metadata.json": document, "a.csv": "1,2\n" });

/** A release that names the crate and contains it. */
export const release = (
  document: Entity = sub(),
  stub: Entity = { name: "Sub", version: "1.0", hasPart: [] },
): Promise<Buffer> =>
  zip({
    "ro-crate-metadata.json": metadata([{ "@id": SUB, "@type": CRATE_TYPE, ...stub }], {
      "@id": RELEASE,
      name: "Release",
      hasPart: [{ "@id": SUB }],
    }),
    "sub/ro-crate-metadata.json": document,
    "sub/a.csv": "1,2\n",
  });

/** The release with a metadata file of the crate that states nothing about it. */
export const emptiedRelease = (): Promise<Buffer> =>
  release({
    "@context": "https://w3id.org/ro/crate/1.2/context",
    "@graph": [
      {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        conformsTo: { "@id": "https://w3id.org/ro/crate/1.2" },
        about: { "@id": SUB },
      },
      { "@id": SUB, "@type": CRATE_TYPE },
    ],
  });
