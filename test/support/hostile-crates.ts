import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { FindingCode } from "../../src/services/crates/findings.js";
import type { CrateLimits } from "../../src/services/crates/upload.js";
import { crate, forge, type Members, metadata, rename, zip } from "./crates.js";
import { plainZip } from "./plain-zip.js";

/** A hostile crate: its effect, the code that refuses it, and its bytes. */
export interface HostileCrate {
  does: string;
  code: FindingCode;
  make: () => Promise<Buffer>;
  /** Settings under which it is too much, where the defaults are large. */
  limits?: Partial<CrateLimits>;
  /** The bytes are a metadata document. */
  alone?: true;
}

const MIB = 2 ** 20;
const crateWith = (files: Members) => crate([], files);
/** Member 0 is the metadata, member 1 the file. */
const named =
  (safe: string, hostile: string): (() => Promise<Buffer>) =>
  async () =>
    rename(await crateWith({ [safe]: "payload" }), safe, hostile);
const forged =
  (change: (header: Buffer) => void, content: string | Uint8Array = "payload") =>
  async () =>
    forge(await crateWith({ "a.txt": content }), 1, change);
const mode = (type: number) => forged((header) => header.writeUInt32LE((type << 16) >>> 0, 38));
const nest = (open: string, close: string, depth: number) =>
  metadataText(open.repeat(depth) + "1" + close.repeat(depth));
const metadataText = (value: string) =>
  JSON.stringify(metadata([{ "@id": "#x", "@type": "Person", deep: "HERE" }])).replace(
    '"HERE"',
    () => value,
  );
const alone = (does: string, code: FindingCode, make: () => string | Buffer): HostileCrate => ({
  does,
  code,
  alone: true,
  make: async () => Buffer.from(make()),
});

