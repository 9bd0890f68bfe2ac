/**
 * DOIs of records: reserved, registered with the record's metadata, and kept in step with its
 * changes.
 */
import { createHash, randomUUID } from "node:crypto";
import { DoiRefused, type DoiService, type DoiState } from "../../adapters/doi/port.js";
import { invalid, ServiceError, ValidationError } from "../../errors.js";
import type { Ark } from "../../identifiers/ark.js";
import type { JobHandler } from "../../jobs/port.js";
import { type JsonObject, listOf } from "../../model/field.js";
import type { Finding } from "../../model/findings.js";
import { type KindName, withArticle } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Submission } from "../../storage/records/port/submissions.js";
import { type Caller, mayChange } from "../access/rules.js";
import { queued } from "../crates/submissions.js";
import type { Deps } from "../deps.js";
import { dataciteJson } from "../formats/datacite.js";
import { doiOf, factsOf } from "../formats/facts.js";
import { changeRecord } from "../records/write.js";
import { revisionOf } from "../records/state.js";
import { parseDocument, viewOf } from "../records/view.js";
import { storedOnce } from "../stored-once.js";

/** Kinds of things that are cited; people and organizations have identifiers of their own. */
const CITED: ReadonlySet<KindName> = new Set<KindName>([
  "rocrate",
  "dataset",
  "software",
  "computation",
  "datadownload",
  "schema",
  "mlmodel",
  "sample",
  "instrument",
  "experiment",
  "annotation",
]);

/** The DOI of a record as it was reserved, and what the service knows of it. */
interface Reservation {
  doi: string;
  /** ARK of the user who reserved it: the owner of its jobs. */
  by: string;
  /** As the service answered last; absent before its first answer. */
  state?: DoiState;
  /** What the service was sent last, by {@link versionOf}. */
  sent?: string;
}

/** Input of a submission of type `doi`. */
interface DoiInput {
  ark: string;
}

/** Digits and consonants that cannot be misread: DOIs do not tell upper from lower case. */
const ALPHABET = "0123456789bcdfghjkmnpqrstvwxz";
const LENGTH = 14;

/** The DOI of a record: by its identifier, so that a second reservation finds the first. */
export function doiFor(prefix: string, ark: string): string {
  let number = BigInt(`0x${createHash("sha256").update(ark).digest("hex").slice(0, 24)}`);
  let suffix = "";
  for (let index = 0; index < LENGTH; index++) {
    suffix += ALPHABET[Number(number % BigInt(ALPHABET.length))];
    number /= BigInt(ALPHABET.length);
  }
  return `${prefix}/${suffix}`;
}

const settingOf = (ark: string): string => `doi ${ark}`;

/** The reservation of a record, if it has one. */
async function reservationOf(
  { records }: Pick<Deps, "records">,
  ark: string,
): Promise<Reservation | undefined> {
  const stored = await records.setting(settingOf(ark));
  return stored === undefined ? undefined : (JSON.parse(stored) as Reservation);
}

const storeReservation = async (
  { records }: Pick<Deps, "records">,
  ark: string,
  reservation: Reservation,
): Promise<void> => {
  await records.setSetting(settingOf(ark), JSON.stringify(reservation));
};

/** Differs after every change that the service has to know of. */
const versionOf = ({ revision, publicationStatus, tombstone }: StoredRecord): string =>
  `${revision} ${publicationStatus}${tombstone ? " deleted" : ""}`;

/** The address that a DOI is written as. */
const doiUrl = (doi: string): string => `https://doi.org/${doi}`;

/** The first DOI among the identifiers that a document states. */
export function doiIn(document: JsonObject): string | undefined {
  for (const value of listOf(document["identifier"])) {
    const text =
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? (value["@id"] ?? value["value"])
        : value;
    const doi = typeof text === "string" ? doiOf(text) : null;
    if (doi !== null) return doi;
  }
  return undefined;
}

/** Whether the document states this DOI. */
const states = (document: JsonObject, doi: string): boolean =>
  listOf(document["identifier"]).includes(doiUrl(doi));

/** The document with the DOI among its identifiers, first. */
function withDoi(document: JsonObject, doi: string): JsonObject {
  const others = listOf(document["identifier"]);
  return { ...document, identifier: others.length === 0 ? doiUrl(doi) : [doiUrl(doi), ...others] };
}

/** Whether a caller may reserve the DOI of a record, or why not. */
export type DoiChance = "possible" | "reserved" | "no service" | "wrong kind" | "forbidden";

