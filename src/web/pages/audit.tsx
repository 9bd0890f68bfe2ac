/** The audit log, for administrators. */
import { ServiceError } from "../../errors.js";
import { instantOf } from "../../model/dates.js";
import { AUDIT_WORDS, type AuditAction } from "../../storage/records/port.js";
import { Empty, EntryTable, Field, Pager, When } from "../components.js";
import { AuditLogDocument, type AuditLogQuery, AuditNamesDocument } from "../documents.js";
import type { Page, PageRequest, Redirect, Route } from "../page.js";
import { withQuery } from "../paths.js";
import { RecordLink } from "../record-components.js";
import { counted } from "../words.js";
import { signInFirst } from "./upload.js";

const isAction = (text: string): text is AuditAction => Object.hasOwn(AUDIT_WORDS, text);

async function auditLog(request: PageRequest): Promise<Page | Redirect> {
  const { ask, viewer, query } = request;
  const first = signInFirst(request);
  if (first) return first;
  if (!viewer!.admin)
    throw new ServiceError("FORBIDDEN", "This page is for administrators of the registry.");
  const given = (name: string): string => (query.get(name) ?? "").trim();
  const [action, actor, subject] = [given("action"), given("actor"), given("subject")];
  const at = (name: string): string | null => {
    const instant = instantOf(given(name));
    return instant === undefined ? null : new Date(instant).toISOString();
  };
  const { auditEntries: log } = await ask(AuditLogDocument, {
    after: query.get("after"),
    action: isAction(action) ? action : null,
    actor,
    subject,
    since: at("since"),
    before: at("before"),
  });
  const [since, before] = [given("since"), given("before")];
  const filter = { action, actor, subject, since, before };
  const ids = log.nodes.flatMap((entry) =>
    [entry.actor, entry.subject].filter((id) => id !== null),
  );
  // Deleted ones are shown by their identifiers.
  const { records } = await ask(AuditNamesDocument, { ids: [...new Set(ids)] });
  const names = new Map(records.nodes.map(({ id, name }) => [id, name]));
  return {
    title: "Audit log",
    section: "admin",
    body: (
      <>
        <nav class="crumb" aria-label="Where this is">
          <a href="/admin">Administration</a> <span aria-hidden="true">›</span>
        </nav>
        <h1>Audit log</h1>
        <p>
          Who signed in, changed access, published, deleted or administered. The newest is first.
        </p>
        <form action="/admin/audit" role="search" aria-label="Entries">
          <details class="more" open={Object.values(filter).some((value) => value !== "")}>
            <summary>Filter the entries</summary>
            <Field
              label="What"
              name="action"
              value={action}
              options={[["", "Everything"], ...Object.entries(AUDIT_WORDS)]}
            />
            <Field
              label="Who"
              name="actor"
              value={actor}
              help="Identifier or e-mail address of a user."
            />
            <Field
              label="What it was done to"
              name="subject"
              value={subject}
              help="Identifier of a record, or e-mail address of an account."
            />
            <Field label="From" name="since" type="date" value={since} />
            <Field label="Before" name="before" type="date" value={before} />
            <p class="actions">
              <button>Show</button>
            </p>
          </details>
          <p class="actions">
            <a href={withQuery("/admin/audit", { ...filter, format: "csv" })}>Export as CSV</a>
            <a href={withQuery("/admin/audit", { ...filter, format: "ndjson" })}>
              Export as NDJSON
            </a>
          </p>
        </form>
        {log.nodes.length === 0 ? (
          <Empty title="No entries." />
        ) : (
          <>
            <p>{counted(log.totalCount, "entry", "entries")}</p>
            <Entries entries={log.nodes} names={names} />
          </>
        )}
        <Pager path="/admin/audit" query={query} pageInfo={log.pageInfo} />
      </>
    ),
  };
}

interface EntriesProps {
  entries: AuditLogQuery["auditEntries"]["nodes"];
  /** Of records, by their identifiers. */
  names: ReadonlyMap<string, string | null>;
}

function Entries({ entries, names }: EntriesProps) {
  const link = (id: string) => <RecordLink record={{ id, name: names.get(id) ?? null }} />;
  return (
    <EntryTable
      rows={entries}
      columns={[
        ["What", ({ action }) => AUDIT_WORDS[action]],
        ["When", ({ at }) => <When at={at} minute />],
        [
          "Who",
          ({ actor, name }) => (actor === null ? <bdi>{name ?? "nobody known"}</bdi> : link(actor)),
        ],
        ["From", ({ address }) => address ?? "the registry itself"],
        ["To what", ({ subject }) => subject !== null && link(subject)],
        ["Details", ({ detail }) => <Detail detail={detail as Details} />],
      ]}
    />
  );
}

type Details = Readonly<Record<string, string | number | boolean>>;

function Detail({ detail }: { detail: Details }) {
  const parts = Object.entries(detail).map(([name, value]) => `${name}: ${value}`);
  return parts.length === 0 ? null : <bdi>{parts.join(", ")}</bdi>;
}

export const auditRoutes: readonly Route[] = [{ path: "/admin/audit", get: auditLog }];
