import { StatementError } from "./statement-error.js";

/** Reads of PostgreSQL's own types, by their object identifiers. The driver knows values as text only. */
const TYPES: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === "t", // boolean
  17: bytesOf, // bytea
  20: integerOf, // bigint
  21: Number, // smallint
  23: Number, // integer
  25: (text) => text, // text
  700: Number, // real
  701: Number, // double precision
  1043: (text) => text, // varchar
};

/** `\x` and two hex digits for each byte. An array of its own: small Buffers are pieces of a pool that all share. */
function bytesOf(text: string): Uint8Array {
  if (!text.startsWith("\\x")) throw new StatementError("VALUE", "bytes came in another form than hex; leave bytea_output as it is by default");
  const bytes = new Uint8Array((text.length - 2) / 2);
  Buffer.from(bytes.buffer).write(text.slice(2), "hex");
  return bytes;
}

function integerOf(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new StatementError("VALUE", "a column holds an integer beyond 2^53");
  return value;
}

/** Reads a value of a type. Statements ask for these types only; what SQL without parameters answers is not read. */
export function readerOf(type: number): (text: string) => unknown {
  return TYPES[type] ?? ((text) => text);
}
