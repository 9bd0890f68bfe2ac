import type { Json } from "./crates.js";
import type { Dice } from "./dice.js";

/** Ways to spoil bytes. Each answers new bytes. */
const OF_BYTES: readonly ((bytes: Buffer, dice: Dice) => Buffer)[] = [
  // Cut off.
  (bytes, dice) => bytes.subarray(0, dice.roll(bytes.length)),
  // Bits turned over.
  (bytes, dice) =>
    changed(bytes, (copy) => {
      for (let n = 1 + dice.roll(6); n > 0; n--) copy[dice.roll(copy.length)]! ^= 1 << dice.roll(8);
    }),
  // Bytes overwritten with what fields hold at their ends.
  (bytes, dice) =>
    changed(bytes, (copy) =>
      copy.fill(dice.of([0, 0xff, 0x50, 0x7f, 0x80]), ...range(copy.length, dice, 12)),
    ),
  // A part left out.
  (bytes, dice) => {
    const [from, to] = range(bytes.length, dice, 200);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  },
  // A part copied to another place.
  (bytes, dice) => {
    const [from, to] = range(bytes.length, dice, 300);
    const at = dice.roll(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(from, to), bytes.subarray(at)]);
  },
  // A part written over another.
  (bytes, dice) =>
    changed(bytes, (copy) => {
      const [from, to] = range(copy.length, dice, 100);
      copy.copy(copy, dice.roll(copy.length), from, to);
    }),
  // A number in a header or in the directory that lies.
  (bytes, dice) => changed(bytes, (copy) => lie(copy, dice)),
  (bytes, dice) =>
    changed(bytes, (copy) => {
      for (let n = 0; n < 3; n++) lie(copy, dice);
    }),
];

/** One to three ways to spoil an archive. */
export function spoilBytes(bytes: Buffer, dice: Dice): Buffer {
  let spoilt = bytes;
  for (let n = dice.once(3) ? 2 : 1; n > 0 && spoilt.length > 0; n--)
    spoilt = dice.of(OF_BYTES)(spoilt, dice);
  return spoilt;
}

/**
 * Offsets and widths of the numbers of a local header, a directory header and the end record
 * (APPNOTE 6.3.10, section 4.3).
 */
const FIELDS: Readonly<Record<string, readonly (readonly [number, 2 | 4])[]>> = {
  "PK\x03\x04": [
    [6, 2],
    [8, 2],
    [14, 4],
    [18, 4],
    [22, 4],
    [26, 2],
    [28, 2],
  ],
  "PK\x01\x02": [
    [8, 2],
    [10, 2],
    [16, 4],
    [20, 4],
    [24, 4],
    [28, 2],
    [30, 2],
    [32, 2],
    [38, 4],
    [42, 4],
  ],
  "PK\x05\x06": [
    [4, 2],
    [8, 2],
    [10, 2],
    [12, 4],
    [16, 4],
    [20, 2],
  ],
};

function lie(bytes: Buffer, dice: Dice): void {
  const signature = dice.of(Object.keys(FIELDS));
  const headers: number[] = [];
  for (
    let at = bytes.indexOf(signature, 0, "latin1");
    at >= 0;
    at = bytes.indexOf(signature, at + 1, "latin1")
  )
    headers.push(at);
  if (headers.length === 0) return;
  const [offset, width] = dice.of(FIELDS[signature]!);
  const at = dice.of(headers) + offset;
  if (at + width > bytes.length) return;
  const stated = width === 2 ? bytes.readUInt16LE(at) : bytes.readUInt32LE(at);
  const most = width === 2 ? 0xffff : 0xffffffff;
  const logged =
    dice.of([
      0,
      1,
      most,
      most - 1,
      stated + 1,
      Math.max(0, stated - 1),
      stated * 2,
      dice.roll(most),
      0x7fff,
    ]) %
    (most + 1);
  if (width === 2) bytes.writeUInt16LE(logged, at);
  else bytes.writeUInt32LE(logged, at);
}

const VALUES: readonly Json[] = [
  null,
  "",
  0,
  -1,
  1e308,
  true,
  [],
  {},
  [[]],
  "x".repeat(5000),
  "./",
  "../..",
  "ro-crate-metadata.json",
  "_:b",
  "#",
  "ark:",
  "ark:59852/x",
  "http://",
  "http://[",
  "file:///etc/passwd",
  "%",
  "%00",
  "\u202e",
  "@id",
  { "@id": 5 },
  { "@id": "" },
  { "@id": "./", x: 1 },
  { "@value": 1, "@type": "@id" },
  { "@list": [{ "@list": [1] }] },
  { "@set": { "@set": [] } },
  { "@value": { a: 1 } },
  { "@context": "https://example.org/none" },
  { "@context": { "@vocab": 5 } },
  { "@reverse": { about: 1 } },
  { "@graph": 1 },
  { "@included": { "@id": "x" } },
  "Embargoed",
  "File",
  "Dataset",
];
const KEYS = [
  "@id",
  "@type",
  "@context",
  "@graph",
  "@value",
  "@language",
  "@reverse",
  "@index",
  "@nest",
  "@foo",
  "",
  "name",
  "about",
  "conformsTo",
  "hasPart",
  "contentUrl",
  "contentSize",
  "sha256",
  "md5",
  "constructor",
  "toString",
  "a b",
  "x:y",
  "__proto",
];

/** Changes some places of a JSON value, or of its text. */
export function spoilJson(value: Json, dice: Dice): string {
  const copy = structuredClone(value);
  for (let n = 1 + dice.roll(3); n > 0; n--) spoilPlace(copy, dice);
  const text = JSON.stringify(copy);
  return dice.once(8) ? spoilText(text, dice) : text;
}

function spoilPlace(value: Json, dice: Dice): void {
  let place: Json = value;
  // Down the tree, and stop anywhere.
  while (typeof place === "object" && place !== null) {
    const keys: string[] = Object.keys(place);
    const key: string | undefined = keys.length > 0 ? dice.of(keys) : undefined;
    const holder = place as Record<string, Json>;
    if (
      key !== undefined &&
      !dice.once(4) &&
      typeof holder[key] === "object" &&
      holder[key] !== null
    ) {
      place = holder[key]!;
      continue;
    }
    if (Array.isArray(place)) {
      if (dice.once(3)) place.push(dice.of(VALUES));
      else if (dice.once(2)) place.splice(dice.roll(place.length + 1), 1);
      else if (place.length > 0) place.push(structuredClone(dice.of(place)));
    } else if (key !== undefined && dice.once(3)) delete holder[key];
    else if (key !== undefined && dice.once(2)) holder[key] = structuredClone(dice.of(VALUES));
    else holder[dice.of(KEYS)] = structuredClone(dice.of(VALUES));
    return;
  }
}

function spoilText(text: string, dice: Dice): string {
  const at = dice.roll(text.length);
  return dice.of<() => string>([
    () => text.slice(0, at),
    () =>
      text.slice(0, at) +
      dice.of([
        '"',
        "}",
        "]",
        ",",
        ":",
        "\\",
        "\\u0000",
        "\\ud800",
        "1e999",
        "123456789012345678901",
        "\u0000",
        "{",
        "[".repeat(300),
      ]) +
      text.slice(at),
    () => text.slice(0, at) + text.slice(at + 1 + dice.roll(20)),
    () => text.replace(/"name":/, '"name":1,"name":'),
  ])();
}

function changed(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  return copy;
}

function range(length: number, dice: Dice, most: number): [number, number] {
  const from = dice.roll(length);
  return [from, Math.min(length, from + 1 + dice.roll(most))];
}
