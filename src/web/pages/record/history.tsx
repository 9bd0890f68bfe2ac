/** What was: earlier revisions of a record, and the page of a record that is withdrawn. */
import { ServiceError } from "../../../errors.js";
import type { JsonValue } from "../../../model/field.js";
import type { RecordGone } from "../../../services/records/find.js";
import {
  EntryTable,
  Facts,
  Form,
  Identifier,
  Notice,
  Pager,
  Section,
  When,
} from "../../components.js";
import { KindLabel, type Named, RecordLink, StatusBadge } from "../../record-components.js";
import {
  DeletedHistoryPageDocument,
  HistoryPageDocument,
  type HistoryPageQuery,
  type HistoryPageQueryVariables,
  RestoreRevisionDocument,
} from "../../documents.js";
import { Differences, memberOf } from "../../differences.js";
import { namesOf } from "../../format.js";
import { nameText } from "../../../model/labels.js";
import { plainText } from "../../../model/texts.js";
import type { LastKnown } from "../../../services/formats/last-known.js";
import { counted, labelOf, shortened } from "../../words.js";
import type { Page, PageRequest, Redirect, Route } from "../../page.js";
import { recordPath, withQuery } from "../../paths.js";
import { problemOf } from "../../problems.js";
import { Value } from "./details.js";
import { Back } from "./related.js";

type Revisions = HistoryPageQuery["revisions"];
type Revision = Revisions["nodes"][number];
type Compared = NonNullable<HistoryPageQuery["revision"]>;

/** States of a record: who made each, when and how, and what differs between two of them. */
async function history(request: PageRequest, problem?: string): Promise<Page> {
  const { param, query } = request;
  const id = param("ark");
  const [from, to] = [revisionOf(query.get("from")), revisionOf(query.get("to"))];
  const backwards = from !== null && to !== null && from >= to;
  const answer = await read(request, {
    id,
    after: query.get("after"),
    newest: to === null && query.get("after") === null,
    compare: to !== null,
    from: backwards ? null : from,
    to: to ?? 1,
  });
  const { record, revisions } = answer;
  const compared = answer.revision ?? answer.newest?.nodes[0];
  const shown: Named = record ?? { id };
  return {
    title: `History of ${shortened(nameText(shown), 120)}`,
    section: "browse",
    body: (
      <>
        <Back record={{ id, name: shown.name ?? null, kind: shown.kind ?? null }} />
        <h1>History</h1>
        {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
        {!record && (
          <Notice tone="warning">
            The record was withdrawn. Only those who could change it see this page.
          </Notice>
        )}
        {backwards && (
          <Notice tone="warning">
            Revision {from} is not older than revision {to}: the changes of revision {to} are shown.
          </Notice>
        )}
        <Section id="revisions" title={counted(revisions.totalCount, "revision")}>
          <RevisionTable
            id={id}
            revisions={revisions.nodes}
            live={record != null}
            restorable={request.viewer ? restorableOf(record) : null}
            csrf={request.csrf}
          />
          <Pager path={recordPath(id, "history")} query={query} pageInfo={revisions.pageInfo} />
        </Section>
        {compared && revisions.totalCount > 1 && (
          <Comparison
            id={id}
            compared={compared}
            from={backwards ? null : from}
            total={revisions.totalCount}
          />
        )}
      </>
    ),
  };
}

/** The current revision, where the viewer may restore another one over it. */
const restorableOf = (record: HistoryPageQuery["record"]): number | null =>
  record?.mayChange ? (record.revision ?? null) : null;

/** A number of a revision in an address; null where there is none. */
const revisionOf = (text: string | null): number | null =>
  text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;

/** Of a deleted record, those who may change it see the states. */
async function read(
  { ask }: PageRequest,
  variables: HistoryPageQueryVariables,
): Promise<HistoryPageQuery> {
  try {
    const answer = await ask(HistoryPageDocument, variables);
    if (answer.record) return answer;
    throw new ServiceError("NOT_FOUND", `Nothing is stored under ${variables.id}.`);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "GONE") throw error;
    return { ...(await ask(DeletedHistoryPageDocument, variables)), record: null };
  }
}

const ACTIONS: Readonly<Record<string, string>> = {
  CREATE: "Registered",
  UPDATE: "Changed",
  DELETE: "Withdrawn",
  PUBLISH: "Publication changed",
};

interface TableProps {
  id: string;
  revisions: readonly Revision[];
  live: boolean;
  /** The newest revision, where the reader may restore an earlier one. */
  restorable: number | null;
  csrf: string | null;
}

function RevisionTable({ id, revisions, live, restorable, csrf }: TableProps) {
  return (
    <EntryTable
      rows={revisions}
      columns={[
        [
          "What",
          ({ action, changed }) => (
            <>
              {ACTIONS[action] ?? action}
              <Changed pointers={changed} />
            </>
          ),
        ],
        ["Revision", ({ number }) => number],
        ["When", ({ at }) => <When at={at} minute />],
        [
          "Who",
          ({ by }) =>
            by ? <RecordLink record={by.record ?? { id: by.text }} /> : <>The registry</>,
        ],
        [
          "Actions",
          ({ number }) => (
            <>
              {live && (
                <a href={withQuery(recordPath(id), { revision: number })}>The record then</a>
              )}
              {number > 1 && (
                <>
                  {" · "}
                  <a href={`${comparePath(id, number)}#differences`}>What changed</a>
                </>
              )}
              {restorable !== null && number < restorable && (
                <Form csrf={csrf} class="inline">
                  <input type="hidden" name="revision" value={number} />
                  <input type="hidden" name="expected" value={restorable} />
                  {" · "}
                  <button class="link" data-confirm="Restore this revision as the newest one?">
                    Restore
                  </button>
                </Form>
              )}
            </>
          ),
        ],
      ]}
    />
  );
}

