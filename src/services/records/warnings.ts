/** What the writer of a record should look at, although the record is stored. */
import { referencedArk } from "../../identifiers/ark.js";
import { instantOf, isOfYearZero } from "../../model/dates.js";
import { type JsonObject, listOf, referencesIn } from "../../model/field.js";
import { step } from "../../model/json/pointer.js";
import { isSpdx } from "../../model/licences.js";
import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { linksFrom, referencePointer } from "./links.js";
import { parseDocument } from "./view.js";

export type WarningCode =
  "REFERENCE_NOWHERE" | "REFERENCE_DELETED" | "LICENSE_UNKNOWN" | "DATE_INVALID";

export interface Warning {
  code: WarningCode;
  message: string;
  /** JSON pointer (RFC 6901) to the place in the record's document; null where it is elsewhere. */
  pointer: string | null;
}

/** References of a record that are looked up. */
const MAX_REFERENCES = 200;

/** Warnings of a record that was just written. */
export async function warningsOf(
  deps: Pick<Deps, "records" | "config">,
  record: StoredRecord,
): Promise<Warning[]> {
  const document = parseDocument(record.document);
  return [
    ...(await adviseOnReferences(deps, record, document)),
    ...adviseOnLicence(document),
    ...adviseOnDates(document),
  ];
}

/** References to records that are not here. Those of other authorities may be elsewhere. */
async function adviseOnReferences(
  deps: Pick<Deps, "records" | "config">,
  { ark }: StoredRecord,
  document: JsonObject,
): Promise<Warning[]> {
  const [page] = await linksFrom(deps, [ark], { limit: MAX_REFERENCES });
  const targets = [...new Set(page!.items.map(({ target }) => target))];
  const found = await deps.records.findMany(targets);
  return targets.flatMap((target, index): Warning[] => {
    const record = found[index];
    if (record && !record.tombstone) return [];
    if (!record && referencedArk(target)?.naan !== deps.config.ARK_NAAN) return [];
    const pointer = referencePointer(document, target) ?? null;
    if (!record)
      return [
        {
          code: "REFERENCE_NOWHERE",
          message: `No record here has the identifier ${target}: correct it, or create that record.`,
          pointer,
        },
      ];
    const { successor } = record.tombstone!;
    const instead = successor ? `name ${successor} in its place` : "name another one";
    return [
      {
        code: "REFERENCE_DELETED",
        message: `The record ${target} was deleted: ${instead}.`,
        pointer,
      },
    ];
  });
}

const ADDRESS = /^\s*(?:https?:\/\/|ark:)\S/i;

function adviseOnLicence(document: JsonObject): Warning[] {
  const unknown = referencesIn(document["license"]).find(
    (text) => !ADDRESS.test(text) && !isSpdx(text.trim()),
  );
  if (unknown === undefined) return [];
  return [
    {
      code: "LICENSE_UNKNOWN",
      message:
        `The license ${JSON.stringify(unknown.slice(0, 100))} is neither a URL nor an SPDX ` +
        "identifier: write for example https://creativecommons.org/licenses/by/4.0/.",
      pointer: "/license",
    },
  ];
}

const DATE_FIELD = /^date[A-Z]|Date$/;

const adviseOnDates = (document: JsonObject): Warning[] =>
  Object.entries(document).flatMap(([name, value]): Warning[] => {
    const wrong = DATE_FIELD.test(name)
      ? listOf(value).find(
          (text) =>
            typeof text === "string" &&
            (instantOf(text.trim()) === undefined || isOfYearZero(text)),
        )
      : undefined;
    if (wrong === undefined) return [];
    return [
      {
        code: "DATE_INVALID",
        message:
          `The ${name} ${JSON.stringify((wrong as string).slice(0, 100))} is no date of ISO 8601: ` +
          "write for example 2026-01-31.",
        pointer: step(name),
      },
    ];
  });