/** Every known way to harm a program that unpacks an archive or reads its metadata. */
export const HOSTILE: readonly HostileCrate[] = [
  { does: "leads out of the archive", code: "BAD_MEMBER_NAME", make: named("xx/moo", "../moo") },
  {
    does: "leads out of the archive from a folder",
    code: "BAD_MEMBER_NAME",
    make: named("a/xx/xx/b", "a/../../b"),
  },
  {
    does: "names an absolute path",
    code: "BAD_MEMBER_NAME",
    make: named("xetc/passwd", "/etc/passwd"),
  },
  { does: "names a drive", code: "BAD_MEMBER_NAME", make: named("Cx/x", "C:/x") },
  {
    does: "separates with backslashes",
    code: "BAD_MEMBER_NAME",
    make: named("..x..xmoo", "..\\..\\moo"),
  },
  {
    does: "hides an extension behind NUL",
    code: "BAD_MEMBER_NAME",
    make: named("a.txtx.exe", "a.txt\0.exe"),
  },
  {
    does: "turns the direction of a name",
    code: "BAD_MEMBER_NAME",
    make: async () =>
      plainZip([
        ["ro-crate-metadata.json", JSON.stringify(metadata())],
        ["report\u202efdp.exe", "x"],
      ]),
  },
  {
    does: "hides a control character in a name",
    code: "BAD_MEMBER_NAME",
    make: async () =>
      plainZip([
        ["ro-crate-metadata.json", JSON.stringify(metadata())],
        ["a\u001b[2J.txt", "x"],
      ]),
  },
  {
    does: "turns the direction of an identifier",
    code: "INVALID_ID",
    make: () => crate([{ "@id": "report\u202efdp.exe", "@type": "Dataset" }]),
  },
  {
    does: "has a name that is no text",
    code: "BAD_MEMBER_NAME",
    make: async () => {
      const bytes = await crateWith({ üü: "x" });
      for (let at = bytes.indexOf("üü"); at >= 0; at = bytes.indexOf("üü", at + 1))
        bytes.fill(0xff, at, at + 4);
      return bytes;
    },
  },
  { does: "holds a symbolic link", code: "SPECIAL_MEMBER", make: mode(0o120777) },
  { does: "holds a device", code: "SPECIAL_MEMBER", make: mode(0o060666) },
  { does: "holds a named pipe", code: "SPECIAL_MEMBER", make: mode(0o010666) },
  {
    does: "has one name twice",
    code: "DUPLICATE_NAME",
    make: async () => rename(await crateWith({ a1: "1", a2: "2" }), "a2", "a1"),
  },
  {
    does: "has two metadata files of one name",
    code: "DUPLICATE_NAME",
    make: async () =>
      rename(
        await zip({ "ro-crate-metadata.json": metadata(), "ro-crate-metadatX.json": metadata() }),
        "ro-crate-metadatX.json",
        "ro-crate-metadata.json",
      ),
  },
  {
    does: "has names equal after Unicode normalisation",
    code: "DUPLICATE_NAME",
    make: () => crateWith({ "caf\u00e9": "1", "cafe\u0301": "2" }),
  },
  {
    does: "has names equal after case folding",
    code: "DUPLICATE_NAME",
    make: () => crateWith({ Straße: "1", STRASSE: "2" }),
  },
  {
    does: "has a file where a folder is",
    code: "DUPLICATE_NAME",
    make: async () => rename(await crateWith({ aa: "1", "bb/c": "2" }), "bb/c", "aa/c"),
  },
  {
    does: "shares bytes between members",
    code: "MEMBER_OVERLAP",
    make: forged((header) => header.writeUInt32LE(0, 42)),
  },
  {
    does: "reaches into its own directory",
    code: "MEMBER_OVERLAP",
    make: forged((header) => header.writeUInt32LE(60_000, 20)),
  },
  {
    does: "says a member is smaller than it is",
    code: "MEMBER_SIZE_MISMATCH",
    make: forged((header) => header.writeUInt32LE(3, 24)),
  },
  {
    does: "says a member is larger than it is",
    code: "MEMBER_SIZE_MISMATCH",
    make: forged((header) => header.writeUInt32LE(5000, 24)),
  },
  {
    does: "has a wrong checksum",
    code: "CORRUPT_MEMBER",
    make: forged((header) => header.writeUInt32LE(1, 16)),
  },
  {
    does: "encrypts a member",
    code: "MEMBER_ENCRYPTED",
    make: forged((header) => header.writeUInt16LE(1, 8)),
  },
  {
    does: "compresses by an unknown method",
    code: "UNSUPPORTED_COMPRESSION",
    make: forged((header) => header.writeUInt16LE(12, 10)),
  },
  {
    does: "has two metadata files at the shallowest level",
    code: "AMBIGUOUS_METADATA",
    make: () =>
      zip({ "a/ro-crate-metadata.json": metadata(), "b/ro-crate-metadata.json": metadata() }),
  },
  { does: "has no metadata file", code: "NO_METADATA", make: () => zip({ "a.txt": "x" }) },
  { does: "is no archive", code: "NOT_A_ZIP", make: async () => Buffer.from("<html>") },
  { does: "is nothing", code: "NOT_A_ZIP", make: async () => Buffer.alloc(0) },
  {
    does: "is a bomb",
    code: "RATIO_TOO_HIGH",
    make: () => crateWith({ bomb: Buffer.alloc(40 * MIB) }),
  },
  {
    does: "is a bomb in its metadata",
    code: "RATIO_TOO_HIGH",
    make: () => zip({ "ro-crate-metadata.json": Buffer.alloc(40 * MIB, " ") }),
  },
  {
    does: "inflates to too much altogether",
    code: "INFLATED_TOO_LARGE",
    limits: { MAX_CRATE_INFLATED_BYTES: MIB },
    make: () => crateWith({ a: Buffer.alloc(600_000, "ab"), b: Buffer.alloc(600_000, "cd") }),
  },
  {
    does: "has too many members",
    code: "TOO_MANY_ENTRIES",
    limits: { MAX_CRATE_ENTRIES: 1000 },
    make: () =>
      crateWith(Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`f${n}`, ""]))),
  },
  {
    does: "has a name that is too long",
    code: "MEMBER_NAME_TOO_LONG",
    make: () => crateWith({ [`${"a/".repeat(600)}b`]: "x" }),
  },
  {
    does: "nests 10,000 arrays",
    code: "too_deep",
    make: () => zip({ "ro-crate-metadata.json": nest("[", "]", 10_000) }),
  },
  alone("nests 10,000 objects", "too_deep", () => nest('{"a":', "}", 10_000)),
  alone("nests a million arrays that never end", "too_deep", () => "[".repeat(1_000_000)),
  alone("is not JSON", "json_invalid", () => "{'a': 1}"),
  alone("is not UTF-8", "json_invalid", () => Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22])),
  alone("says a key twice", "duplicate_key", () => metadataText('1,"deep":2')),
  alone("has a number beyond what is kept", "number_precision", () => metadataText("1e400")),
  alone("hides NUL in a text", "string_unicode", () => metadataText('"\\u0000"')),
  alone("names a file outside the crate", "INVALID_ID", () =>
    JSON.stringify(metadata([{ "@id": "../../etc/passwd", "@type": "File" }])),
  ),
  {
    ...alone("has a metadata file that is too large", "METADATA_TOO_LARGE", () =>
      metadataText(JSON.stringify("x".repeat(2 * MIB))),
    ),
    limits: { MAX_METADATA_BYTES: MIB },
  },
];

/**
 * Too large to be made over and over: a metadata document of this many bytes, nearly all of it one
 * text.
 */
export const largeMetadata = (bytes: number): Promise<Buffer> =>
  buffer(Readable.from([metadataText(JSON.stringify("x".repeat(bytes)))]));

/** The metadata of a crate with this many entities. */
export function manyEntities(count: number): Buffer {
  const head = JSON.stringify(metadata());
  const parts: string[] = [head.slice(0, -2)];
  for (let n = 0; n < count; n++) parts.push(`,{"@id":"#${n}","@type":"Person"}`);
  return Buffer.from(`${parts.join("")}]}`);
}
