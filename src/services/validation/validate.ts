import { invalid, ServiceError, ValidationError } from "../../errors.js";
import { lookupArk } from "../../identifiers/ark.js";
import type { JsonValue } from "../../model/field.js";
import type { StoredRecord } from "../../storage/records/port.js";
import { DESCRIPTOR_END } from "../crates/layout.js";
import { type CpuPool, OutOfMemory } from "../cpu-pool.js";
import type { Deps } from "../deps.js";
import { findLive } from "../records/find.js";
import { type RecordToCheck, readSent, type SentDocument, type ShapeReport } from "./document.js";
import type { ShapesInput, validateByShapes } from "./validate-by-shapes.js";
import { pagesOf } from "../records/pages.js";

interface ValidationLimits {
  /** Bound VALIDATE_TIMEOUT in ms. */
  timeout: number;
  /** Bound VALIDATE_MEMORY in bytes. */
  memory: number;
  /** Bound VALIDATE_MAX_RESULTS. */
  results: number;
}

const JOB = { module: "src/services/validation/validate-by-shapes", name: "validateByShapes" };

/**
 * Validates stored records batch after batch, or a document that a client sent, in a thread.
 * @throws the signal's reason; ValidationError for a document that is not JSON-LD; ServiceError
 * `VALIDATION_TIMEOUT`, `TOO_LARGE` when it exceeds its memory limit
 */
async function runValidation(
  cpu: CpuPool,
  evaluated: AsyncIterable<RecordToCheck[]> | SentDocument,
  limits: ValidationLimits,
  given: AbortSignal,
): Promise<ShapeReport> {
  const report: ShapeReport = { conforms: true, results: [], checked: 0, truncated: false };
  const late = new AbortController();
  const timer = setTimeout(
    () =>
      late.abort(
        new ServiceError(
          "VALIDATION_TIMEOUT",
          `The check took longer than ${limits.timeout} ms; check fewer ` + "records at a time.",
        ),
      ),
    limits.timeout,
  );
  const signal = AbortSignal.any([given, late.signal]);
  const validate = async (input: ShapesInput, transfer: ArrayBuffer[] = []): Promise<void> => {
    const options = { memory: limits.memory, signal, transfer };
    const answer = await cpu.run<typeof validateByShapes>(JOB, input, options);
    if ("refused" in answer) throw new ValidationError(answer.refused);
    report.checked += answer.checked;
    for (const result of answer.results) report.results.push(result);
    if (answer.results.length > 0) report.conforms = false;
    report.truncated = report.results.length >= limits.results;
  };
  try {
    if ("document" in evaluated) {
      // A separate copy, which is transferred: the received bytes may be part of a larger buffer.
      const document = new Uint8Array(evaluated.document);
      await validate({ sent: { ...evaluated, document }, most: limits.results }, [document.buffer]);
    } else {
      for await (const records of evaluated) {
        await validate({ records, most: limits.results - report.results.length });
        if (report.truncated) break;
      }
    }
    return report;
  } catch (error) {
    if (error instanceof OutOfMemory)
      throw new ServiceError(
        "TOO_LARGE",
        `The check needs more than ${limits.memory} bytes of memory.`,
      );
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Records read and validated together. */
const BATCH = 100;
/** Longest body, in bytes, that may hold only the identifier of a stored record. */
const MAX_REQUEST_BYTES = 4096;

/**
 * Validates a record by the SHACL shape of its kind (`ontology/shapes.ttl`) and stores nothing: a
 * document, as a client would send it to create the record; crate metadata, entity by entity; or,
 * where only `@id` is given, the record stored under it, for a crate also its members. Documents
 * are parsed and expanded in the thread that validates them.
 * @param input JSON text, UTF-8
 * @param kind the kind to validate a document as; else its `@type` decides
 * @param signal ends the validation, because nobody waits for the answer any more
 * @throws ValidationError; ServiceError `NOT_FOUND`, `GONE`, `BUSY`, `VALIDATION_TIMEOUT`
 */
export async function validateShapes(
  deps: Deps,
  input: Uint8Array | undefined,
  kind: string | undefined,
  signal: AbortSignal,
): Promise<ShapeReport> {
  if (input === undefined) throw invalid(["body"], "Field required", "missing");
  const {
    VALIDATE_TIMEOUT: timeout,
    VALIDATE_MEMORY: memory,
    VALIDATE_MAX_RESULTS: results,
    MAX_JSON_DEPTH: maxDepth,
  } = deps.config;
  const asked = input.length <= MAX_REQUEST_BYTES ? readSent(input, maxDepth) : undefined;
  const evaluated =
    asked && Object.keys(asked).every((key) => key === "@id")
      ? await stored(deps, asked["@id"])
      : { document: input, kind, maxDepth };
  return deps.shapeLimit.run(signal, (either) =>
    runValidation(deps.cpu, evaluated, { timeout, memory, results }, either),
  );
}

/** The record stored under an identifier; for a crate also the records minted for it. */
async function stored(
  deps: Deps,
  id: JsonValue | undefined,
): Promise<AsyncGenerator<RecordToCheck[]>> {
  if (id === undefined)
    throw invalid(
      ["body", "@id"],
      "Field required: a record to check, or the @id of a stored one",
      "missing",
    );
  const ark = typeof id === "string" ? lookupArk(id) : undefined;
  if (!ark)
    throw invalid(
      ["body", "@id"],
      "Value error, not an ARK; for example ark:99999/dataset-example",
    );
  return withMembers(deps, await findLive(deps, ark));
}

async function* withMembers(deps: Deps, record: StoredRecord): AsyncGenerator<RecordToCheck[]> {
  const evaluated = async (records: readonly StoredRecord[]): Promise<RecordToCheck[]> =>
    (
      await Promise.all(
        records.map(async ({ ark, kind }) => ({ ark, kind, quads: await deps.records.quads(ark) })),
      )
    ).flatMap(({ quads, ...one }) => (quads === undefined ? [] : [{ ...one, quads }]));
  yield evaluated([record]);
  if (record.kind !== "rocrate") return;
  const members = { filter: { crates: [record.ark] }, notEndingWith: DESCRIPTOR_END };
  for await (const page of pagesOf(deps.records, members, { limit: BATCH })) yield evaluated(page);
}
