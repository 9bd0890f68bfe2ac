import { invalid } from "../../errors.js";
import { lookupArk, parseArk } from "../../identifiers/ark.js";
import { withDefaults, withoutSecrets } from "../../model/defaults.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { KIND_NAMES, type KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds/index.js";
import type { StoredRecord } from "../../stores/records/port.js";
import type { Deps } from "../deps.js";
import { findLive } from "../records/find.js";
import { statementsOf } from "../records/state.js";
import { kindOfTypes, typeNames } from "../crates/kinds.js";
import { entitiesToJudge } from "./crate.js";
import type { Judged, ShapeReport } from "./report.js";
import { runJudge } from "./run-judge.js";

/** Records read and judged together. */
const BATCH = 100;
/** Stands for the identifier that a document does not have yet. */
const UNNAMED = "ark:99999/unnamed";

/**
 * Checks a record by the SHACL shape of its kind (`ontology/shapes.ttl`) and stores nothing: a document, as it
 * would be sent to create it; crate metadata, entity by entity; or, where only `@id` is given, what is stored under
 * it, of a crate also its members.
 * @param kind the kind a document is to be checked as; else its `@type` tells it
 * @param signal ends it, because nobody waits for the answer any more
 * @throws ValidationError; ServiceError `NOT_FOUND`, `GONE`, `BUSY`, `VALIDATION_TIMEOUT`
 */
export async function validateShapes(deps: Deps, input: JsonValue | undefined, kind: string | undefined, signal: AbortSignal): Promise<ShapeReport> {
  const document = objectOf(input);
  const batches = Array.isArray(document["@graph"]) ? entitiesToJudge(document) : Object.keys(document).every((key) => key === "@id") ? await stored(deps, document["@id"]) : [[await documentToJudge(document, kindOf(document, kind))]];
  const { VALIDATE_TIMEOUT: timeout, VALIDATE_MEMORY: memory, VALIDATE_MAX_RESULTS: results } = deps.config;
  return deps.shapeTurns.run(signal, (either) => runJudge(batches, { timeout, memory, results }, either));
}

function objectOf(input: JsonValue | undefined): JsonObject {
  if (input === undefined || input === null) throw invalid(["body"], "Field required", "missing");
  if (typeof input === "object" && !Array.isArray(input)) return input;
  throw invalid(["body"], "Input should be a valid dictionary or object to extract fields from", "model_attributes_type");
}

/** With what the service would fill in, so that the verdict is the one on the record that would be. */
async function documentToJudge(document: JsonObject, kind: KindName): Promise<Judged> {
  const id = document["@id"];
  const ark = typeof id === "string" ? parseArk(id)?.stored : UNNAMED;
  if (id !== undefined && (typeof id !== "string" || ark === undefined)) throw invalid(["body", "@id"], "Value error, not an ARK; for example ark:99999/dataset-example");
  const whole = withDefaults(KINDS[kind], withoutSecrets(KINDS[kind], document), ark!);
  return { ark: ark!, kind, quads: (await statementsOf(KINDS[kind], ark!, whole)).quads };
}

/** Types that only records have which are written over the API. */
const BY_TYPE: Readonly<Record<string, KindName>> = { Person: "user", Organization: "organization", Project: "project", EvidenceGraph: "evidencegraph" };

/** @throws ValidationError when neither the parameter nor the document tells a kind */
function kindOf(document: JsonObject, asked: string | undefined): KindName {
  if (asked !== undefined) {
    const kind = KIND_NAMES.find((name) => name === asked);
    if (kind) return kind;
    const expected = KIND_NAMES.map((name) => `'${name}'`).join(", ");
    throw invalid(["query", "kind"], `Input should be one of ${expected}`, "literal_error", { expected });
  }
  const types = typeNames(document, document["@context"]);
  const kind = types.map((type) => (Object.hasOwn(BY_TYPE, type) ? BY_TYPE[type] : undefined)).find((name) => name !== undefined) ?? kindOfTypes(types);
  if (kind === "entity") throw invalid(["query", "kind"], "Value error, the record's @type tells no kind: name one, for example ?kind=dataset", "value_error");
  return kind;
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
    const page = await deps.records.list({ crate: record.ark, limit: BATCH, ...(after === undefined ? {} : { after }) });
    yield judged(page.items);
    after = page.next;
  } while (after !== undefined);
}
