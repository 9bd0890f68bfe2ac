/** Takes back what was done to records of one's own, where nobody has changed them since. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { ServiceError, ValidationError } from "../../../errors.js";
import { Form } from "../../components.js";
import {
  OpenedWithDocument,
  type OpenedWithQuery,
  PublishRecordDocument,
  RestoreRevisionDocument,
} from "../../documents.js";
import type { PageRequest } from "../../page.js";
import type { Chosen, Row, TakenBack } from "./rows.js";

type Status = "DRAFT" | "PUBLISHED" | "EMBARGOED" | "ARCHIVED";

/** How one record is set back. It holds nothing that its owner could not send as another form. */
interface Step {
  id: string;
  /** The record after the action: a later revision is by somebody else. */
  revision: number;
  /** What it was: a status, with what belongs to it; absent: the revision before. */
  status?: Status;
  until?: string | null;
  reason?: string | null;
  successor?: string | null;
  /** When the action changed a crate: drafts in it were published in the same moment. */
  crateAt?: string;
}

/** The steps that take an action back, for the records that it changed. */
export function stepsBack(
  { undo, opens }: { undo?: TakenBack; opens?: true },
  rows: readonly Row[],
  before: readonly Chosen[],
): Step[] {
  if (undo === undefined) return [];
  const earlier = new Map(before.map((record) => [record.id, record]));
  return rows.flatMap(({ id, done, after }): Step[] => {
    const was = earlier.get(id);
    // What was so before made no revision, and of two changes one is by somebody else.
    if (!done || !after || !was || was.revision === null || after.revision !== was.revision + 1)
      return [];
    // As a draft it would stay open.
    if (opens && was.isPrivate) return [];
    const step: Step = { id, revision: after.revision };
    if (undo === "revision") return [step];
    if (was.status === null) return [];
    return [
      {
        ...step,
        status: was.status as Status,
        ...(was.status === "EMBARGOED" ? { until: was.embargoEndsAt } : {}),
        ...(was.status === "ARCHIVED" ? { reason: was.reason, successor: was.successor } : {}),
        ...(after.kind === "RO_CRATE" && after.modifiedAt ? { crateAt: after.modifiedAt } : {}),
      },
    ];
  });
}

export const OPENS_FOR_EVER =
  "Who sees it may cite it: an open record does not become private again, and this has no Undo.";

/** What an Undo of a crate's publication does not take back. */
export const MEMBERS_STAY_OPEN =
  "Drafts in a crate that had been private stay open: an open record does not become private again.";

/** Whether an action opened a private record, which nothing takes back. */
export const wasOpened = (
  { opens }: { opens?: true },
  rows: readonly Row[],
  before: readonly Chosen[],
): boolean => {
  const done = new Set(rows.flatMap((row) => (row.done ? [row.id] : [])));
  return opens === true && before.some(({ id, isPrivate }) => isPrivate && done.has(id));
};

interface UndoProps {
  csrf: string | null;
  steps: readonly Step[];
  /** The record to whose page the form leads back. */
  from?: string;
}

/** The button, for a minute; without scripts it stays. */
export function UndoForm({ csrf, steps, from }: UndoProps) {
  if (steps.length === 0) return null;
  return (
    <Form csrf={csrf} action="/my/records" data-for-a-minute>
      {from !== undefined && <input type="hidden" name="from" value={from} />}
      <input type="hidden" name="steps" value={JSON.stringify(steps)} />
      <button class="secondary" name="action" value="undo">
        Undo
      </button>{" "}
      <span class="quiet small">for a minute, unless somebody changes them first</span>
    </Form>
  );
}

/** The steps of a form; of another form none. */
export function stepsIn(form: URLSearchParams, most: number): Step[] {
  try {
    const steps = JSON.parse(form.get("steps") ?? "") as Step[];
    return steps.slice(0, most).filter((step) => typeof step.id === "string");
  } catch {
    return [];
  }
}

const sealOf = (csrf: string, steps: string): string =>
  createHmac("sha256", csrf).update(`undo ${steps}`).digest("base64url");

/**
 * The steps as an address carries them to the page of a record. The seal shows that this session
 * made them: a link from elsewhere cannot bring an Undo that publishes a draft.
 */
export function sealedSteps(csrf: string | null, steps: readonly Step[]): string | undefined {
  if (csrf === null || steps.length === 0) return undefined;
  const text = JSON.stringify(steps);
  return `${sealOf(csrf, text)} ${text}`;
}

/** The steps of an address; none where another session made them, or nobody. */
export function unsealedSteps(csrf: string | null, sealed: string | null): Step[] {
  const [, seal, text] = /^(\S+) (.*)$/s.exec(sealed ?? "") ?? [];
  if (csrf === null || seal === undefined || text === undefined) return [];
  const [got, expected] = [Buffer.from(seal), Buffer.from(sealOf(csrf, text))];
  const isOurs = got.length === expected.length && timingSafeEqual(got, expected);
  return isOurs ? (JSON.parse(text) as Step[]) : [];
}

/** Sets the records back one by one: each is at a revision of its own. */
export async function takeBack(request: PageRequest, steps: readonly Step[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const step of steps) {
    try {
      const drafts = step.crateAt === undefined ? [] : await openedWith(request, step);
      await setBack(request, step);
      for (const draft of drafts) await setBack(request, draft);
      rows.push({ id: step.id, done: true, message: null, withDrafts: drafts.length > 0 });
    } catch (error) {
      rows.push({ id: step.id, done: false, message: refusalOf(error) });
    }
  }
  return rows;
}

async function setBack({ ask }: PageRequest, step: Step): Promise<void> {
  const { id, revision, status, until = null, reason = null, successor = null } = step;
  if (status === undefined)
    await ask(RestoreRevisionDocument, { id, revision: revision - 1, expectedRevision: revision });
  else
    await ask(PublishRecordDocument, {
      id,
      publicationStatus: status,
      embargoedUntil: until,
      reason,
      successor,
      expectedRevision: revision,
    });
}

/** The records that were drafts until their crate was published: in one commit, at one time. */
async function openedWith({ ask }: PageRequest, { id, crateAt }: Step): Promise<Step[]> {
  const since = new Date(crateAt!);
  const modified = {
    since: since.toISOString(),
    before: new Date(since.getTime() + 1).toISOString(),
  };
  const found: Step[] = [];
  let after: string | null = null;
  do {
    const { records }: OpenedWithQuery = await ask(OpenedWithDocument, {
      crate: id,
      modified,
      after,
    });
    for (const { id: member, revision } of records.nodes)
      if (revision !== null) found.push({ id: member, revision, status: "DRAFT" });
    after = records.pageInfo.hasNextPage ? records.pageInfo.endCursor : null;
  } while (after !== null);
  return found;
}

/** @throws the error itself where it is a fault of the registry */
function refusalOf(error: unknown): string {
  if (error instanceof ValidationError) return "It cannot be set back: use its own page.";
  if (!(error instanceof ServiceError) || error.status >= 500) throw error;
  return error.code === "REVISION_MISMATCH" ? CHANGED_MEANWHILE : error.message;
}

export const CHANGED_MEANWHILE =
  "It was changed meanwhile, and stays as it is now. Look at it, and choose it again.";
