import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import yazl from "yazl";
import type { CrateLimits } from "../../src/services/crates/upload.js";
import type { ObjectReader } from "../../src/storage/objects/port.js";
import { sharedData, sharedPath } from "./shared-data.js";

export const RO_CRATE = "https://w3id.org/ro/crate/1.1/context";
/** Real crates by others; not part of the project. */
export const REAL_CRATES = sharedPath("crates");

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type Entity = { [key: string]: Json };

export const LIMITS: CrateLimits = {
  MAX_CRATE_ENTRIES: 1000,
  MAX_CRATE_INFLATED_BYTES: 100 * 2 ** 20,
  MAX_CRATE_RATIO: 200,
  MAX_MEMBER_NAME_BYTES: 1024,
  MAX_METADATA_BYTES: 20 * 2 ** 20,
  MAX_ENTITY_BYTES: 2 ** 20,
  MAX_JSON_DEPTH: 200,
  MAX_CRATE_ENTITIES: 100_000,
  MAX_CRATE_CONTEXTS: 100,
  MAX_CRATE_TERMS: 10_000,
  MAX_CRATE_REFERENCES: 100_000,
  MAX_CRATE_NESTING: 20,
  MAX_CRATE_RECORD_BYTES: 2 ** 30,
};

/** Metadata of RO-Crate 1.1 with a root `./` and further entities. */
export function metadata(
  entities: Entity[] = [],
  root: Entity = {},
  context: Json = RO_CRATE,
): Entity {
  return {
    "@context": context,
    "@graph": [
      {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        about: { "@id": (root["@id"] as string | undefined) ?? "./" },
        conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
      },
      {
        "@id": "./",
        "@type": "Dataset",
        name: "A crate",
        description: "For tests",
        license: { "@id": "https://spdx.org/licenses/CC-BY-4.0" },
        datePublished: "2024-05-03",
        ...root,
      },
      ...entities,
    ],
  };
}

/** Records or entities of a crate, but for what its metadata descriptors say. */
export const withoutDescriptors = <T extends { ark: string }>(records: readonly T[]): T[] =>
  records.filter(({ ark }) => !ark.endsWith("/ro-crate-metadata.json"));

/**
 * Advice about parts that RO-Crate asks for and small examples leave out; kept apart from the
 * subject of a test.
 */
export const RO_CRATE_ADVICE: ReadonlySet<string> = new Set([
  "ABOUT_NOWHERE",
  "CONFORMS_TO_INVALID",
  "CONTEXT_MISSING",
  "CONTEXT_VERSION",
  "DESCRIPTOR_INCOMPLETE",
  "ID_NOT_URI",
  "NESTED_WITHOUT_ID",
  "NOT_FLATTENED",
  "NOT_PART",
  "OLDER_LAYOUT",
  "ROOT_ID",
  "ROOT_INCOMPLETE",
  "TEXT_AS_REFERENCE",
  "TYPE_MISSING",
]);

export type Members = { [name: string]: string | Uint8Array | Entity | null };

/** A zip archive; objects become JSON, null an empty folder. */
export async function zip(members: Members, options: { compress?: boolean } = {}): Promise<Buffer> {
  const archive = new yazl.ZipFile();
  for (const [name, content] of Object.entries(members)) {
    if (content === null) archive.addEmptyDirectory(name);
    else
      archive.addBuffer(
        Buffer.from(
          typeof content === "string" || content instanceof Uint8Array
            ? content
            : JSON.stringify(content),
        ),
        name,
        { mtime: new Date(1e12), compress: options.compress ?? true },
      );
  }
  archive.end();
  return buffer(archive.outputStream);
}

/** A crate's archive with its metadata at the top. */
export const crate = (
  entities: Entity[],
  files: Members = {},
  root: Entity = {},
): Promise<Buffer> => zip({ "ro-crate-metadata.json": metadata(entities, root), ...files });

/** A table of a crate, and the schema of its columns, `#columns`, that it names. */
export function tableWithSchema(
  table: Entity & { "@id": string },
  columns: Entity,
  schema: Entity = {},
): [Entity, Entity] {
  return [
    {
      "@type": ["File", "https://w3id.org/EVI#Dataset"],
      encodingFormat: "text/csv",
      "evi:Schema": { "@id": "#columns" },
      ...table,
    },
    {
      "@id": "#columns",
      "@type": "https://w3id.org/EVI#Schema",
      name: "Columns",
      separator: ",",
      header: true,
      properties: columns,
      ...schema,
    },
  ];
}

/** A folder packed as it is. */
export function zipFolder(folder: string): Promise<Buffer> {
  const members: Members = {};
  const walk = (path: string, name: string) => {
    for (const entry of readdirSync(path)) {
      if (statSync(join(path, entry)).isDirectory()) walk(join(path, entry), `${name}${entry}/`);
      else members[name + entry] = readFileSync(join(path, entry));
    }
  };
  walk(folder, "");
  return zip(members);
}

/** A real crate as an archive; undefined, after {@link sharedData}, when it is not there. */
export async function realCrate(name: string): Promise<Buffer | undefined> {
  const path = sharedData(`crates/${name}`);
  if (!path) return undefined;
  return statSync(path).isDirectory() ? zipFolder(path) : readFileSync(path);
}

/** Real crates that state what citations, catalogues and Croissant require. */
const DESCRIBED = ["fs-nf-fanout", "fs-cm4ai-release"];

/** Real crates by name, as {@link realCrate} returns them; those that are there. */
export async function realCrates(names = DESCRIBED): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for (const name of names) {
    const archive = await realCrate(name);
    if (archive) found.set(name, archive);
  }
  return found;
}

/** Bytes as an archive reader sees them. */
export function readerOf(bytes: Uint8Array): ObjectReader {
  return {
    size: bytes.byteLength,
    read: async (target, position) => {
      const part = bytes.subarray(position, position + target.byteLength);
      target.set(part);
      return part.byteLength;
    },
    close: async () => {},
  };
}

/** Offsets of the central directory's headers. */
export function directoryHeaders(archive: Buffer): number[] {
  const offsets: number[] = [];
  const end = archive.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  let at = archive.readUInt32LE(end + 16);
  for (let count = archive.readUInt16LE(end + 10); count > 0; count--) {
    offsets.push(at);
    at +=
      46 +
      archive.readUInt16LE(at + 28) +
      archive.readUInt16LE(at + 30) +
      archive.readUInt16LE(at + 32);
  }
  return offsets;
}

/** Changes the central directory header of one member, as a hostile packer would. */
export function forge(archive: Buffer, member: number, change: (header: Buffer) => void): Buffer {
  const forged = Buffer.from(archive);
  change(forged.subarray(directoryHeaders(forged)[member]));
  return forged;
}

/**
 * Replaces a member's name everywhere by one of the same length, including names that packers
 * refuse.
 */
export function rename(archive: Buffer, from: string, to: string): Buffer {
  if (Buffer.byteLength(from) !== Buffer.byteLength(to))
    throw new Error("names must have one length");
  const renamed = Buffer.from(archive);
  for (let at = renamed.indexOf(from); at >= 0; at = renamed.indexOf(from, at + 1))
    renamed.write(to, at);
  return renamed;
}