const comparePath = (id: string, to: number): string =>
  withQuery(recordPath(id, "history"), { to });

/** Names of the members that a revision changed. */
function Changed({ pointers }: { pointers: readonly string[] }) {
  if (pointers.length === 0) return null;
  const names = [...new Set(pointers.map((pointer) => labelOf(memberOf(pointer)).toLowerCase()))];
  const more = names.length > 6 ? ` and ${names.length - 6} more` : "";
  return (
    <span class="quiet">
      : <bdi>{shortened(names.slice(0, 6).join(", "), 200)}</bdi>
      {more}
    </span>
  );
}

interface ComparisonProps {
  id: string;
  compared: Compared;
  from: number | null;
  total: number;
}

/** Differences that are shown. */
const MAX_DIFFERENCES = 100;

function Comparison({ id, compared, from, total }: ComparisonProps) {
  const { number: revision, differences } = compared;
  const before = from ?? revision - 1;
  return (
    <Section
      id="differences"
      title={revision === 1 ? "The first revision" : `From revision ${before} to ${revision}`}
    >
      {total > 2 && (
        <form class="row compare" action={recordPath(id, "history")}>
          <label for="from">Compare revision</label>
          <input
            id="from"
            name="from"
            type="number"
            min="1"
            max={total}
            value={Math.max(1, before)}
          />
          <label for="to">with</label>
          <input
            id="to"
            name="to"
            type="number"
            min="2"
            max={total}
            value={Math.max(2, revision)}
          />
          <button class="secondary">Compare</button>
        </form>
      )}
      {revision === 1 ? (
        <p class="quiet">There is nothing before it to compare with.</p>
      ) : differences.length === 0 ? (
        <p class="quiet">The metadata of the two is the same.</p>
      ) : (
        <Differences
          rows={differences.slice(0, MAX_DIFFERENCES)}
          columns={[`Revision ${before}`, `Revision ${revision}`]}
          Value={({ value }) => <Value value={value as JsonValue} names={NO_NAMES} />}
        />
      )}
      {differences.length > MAX_DIFFERENCES && (
        <p class="quiet">
          The first {MAX_DIFFERENCES} of {differences.length} differences are shown.
        </p>
      )}
    </Section>
  );
}

const NO_NAMES = new Map<string, never>();

/** Restores a revision, unless somebody has changed the record since the page was made. */
async function restore(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form, param } = request;
  const id = param("ark");
  try {
    await ask(RestoreRevisionDocument, {
      id,
      revision: Number(form.get("revision")),
      expectedRevision: Number(form.get("expected")),
    });
  } catch (error) {
    const { form: sentence, fields } = problemOf(error);
    return history(request, [sentence, ...Object.values(fields)].filter(Boolean).join(" "));
  }
  return { redirect: recordPath(id, "history") };
}

export const historyRoutes: readonly Route[] = [
  { path: "/history/*ark", get: (request) => history(request), post: restore },
];

/**
 * The page of a deleted record: who withdrew it, when and why, and what to use instead.
 * @param error what the record's address answers to programs
 * @param known what it was, where it was public
 */
export async function tombstonePage(
  { ask }: PageRequest,
  { ark: id, message, extra, status }: RecordGone,
  known: LastKnown | null,
): Promise<Page> {
  const { deletedAt, deletedBy, reason, successor } = extra;
  const ids = [deletedBy, successor].filter((id): id is string => typeof id === "string");
  const names = await namesOf(ask, ids);
  const named = (who: unknown) =>
    typeof who === "string" && <RecordLink record={{ ...names.get(who), id: who }} glyph />;
  return {
    status,
    title: `Withdrawn: ${shortened(known?.name ?? nameText({ id }), 120)}`,
    description: message,
    section: "browse",
    links: [],
    body: (
      <>
        {known && (
          <p class="byline">
            <KindLabel kind={known.kind} />
            {known.creators.length > 0 && (
              <>
                {" by "}
                <bdi>{shortened(known.creators.slice(0, 12).join(", "), 600)}</bdi>
                {known.creators.length > 12 &&
                  ` and ${counted(known.creators.length - 12, "other")}`}
              </>
            )}
          </p>
        )}
        <h1 dir="auto">
          {known ? shortened(known.name, 300) : "This record was withdrawn"}{" "}
          <StatusBadge status={null} deleted />
        </h1>
        {known && <Notice tone="warning">This record was withdrawn.</Notice>}
        {typeof successor === "string" && (
          <p class="further">
            <a class="button" href={recordPath(successor)}>
              Open what replaces it
            </a>
          </p>
        )}
        <Facts
          rows={[
            ["When", typeof deletedAt === "string" && <When at={deletedAt} minute />],
            ["By", named(deletedBy)],
            [
              "Why",
              typeof reason === "string" ? (
                <bdi>{shortened(reason, 2000)}</bdi>
              ) : (
                <span class="quiet">No reason was given.</span>
              ),
            ],
            ["Use instead", named(successor)],
            [
              "It was",
              known?.description && <bdi>{shortened(plainText(known.description), 600)}</bdi>,
            ],
            ["Cited as", known && <bdi>{shortened(known.citation.trim(), 3000)}</bdi>],
            ["Identifier", <Identifier id={id} />],
          ]}
        />
        <p class="quiet">
          An identifier is never given to another object. Earlier revisions are shown to the
          record's owner and to administrators: <a href={recordPath(id, "history")}>history</a>.
        </p>
      </>
    ),
  };
}
