import { invalid } from "../../errors.js";
import { lookupArk } from "../../identifiers/ark.js";
import type { JsonValue } from "../../model/field.js";
import type { StoredRecord } from "../../stores/records/port.js";
import { DESCRIPTOR_END } from "../crates/layout/descriptor.js";
import type { Deps } from "../deps.js";
import { findLive } from "../records/find.js";
import { readSent } from "./document.js";
import type { Judged, ShapeReport } from "./report.js";
import { runJudge } from "./run-judge.js";

/** Records read and judged together. */
const BATCH = 100;
/** Bytes of a body that can be nothing but the identifier of a stored record. */
const LONGEST_REQUEST = 4096;

/**
 * Checks a record by the SHACL shape of its kind (`ontology/shapes.ttl`) and stores nothing: a document, as it
 * would be sent to create it; crate metadata, entity by entity; or, where only `@id` is given, what is stored under
 * it, of a crate also its members. Documents are parsed and expanded in the thread that judges them.
 * @param input JSON text, UTF-8
 * @param kind the kind a document is to be checked as; else its `@type` tells it
 * @param signal ends it, because nobody waits for the answer any more
 * @throws ValidationError; ServiceError `NOT_FOUND`, `GONE`, `BUSY`, `VALIDATION_TIMEOUT`
 */
export async function validateShapes(deps: Deps, input: Uint8Array | undefined, kind: string | undefined, signal: AbortSignal): Promise<ShapeReport> {
  if (input === undefined) throw invalid(["body"], "Field required", "missing");
  const { VALIDATE_TIMEOUT: timeout, VALIDATE_MEMORY: memory, VALIDATE_MAX_RESULTS: results, MAX_JSON_DEPTH: maxDepth } = deps.config;
  const asked = input.length <= LONGEST_REQUEST ? readSent(input, maxDepth) : undefined;
  const judged = asked && Object.keys(asked).every((key) => key === "@id") ? await stored(deps, asked["@id"]) : { document: input, kind, maxDepth };
  return deps.shapeTurns.run(signal, (either) => runJudge(judged, { timeout, memory, results }, either));
}

/** What is stored under an identifier; of a crate also what was minted for it. */
async function stored(deps: Deps, id: JsonValue | undefined): Promise<AsyncGenerator<Judged[]>> {
  if (id === undefined) throw invalid(["body", "@id"], "Field required: a record to check, or the @id of a stored one", "missing");
  if (typeof id !== "string" || lookupArk(id) === undefined) throw invalid(["body", "@id"], "Value error, not an ARK; for example ark:99999/dataset-example");
  return withMembers(deps, await findLive(deps, id));
}

async function* withMembers(deps: Deps, record: StoredRecord): AsyncGenerator<Judged[]> {
  const judged = async (records: readonly StoredRecord[]): Promise<Judged[]> =>
    (await Promise.all(records.map(async ({ ark, kind }) => ({ ark, kind, quads: await deps.records.quads(ark) })))).flatMap(({ quads, ...one }) => (quads === undefined ? [] : [{ ...one, quads }]));
  yield judged([record]);
  if (record.kind !== "rocrate") return;
  let after: string | undefined;
  do {
    const page = await deps.records.list({ crate: record.ark, notEndingWith: DESCRIPTOR_END, limit: BATCH, ...(after === undefined ? {} : { after }) });
    yield judged(page.items);
    after = page.next;
  } while (after !== undefined);
}
