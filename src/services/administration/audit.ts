/** The audit log as administrators read it. */
import { invalid } from "../../errors.js";
import { lookupArk } from "../../identifiers/ark.js";
import { instantOf } from "../../model/dates.js";
import {
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditEntry,
  type AuditFilter,
  type Page,
} from "../../storage/records/port.js";
import type { Caller } from "../access/rules.js";
import { normalizeEmail } from "../accounts/user-account.js";
import type { Deps } from "../deps.js";
import { expectedOf } from "../query-parameters.js";
import { assertAdmin } from "./accounts.js";

/** Conditions on entries, as a client sent them; all that are given must hold. */
export interface AuditQuestion {
  action?: string | null | undefined;
  /** The user who did it, by identifier or e-mail address. */
  actor?: string | null | undefined;
  /** What it was done to, by identifier or, for an account, e-mail address. */
  subject?: string | null | undefined;
  /** Date or date-time. */
  since?: string | Date | null | undefined;
  before?: string | Date | null | undefined;
}

/** @throws ServiceError `FORBIDDEN`, `BAD_REQUEST`; ValidationError */
export async function listAudit(
  deps: Deps,
  question: AuditQuestion,
  page: { limit: number; after?: string },
  caller: Caller,
): Promise<Page<AuditEntry>> {
  assertAdmin(caller);
  return deps.records.auditEntries({ filter: await filterOf(deps, question), ...page });
}

/** @throws as {@link listAudit} */
export async function countAudit(
  deps: Deps,
  question: AuditQuestion,
  caller: Caller,
): Promise<number> {
  assertAdmin(caller);
  return deps.records.countAudit(await filterOf(deps, question));
}

/** Forms of an export. */
export const AUDIT_EXPORTS = ["csv", "ndjson"] as const;
/** Entries in one read of an export. */
const PAGE = 1000;

/** All entries, the newest first, as text. @throws as {@link listAudit} */
export async function* exportAudit(
  deps: Deps,
  question: AuditQuestion,
  form: (typeof AUDIT_EXPORTS)[number],
  caller: Caller,
): AsyncGenerator<Uint8Array> {
  let after: string | undefined;
  const line = form === "csv" ? csvLine : jsonLine;
  if (form === "csv") yield Buffer.from(`${COLUMNS.join(",")}\r\n`);
  do {
    const position = after === undefined ? {} : { after };
    const { items, next } = await listAudit(deps, question, { limit: PAGE, ...position }, caller);
    yield Buffer.from(items.map(line).join(""));
    after = next;
  } while (after !== undefined);
}

/** An entry as clients see it. */
export const auditView = ({ at, action, actor, name, address, subject, detail }: AuditEntry) => ({
  at: new Date(at),
  action,
  actor,
  name,
  address,
  subject,
  detail,
});

const COLUMNS = ["at", "action", "actor", "name", "address", "subject", "detail"] as const;

const jsonLine = (entry: AuditEntry): string => `${JSON.stringify(auditView(entry))}\n`;

const csvLine = (entry: AuditEntry): string => {
  const { at, detail, ...texts } = auditView(entry);
  const row = { at: at.toISOString(), detail: JSON.stringify(detail), ...texts };
  return `${COLUMNS.map((column) => csvCell(row[column] ?? "")).join(",")}\r\n`;
};

/** A spreadsheet takes a cell that begins like this for a formula, and an apostrophe for text. */
const FORMULA = /^[=+\-@\t\r]/;

function csvCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @throws ValidationError */
async function filterOf(
  deps: Deps,
  { action, actor, subject, since, before }: AuditQuestion,
): Promise<AuditFilter> {
  const filter: AuditFilter = {};
  if (action) filter.action = actionOf(action);
  if (actor) filter.actor = await storedName(deps, actor);
  if (subject) filter.subject = await storedName(deps, subject);
  if (since) filter.from = timeOf("since", since);
  if (before) filter.to = timeOf("before", before);
  return filter;
}

function actionOf(text: string): AuditAction {
  const known = AUDIT_ACTIONS.find((each) => each === text);
  if (known) return known;
  const expected = expectedOf(AUDIT_ACTIONS);
  throw invalid(["query", "action"], `Input should be ${expected}`, "literal_error", { expected });
}

function timeOf(name: string, given: string | Date): number {
  const at = typeof given === "string" ? instantOf(given.trim()) : given.getTime();
  if (at !== undefined) return Math.floor(at);
  throw invalid(["query", name], "Input should be a valid datetime or date", "datetime_parsing");
}

/** The identifier as entries have it. */
async function storedName({ records }: Deps, text: string): Promise<string> {
  const ark = lookupArk(text);
  if (!ark) return (await records.accountByEmail(normalizeEmail(text)))?.user ?? text;
  const found = await records.find(ark);
  return found && "record" in found ? found.record.ark : ark.stored;
}
