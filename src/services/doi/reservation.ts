import { createHash, randomUUID } from "node:crypto";
import type { DoiState } from "../../adapters/doi/port.js";
import { ServiceError } from "../../errors.js";
import type { Ark } from "../../identifiers/ark.js";
import { type JsonObject, listOf } from "../../model/field.js";
import { type KindName, withArticle } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Submission } from "../../storage/records/submissions-port.js";
import { assertMayChange, type Caller, mayChange } from "../access/rules.js";
import { queued } from "../crates/submissions.js";
import type { Deps } from "../deps.js";
import { doiOf } from "../formats/facts.js";
import { findLive } from "../records/find.js";
import { unlessChanged } from "../records/replace.js";
import { revisionOf } from "../records/revise.js";
import { parseDocument } from "../records/view.js";

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
export interface Reservation {
  doi: string;
  /** ARK of the user who reserved it: the owner of its jobs. */
  by: string;
  /** As the service answered last; absent before its first answer. */
  state?: DoiState;
  /** What the service was sent last, by {@link versionOf}. */
  sent?: string;
}

/** Input of a submission of type `doi`. */
export interface DoiInput {
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
export async function reservationOf(
  { records }: Pick<Deps, "records">,
  ark: string,
): Promise<Reservation | undefined> {
  const stored = await records.setting(settingOf(ark));
  return stored === undefined ? undefined : (JSON.parse(stored) as Reservation);
}

export const storeReservation = async (
  { records }: Pick<Deps, "records">,
  ark: string,
  reservation: Reservation,
): Promise<void> => {
  await records.setSetting(settingOf(ark), JSON.stringify(reservation));
};

/** Differs after every change that the service has to know of. */
export const versionOf = ({ revision, publicationStatus, tombstone }: StoredRecord): string =>
  `${revision} ${publicationStatus}${tombstone ? " deleted" : ""}`;

/** The address that a DOI is written as. */
export const doiUrl = (doi: string): string => `https://doi.org/${doi}`;

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
export const states = (document: JsonObject, doi: string): boolean =>
  listOf(document["identifier"]).includes(doiUrl(doi));

/** The document with the DOI among its identifiers, first. */
export function withDoi(document: JsonObject, doi: string): JsonObject {
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
export interface ReservedDoi {
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
  return unlessChanged(ark, undefined, async () => {
    const record = await findLive(deps, ark);
    await assertMayChange(deps.records, who, record);
    if (!CITED.has(record.kind))
      throw new ServiceError(
        "WRONG_KIND",
        `${record.ark} is ${withArticle(KINDS[record.kind].typeName)}: DOIs are for data, ` +
          "software, crates and what belongs to them.",
      );
    const { doi } = JSON.parse(
      (await deps.records.setSetting(
        settingOf(record.ark),
        JSON.stringify({
          doi: doiFor(dois.prefix, record.ark),
          by: who.user,
        } satisfies Reservation),
        { ifAbsent: true },
      ))!,
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
export async function requestRegistration(
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
