/** Records around a record, and references of a crate that lead nowhere. */
import { ServiceError } from "../../../errors.js";
import { CONNECTIONS } from "../../../model/connections.js";
import type { KindName } from "../../../model/kind.js";
import { constantOf, KINDS } from "../../../model/kinds.js";
import { Empty, EntryTable, Notice, Outside, Pager } from "../../components.js";
import { KindLabel, RecordCard, RecordLink } from "../../record-components.js";
import {
  type DanglingFragment,
  ListedPageDocument,
  MyReferencesDocument,
  type RecordFilter,
  type RecordKind,
  type RecordRelation,
  ReferencesPageDocument,
  RelatedPageDocument,
} from "../../documents.js";
import { nameText } from "../../../model/labels.js";
import { kindConstant } from "../../format.js";
import { counted, countText, kindText, labelOf, shortened } from "../../words.js";
import type { Page, PageRequest, Route } from "../../page.js";
import { recordPath, withQuery } from "../../paths.js";
import { own, pageOf } from "../my/frame.js";

/** Relations by their names in addresses: `used_by`. */
const RELATIONS: ReadonlyMap<string, string> = new Map(
  Object.keys(CONNECTIONS).map((name) => [constantOf(name).toLowerCase(), name]),
);

/** All records of one relation of a record, for example all that used it. */
async function related(request: PageRequest): Promise<Page> {
  const { param, query } = request;
  const id = param("ark");
  const relation = query.get("relation") ?? "";
  if (relation === "owner") return listed(request, "Records", { owners: [id] });
  if (relation === "contents") {
    const kind = kindAsked(query.get("kind"));
    return listed(request, kind === null ? "Contents" : kindText(kind, true), {
      describedBy: id,
      ...(kind === null ? {} : { kinds: [kind] }),
    });
  }
  const name = RELATIONS.get(relation);
  if (name === undefined)
    throw new ServiceError(
      "NOT_FOUND",
      "The address names no relation. Open the record and follow a link from there.",
    );
  const { record } = await request.ask(RelatedPageDocument, {
    id,
    relation: relation.toUpperCase() as RecordRelation,
    after: query.get("after"),
  });
  if (!record) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  const { nodes, totalCount, pageInfo } = record.related;
  const title = `${labelOf(name)}: ${nameText(record)}`;
  return {
    title: shortened(title, 200),
    section: "browse",
    body: (
      <>
        <Back record={record} />
        <h1>
          {labelOf(name)} <span class="count">{totalCount !== null && countText(totalCount)}</span>
        </h1>
        <EntryTable
          rows={nodes}
          columns={[
            ["Name", (node) => <RecordLink record={node} />],
            ["Kind", ({ kind, types }) => <KindLabel kind={kind} types={types} />],
            [
              "Description",
              ({ description }) =>
                description && <span dir="auto">{shortened(description, 160)}</span>,
            ],
          ]}
        />
        <Pager path={recordPath(id, "related")} query={query} pageInfo={pageInfo} />
      </>
    ),
  };
}

/** A kind as an address names it: `?kind=dataset`. */
const kindAsked = (text: string | null): RecordKind | null =>
  text !== null && Object.hasOwn(KINDS, text) ? kindConstant(text as KindName) : null;

const ON_A_PAGE = 30;

/** Records by filter, as cards. */
async function listed(request: PageRequest, heading: string, filter: RecordFilter): Promise<Page> {
  const { param, query } = request;
  const id = param("ark");
  const before = query.get("before");
  const { record, records } = await request.ask(ListedPageDocument, {
    id,
    filter,
    after: query.get("after"),
    before,
    first: before === null ? ON_A_PAGE : null,
    last: before === null ? null : ON_A_PAGE,
  });
  if (!record) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  return {
    title: `${heading} of ${shortened(nameText(record), 100)}`,
    section: "browse",
    body: (
      <>
        <Back record={record} />
        <h1>
          {heading} <span class="count">{countText(records.totalCount)}</span>
        </h1>
        <div class="results-list">
          {records.nodes.map((each) => (
            <RecordCard record={each} />
          ))}
        </div>
        <Pager path={recordPath(id, "related")} query={query} pageInfo={records.pageInfo} />
      </>
    ),
  };
}

interface Linked {
  id: string;
  name: string | null;
  kind: string | null;
}

/** The way back to the record that the page is about. */
export const Back = ({ record }: { record: Linked }) => (
  <nav class="crumb" aria-label="Where this is">
    <RecordLink record={record} glyph /> <span aria-hidden="true">›</span>
  </nav>
);

export const relatedRoutes: readonly Route[] = [{ path: "/related/*ark", get: related }];

