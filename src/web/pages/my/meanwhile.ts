/** Of two who act on one choice the second one acts on nothing that the first one changed. */
import { ServiceError, ValidationError } from "../../../errors.js";
import { nameText } from "../../../model/labels.js";
import { pairs } from "../../../pairs.js";
import { LastChangeDocument } from "../../documents.js";
import type { PageRequest } from "../../page.js";
import { shortened, timeText } from "../../words.js";
import type { Chosen, Row } from "./rows.js";

const NONE = "-";

/** The revisions that a form shows, for its field beside the identifiers. */
export const revisionsOf = (chosen: readonly Chosen[]): string =>
  chosen.map(({ revision }) => revision ?? NONE).join(" ");

/** Changes that are described; of further ones the sentence is shorter. */
const MAX_DESCRIBED = 20;

/** The records that are no longer as the form showed them, and why nothing is done to them. */
export async function changedMeanwhile(
  request: PageRequest,
  chosen: readonly Chosen[],
): Promise<Row[]> {
  // A form that shows no record names no revisions.
  const shown = request.form.get("revisions")?.split(" ");
  if (shown?.length !== chosen.length) return [];
  const changed = [...pairs(chosen, shown)].flatMap(([record, revision]) =>
    revision === NONE || String(record.revision ?? NONE) === revision ? [] : [record],
  );
  const rows: Row[] = [];
  for (const record of changed) {
    const who = rows.length < MAX_DESCRIBED ? await lastChange(request, record.id) : null;
    const message =
      `${who ?? "It was changed meanwhile"}: it is ${STATES[record.status ?? ""] ?? "withdrawn"} ` +
      "now. Nothing was done to it. Look at it, and choose it again.";
    rows.push({ id: record.id, done: false, message });
  }
  return rows;
}

const STATES: Readonly<Record<string, string>> = {
  DRAFT: "a draft",
  PUBLISHED: "public",
  EMBARGOED: "under embargo",
  ARCHIVED: "archived",
};

const DONE = {
  CREATE: "created it",
  DELETE: "withdrew it",
  PUBLISH: "changed its status",
  UPDATE: "changed it",
} as const;

/** Who changed a record last, what and when; null for those who may not see that. */
async function lastChange({ ask, viewer }: PageRequest, id: string): Promise<string | null> {
  try {
    const [last] = (await ask(LastChangeDocument, { id })).revisions.nodes;
    const by = last?.by?.record;
    if (!last || !by) return null;
    const who = by.id === viewer?.id ? "You" : shortened(nameText(by), 80);
    return `${who} ${DONE[last.action]} on ${timeText(last.at)}`;
  } catch (error) {
    if (error instanceof ServiceError || error instanceof ValidationError) return null;
    throw error;
  }
}