/** What {@link reserveDoi} would answer now, as a page shows it before. */
export async function doiChance(
  deps: Pick<Deps, "records" | "dois">,
  record: StoredRecord,
  caller: Caller | null,
): Promise<DoiChance> {
  if (!CITED.has(record.kind)) return "wrong kind";
  if (!(await mayChange(deps.records, caller, record))) return "forbidden";
  if (await reservationOf(deps, record.ark)) return "reserved";
  return deps.dois ? "possible" : "no service";
}

/** A record with its DOI, and the job that registers it. */
interface ReservedDoi {
  ark: string;
  doi: string;
  submission: Submission;
}

/**
 * Reserves the DOI of a record, states it in the record, and queues its registration. A second call
 * repeats a registration that failed.
 * @param names the request in logs and traces of the job
 * @throws ServiceError `NO_DOI_SERVICE`, `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `FORBIDDEN`,
 * `WRONG_KIND`
 */
export async function reserveDoi(
  deps: Deps,
  ark: Ark,
  who: Caller,
  names: { request?: string; trace?: string } = {},
): Promise<ReservedDoi> {
  const { dois } = deps;
  if (!dois)
    throw new ServiceError(
      "NO_DOI_SERVICE",
      "This registry registers no DOIs: its operator sets DATACITE_URL and the settings beside it.",
    );
  return changeRecord(deps, ark, who, {}, async (record) => {
    if (!CITED.has(record.kind))
      throw new ServiceError(
        "WRONG_KIND",
        `${record.ark} is ${withArticle(KINDS[record.kind].typeName)}: DOIs are for data, ` +
          "software, crates and what belongs to them.",
      );
    await assertNamed(deps, record);
    const { doi } = JSON.parse(
      await storedOnce(
        deps.records,
        settingOf(record.ark),
        JSON.stringify({
          doi: doiFor(dois.prefix, record.ark),
          by: who.user,
        } satisfies Reservation),
      ),
    ) as Reservation;
    const document = parseDocument(record.document);
    if (!states(document, doi))
      await deps.records.commit({
        by: who.user,
        at: Date.now(),
        records: [await revisionOf(deps, record, withDoi(document, doi))],
      });
    const { submission } = await requestRegistration(deps, record.ark, who.user, names);
    return { ark: record.ark, doi, submission };
  });
}

/**
 * Queues the registration of a record's DOI, unless it is queued or running already.
 * @param user whose submission it is
 */
async function requestRegistration(
  { records, jobs }: Pick<Deps, "records" | "jobs">,
  ark: string,
  user: string,
  names: { request?: string; trace?: string } = {},
): Promise<{ submission: Submission; existing: boolean }> {
  const found = await records.submit({
    id: randomUUID(),
    type: "doi",
    user,
    // The hash of the identifier merges two requests for the same job.
    sha256: createHash("sha256").update(ark).digest("hex"),
    input: { ark, ...names } satisfies DoiInput & typeof names,
    update: true,
    at: Date.now(),
  });
  return found.existing
    ? found
    : { existing: false, submission: await queued({ jobs }, found.submission) };
}

/**
 * The attributes of a record's DOI for DataCite's REST API: those of the format, as everybody sees
 * the record. The identifiers are those of this DOI: other DOIs that the record states are not its
 * own, and the ARK is the alternate one.
 */
async function doiAttributes(deps: Deps, record: StoredRecord): Promise<JsonObject> {
  const {
    id: _id,
    doi: _doi,
    identifiers: _identifiers,
    ...attributes
  } = await dataciteJson(deps, await viewOf(deps, record, null));
  return {
    ...attributes,
    alternateIdentifiers: [{ alternateIdentifier: record.ark, alternateIdentifierType: "ARK" }],
  };
}

/**
 * A DOI would be registered for nobody although the record has authors.
 * @throws ValidationError
 */
async function assertNamed(deps: Deps, record: StoredRecord): Promise<void> {
  const { creators, unnamed } = await factsOf(deps, await viewOf(deps, record, null));
  if (creators.length > 0 || unnamed === 0) return;
  throw invalid(
    ["body", "author"],
    `Value error, ${record.ark} states ${unnamed === 1 ? "an author" : `${unnamed} authors`} ` +
      "without a name, and a DOI is registered with the names of its authors: add the name to " +
      "each author, then reserve the DOI again",
    "missing",
  );
}

/** Codes of findings about registrations; stable, documented in docs/dois.md, never reused. */
export const DOI_CODES = {
  NO_DOI_SERVICE: "The registry has no DOI service any more.",
  DOI_REFUSED: "The DOI service refuses the metadata of the record; its reason is in the message.",
} as const;

const finding = (code: keyof typeof DOI_CODES, message: string): Finding => ({
  file: null,
  pointer: null,
  message,
  code,
});