/** References of a crate's records that lead nowhere, and what to do about each. */
async function referencesPage({ ask, param, query }: PageRequest): Promise<Page> {
  const id = param("ark");
  const { roCrate } = await ask(ReferencesPageDocument, { id, after: query.get("after") });
  if (!roCrate) throw new ServiceError("NOT_FOUND", `No crate is stored under ${id}.`);
  const { nodes, pageInfo } = roCrate.danglingReferences;
  return {
    title: `References that lead nowhere: ${shortened(nameText(roCrate), 120)}`,
    section: "browse",
    body: (
      <>
        <Back record={roCrate} />
        <h1>References that lead nowhere</h1>
        {nodes.length === 0 ? (
          <Empty title="Every reference leads to a record.">
            <p>
              <a href={recordPath(roCrate.id)}>Back to the crate</a>
            </p>
          </Empty>
        ) : (
          <>
            <p>
              These records name an identifier that no record here has, or whose record was
              withdrawn. Whoever follows their origin ends here.
            </p>
            {roCrate.mayChange && <WhatToDo crate={roCrate.id} />}
            <References crate={roCrate} rows={nodes} />
            <Pager path={recordPath(roCrate.id, "references")} query={query} pageInfo={pageInfo} />
          </>
        )}
      </>
    ),
  };
}

function WhatToDo({ crate }: { crate: string }) {
  return (
    <Notice>
      <p>
        An identifier with a slip in it: edit the record. An object that is missing: describe it
        under that identifier, or <a href={withQuery("/upload", { crate })}>upload the crate</a>{" "}
        with it. An object that was withdrawn: name what takes its place.
      </p>
    </Notice>
  );
}

interface Crate {
  id: string;
  mayChange: boolean;
}

function References({ crate, rows }: { crate: Crate; rows: readonly DanglingFragment[] }) {
  return (
    <ul class="results-list references">
      {rows.map((row) => (
        <li>
          <p>
            <RecordLink record={row.record} glyph />{" "}
            <span class="quiet">
              names as “<bdi>{shortened(labelOf(row.predicate).toLowerCase(), 80)}</bdi>”
            </span>
          </p>
          <p>
            <code>{shortened(row.target.text, 300)}</code>{" "}
            <span class={row.reason === "DELETED" ? "badge withdrawn" : "badge"}>
              {row.reason === "DELETED" ? "Withdrawn" : "Not known here"}
            </span>
          </p>
          <p>
            <Way row={row} crate={crate} />
          </p>
        </li>
      ))}
    </ul>
  );
}

/** `ark:99999/` of an identifier. */
const authorityOf = (id: string): string => /^ark:\/?(\d+)\//i.exec(id)?.[1] ?? "";

function Way({ row, crate }: { row: DanglingFragment; crate: Crate }) {
  const { reason, successor, record } = row;
  const target = row.target.text;
  const edit = crate.mayChange && <a href={recordPath(record.id, "edit")}>Edit the record</a>;
  if (reason === "DELETED")
    return (
      <>
        {successor?.id ? (
          <>
            Name <RecordLink record={{ id: successor.id }} /> in its place.
          </>
        ) : (
          <a href={recordPath(target)}>See why it was withdrawn.</a>
        )}{" "}
        {edit}
      </>
    );
  if (authorityOf(target) !== authorityOf(crate.id))
    return (
      <>
        The identifier is of another registry:{" "}
        <Outside href={`https://n2t.net/${target}`}>look it up there</Outside>. {edit}
      </>
    );
  return <>{edit || "Its owner can correct it."}</>;
}

/** The same of all crates of the signed-in user, a few of each. */
async function myReferences({ ask, viewer, query }: PageRequest): Promise<Page> {
  const { roCrates } = await ask(MyReferencesDocument, {
    me: viewer!.id,
    after: query.get("after"),
  });
  const crates = roCrates.nodes.filter((crate) => crate.danglingReferences.nodes.length > 0);
  return pageOf(
    "References that lead nowhere",
    "/my/references",
    <section>
      <p>
        What your crates name, and what no record here has, or what was withdrawn. Whoever follows
        the origin of a result ends there.
      </p>
      {roCrates.totalCount === 0 ? (
        <Empty title="You have no crate yet.">
          <p>
            <a href="/upload">Upload a folder or an archive.</a>
          </p>
        </Empty>
      ) : crates.length === 0 ? (
        <Empty
          title={
            roCrates.pageInfo.hasNextPage || query.has("after")
              ? `Every reference of these ${counted(roCrates.nodes.length, "crate")} leads to a record.`
              : "Every reference of your crates leads to a record."
          }
        />
      ) : (
        crates.map((crate) => (
          <article>
            <h2>
              <RecordLink record={crate} glyph />
            </h2>
            <References crate={crate} rows={crate.danglingReferences.nodes} />
            {crate.danglingReferences.pageInfo.hasNextPage && (
              <p>
                <a href={recordPath(crate.id, "references")}>All of this crate</a>
              </p>
            )}
          </article>
        ))
      )}
      <Pager path="/my/references" query={query} pageInfo={roCrates.pageInfo} />
    </section>,
  );
}

export const referenceRoutes: readonly Route[] = [
  { path: "/references/*ark", get: referencesPage },
  { path: "/my/references", get: own(myReferences) },
];
