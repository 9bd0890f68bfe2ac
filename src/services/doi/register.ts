import { DoiRefused, type DoiService } from "../../adapters/doi/port.js";
import type { JobHandler } from "../../jobs/port.js";
import type { Finding } from "../../model/findings.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { revisionOf } from "../records/revise.js";
import { parseDocument } from "../records/view.js";
import { doiAttributes } from "./metadata.js";
import {
  type DoiInput,
  type Reservation,
  reservationOf,
  requestRegistration,
  states,
  storeReservation,
  versionOf,
  withDoi,
} from "./reservation.js";

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
        if (!(error instanceof DoiRefused)) throw error;
        return fail(finding("DOI_REFUSED", `${reservation.doi}: ${error.message}`));
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
