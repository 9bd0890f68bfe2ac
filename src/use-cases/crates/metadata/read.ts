import type { JsonObject } from "../../../model/field.js";
import { parseStrictJson } from "../../../model/json/strict-json.js";
import { type Findings, crateError } from "../findings.js";
import type { CrateLimits } from "../limits.js";
import { scanMetadata } from "./scan.js";

/**
 * Reads a metadata file strictly. Everything that is wrong with it is found at once; what can still be read
 * is given back, so that the rest of the crate is looked at too.
 * @throws CrateError for what is too large to be read at all
 */
export function readMetadata(bytes: Uint8Array, file: string, limits: CrateLimits, findings: Findings): JsonObject | undefined {
  const { tooDeep } = scanMetadata(bytes, file, limits);
  // Cut behind the bracket that is one too many: nothing behind it needs to be read to say so.
  const { value, problems } = parseStrictJson(tooDeep === undefined ? bytes : bytes.subarray(0, tooDeep + 1), { maxDepth: limits.MAX_JSON_DEPTH });
  for (const { code, message, pointer, line, column } of problems)
    findings.error(code, line === undefined ? message : `${message} (line ${line}, column ${column})`, { file, pointer, ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) });
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    findings.error("METADATA_SHAPE", "The metadata is no JSON object; an RO-Crate has one with @context and @graph.", { file, pointer: "" });
    return undefined;
  }
  return value;
}

/** Gathers a metadata file in memory. @throws CrateError above MAX_METADATA_BYTES */
export async function gatherMetadata(chunks: AsyncIterable<Uint8Array>, file: string, limits: CrateLimits): Promise<Uint8Array> {
  const gathered: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > limits.MAX_METADATA_BYTES) throw crateError("METADATA_TOO_LARGE", `The metadata file has more than MAX_METADATA_BYTES=${limits.MAX_METADATA_BYTES} bytes.`, { file });
    gathered.push(chunk);
  }
  return Buffer.concat(gathered, size);
}