/**
 * The handler of submissions of type `doi`: brings the DOI of a record up to date, until it is that
 * of the record's current version.
 */
export function doiHandler(deps: Deps): JobHandler {
  const { records, dois, log } = deps;
  return async ({ submission: { id, attempt, input }, signal, report }) => {
    const { ark } = input as unknown as DoiInput;
    const fail = async (error: Finding): Promise<void> => {
      log.error({ submission: id, ark, code: error.code }, error.message);
      await records.closeSubmission({ id, attempt, status: "failed", error: [error] }, Date.now());
    };
    if (!dois)
      return fail(
        finding("NO_DOI_SERVICE", "DATACITE_URL is not set any more: no DOI is registered."),
      );
    report({ stage: "registering", done: 0, total: null, unit: "versions" });
    for (let done = 1; ; done++) {
      signal.throwIfAborted();
      const [[record], reservation] = await Promise.all([
        records.findMany([ark]),
        reservationOf(deps, ark),
      ]);
      if (!record || !reservation) break;
      if (reservation.sent === versionOf(record)) break;
      if (await stateAgain(deps, record, reservation)) continue;
      try {
        await send(deps, dois, record, reservation, signal);
      } catch (error) {
        const reason =
          error instanceof ValidationError
            ? error.items[0]?.msg
            : error instanceof DoiRefused
              ? error.message
              : undefined;
        if (reason === undefined) throw error;
        return fail(finding("DOI_REFUSED", `${reservation.doi}: ${reason}`));
      }
      report({ stage: "registering", done, total: null, unit: "versions" });
    }
    await records.closeSubmission({ id, attempt, status: "finished" }, Date.now());
  };
}

/** States the DOI again in a record whose new version leaves it out: a DOI is never taken back. */
async function stateAgain(
  deps: Deps,
  record: StoredRecord,
  { doi }: Reservation,
): Promise<boolean> {
  if (record.tombstone) return false;
  const document = parseDocument(record.document);
  if (states(document, doi)) return false;
  await deps.records.commit({
    by: null,
    at: Date.now(),
    records: [await revisionOf(deps, record, withDoi(document, doi))],
  });
  return true;
}

/** What was deleted, or is a draft again, is hidden; a DOI that never was found is deleted. */
async function send(
  deps: Deps,
  dois: DoiService,
  record: StoredRecord,
  reservation: Reservation,
  signal: AbortSignal,
): Promise<void> {
  const { doi, state: before } = reservation;
  const sent = versionOf(record);
  const wasPublic = before === "findable" || before === "registered";
  if (record.tombstone) {
    if (!wasPublic && (await dois.deleteDraft(doi, signal))) {
      const { state: _state, ...rest } = reservation;
      return storeReservation(deps, record.ark, { ...rest, sent });
    }
    const state = await dois.put(doi, {}, "hide", signal);
    return storeReservation(deps, record.ark, { ...reservation, state, sent });
  }
  const isOpen = record.publicationStatus !== "DRAFT";
  const event = isOpen ? "publish" : wasPublic ? "hide" : undefined;
  if (isOpen) await assertNamed(deps, record);
  const state = await dois.put(doi, await doiAttributes(deps, record), event, signal);
  await storeReservation(deps, record.ark, { ...reservation, state, sent });
}

/** Entries of the change log in one step. */
const STEP = 200;
const POSITION = "doi-position";

interface Position {
  sequence: number;
  record: number;
}

/**
 * Queues the registration of every record with a DOI that has changed, from where the last call
 * ended. An entry is left for the next call while its job runs, which may not see the change.
 * @returns whether more entries wait
 */
export async function followChanges(
  deps: Pick<Deps, "records" | "jobs">,
  signal: AbortSignal,
): Promise<boolean> {
  const { records } = deps;
  const stored = await records.setting(POSITION);
  if (stored === undefined) {
    // No record has a DOI before the first start with a DOI service.
    const sequence = await records.sequence();
    await records.setSetting(
      POSITION,
      JSON.stringify({ sequence, record: Number.MAX_SAFE_INTEGER } satisfies Position),
    );
    return false;
  }
  const page = await records.changes(JSON.parse(stored) as Position, STEP);
  let isLeft = false;
  for (const { ark } of page.changes) {
    signal.throwIfAborted();
    const reservation = await reservationOf(deps, ark);
    if (!reservation) continue;
    const [record] = await records.findMany([ark]);
    if (!record || reservation.sent === versionOf(record)) continue;
    const { existing } = await requestRegistration(deps, ark, reservation.by);
    isLeft ||= existing;
  }
  if (isLeft || page.changes.length === 0) return false;
  await records.setSetting(POSITION, JSON.stringify(page.position));
  return page.more;
}
