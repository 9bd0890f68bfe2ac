import { readCrateArchive, readCrateMetadata, readFolderArchive } from "./read-crate.js";
import { DESCRIPTOR_END } from "../crates/layout.js";
import { askedArk } from "../records/find.js";
import type { FormatSource, RecordFormat, WrittenStream } from "./format.js";

/** Profile of RO-Crates, whatever their version. */
export const RO_CRATE = "https://w3id.org/ro/crate";

/** What a crate and its archives have in common. */
const whole = { kinds: ["rocrate"], isWholeCrate: true, isDerived: true } as const;

/** RO-Crate metadata of the whole crate. */
export const rocrate: RecordFormat = {
  ...whole,
  name: "rocrate",
  mediaType: "application/ld+json",
  profile: RO_CRATE,
  label: "RO-Crate metadata",
  description:
    "The metadata document of the whole crate, from the current version of its records; also at " +
    "the crate's address followed by /ro-crate-metadata.json.",
  relation: "describedby",
  isSignpost: true,
  path: DESCRIPTOR_END,
  example: JSON.stringify({
    "@context": "https://w3id.org/ro/crate/1.2/context",
    "@graph": [
      {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        conformsTo: { "@id": "https://w3id.org/ro/crate/1.2" },
        about: { "@id": "ark:99999/rocrate-release" },
      },
      { "@id": "ark:99999/rocrate-release", "@type": "Dataset", name: "Release" },
    ],
  }),
  async write({ deps, view }): Promise<WrittenStream> {
    const { state, open } = await readCrateMetadata(deps, askedArk(view.record.ark));
    return { state: `${state}-crate`, open };
  },
};

/** An archive of the crate with the files that the caller may read. */
const archived =
  (form: "zip" | "bag") =>
  async ({ deps, view, caller }: FormatSource): Promise<WrittenStream> => {
    const archive = await readCrateArchive(deps, askedArk(view.record.ark), caller);
    const { root, state, left } = archive;
    const ending = form === "bag" ? "bag.zip" : "crate.zip";
    return {
      state: `${state}-${form}${left.length}`,
      headers: {
        "Content-Disposition": disposition(`${fileName(root.name)}.${ending}`),
        "X-Not-Included": String(left.length),
      },
      open: async () => archive.open(form),
    };
  };

/** A folder of the crate, else the whole crate. */
async function zipped(source: FormatSource): Promise<WrittenStream> {
  const { deps, view, caller, folder } = source;
  if (folder === undefined) return archived("zip")(source);
  const { name, state, left, open } = await readFolderArchive(
    deps,
    askedArk(view.record.ark),
    folder,
    caller,
  );
  return {
    state: `${state}-folder${left.length}`,
    headers: {
      "Content-Disposition": disposition(`${fileName(name, "folder")}.zip`),
      "X-Not-Included": String(left.length),
    },
    open: async () => open(),
  };
}

/** The crate with its files. */
export const zip: RecordFormat = {
  ...whole,
  name: "zip",
  mediaType: "application/zip",
  profile: RO_CRATE,
  label: "RO-Crate archive",
  description:
    "An archive of the current version of the crate, with the contents that the caller may read. " +
    "It can be uploaded again. `/rocrate/ark:…?format=zip&folder=…` has the files of one folder " +
    "alone.",
  relation: "item",
  isSignpost: true,
  isBinary: true,
  hasFolders: true,
  write: zipped,
};

/** The same as a bag (RFC 8493). */
export const bagit: RecordFormat = {
  ...whole,
  name: "bagit",
  mediaType: "application/zip",
  profile: "https://www.rfc-editor.org/info/rfc8493",
  label: "BagIt archive",
  description: "The same archive as a bag (BagIt 1.0), with the SHA-256 of every file.",
  relation: "item",
  isBinary: true,
  write: archived("bag"),
};

const disposition = (name: string): string => `attachment; filename="${name}"`;

/** A name that every file system and header accepts. */
const fileName = (name: string | null, nameless = "crate"): string =>
  (name ?? "")
    .normalize("NFKD")
    .replace(/[^\w.-]+/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, 80) || nameless;
