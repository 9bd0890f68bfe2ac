/** One's own records as a desk: search, facets, order, and records that are chosen for an action. */
import { nameText } from "../../../model/labels.js";
import { Empty, Form, Notice, Pager, When } from "../../components.js";
import { type Card, KindLabel, RecordLink, StatusBadge } from "../../record-components.js";
import { ChosenIdsDocument, ChosenRecordsDocument, DeskDocument } from "../../documents.js";
import { counted, countText, licenceText, shortened } from "../../words.js";
import type { Page, PageRequest, Redirect, Route } from "../../page.js";
import { recordPath, withQuery } from "../../paths.js";
import { problemOf } from "../../problems.js";
import {
  Conditions,
  Facets,
  type Filter,
  filterOf,
  listed,
  namesIn,
  ORDERS,
  statedIn,
} from "../search.js";
import {
  actionPage,
  ACTIONS,
  chosenOf,
  MOST,
  type Outcome,
  OutcomeNotice,
  runAction,
} from "./actions.js";
import { own, pageOf } from "./frame.js";
import { changedMeanwhile } from "./meanwhile.js";
import { arkIn } from "./people.js";
import { sealedSteps, stepsBack, stepsIn, takeBack, wasOpened } from "./undo.js";

const PAGE_SIZE = 50;
const PATH = "/my/records";

/** Groups, organizations and projects have a page of their own: records belong to them. */
const OTHERS: Filter = { not: { kinds: ["GROUP", "ORGANIZATION", "PROJECT"] } };

/** What the address asks for, among the records of the reader or of a group. */
function filterIn({ query, viewer }: Pick<PageRequest, "query" | "viewer">): Filter {
  const words = (query.get("q") ?? "").trim();
  const group = query.get("of") ?? "";
  const stated = filterOf(statedIn(query));
  return {
    and: [
      group === "" ? { owners: [viewer!.id] } : { owners: [group] },
      OTHERS,
      ...(words === "" ? [] : [{ text: words }]),
      ...(stated ? [stated] : []),
    ],
  };
}

async function records(request: PageRequest, outcome?: Outcome, problem?: string): Promise<Page> {
  const { ask, query, csrf } = request;
  const sort = query.get("sort") ?? "changed";
  const filter = filterIn(request);
  const stated = statedIn(query);
  const [listing, names, { me, sample }] = await Promise.all([
    listed(request, filter, sort, PAGE_SIZE),
    namesIn(request, stated),
    ask(DeskDocument, { filter }),
  ]);
  const collectives = [...(me?.organizations.nodes ?? []), ...(me?.projects.nodes ?? [])].filter(
    (node) => "name" in node,
  );
  const hasDois = sample.nodes.every(({ doiReservation }) => doiReservation !== "NO_SERVICE");
  const isNarrowed = stated.length > 0 || (query.get("q") ?? "") !== "";
  const page = pageOf(
    "My records",
    PATH,
    <section>
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      {outcome && <OutcomeNotice outcome={outcome} csrf={csrf} />}
      <Find query={query} collectives={collectives} />
      <AtHand query={query} />
      <Conditions {...{ stated, names, query }} path={PATH} />
      <div class="columns search">
        <div>
          {listing.items.length === 0 ? (
            <Empty
              title={isNarrowed ? "No record of yours is like that." : "No record is here yet."}
            >
              <p>
                {isNarrowed ? (
                  <a href={PATH}>All of them</a>
                ) : (
                  <>
                    <a href="/upload">Upload a folder or an archive</a>, or{" "}
                    <a href="/new">describe one object</a>.
                  </>
                )}
              </p>
            </Empty>
          ) : (
            <Desk
              records={listing.items.map(({ record }) => record)}
              {...{ csrf, query, sort, hasDois }}
              total={listing.total}
            />
          )}
          <Pager path={PATH} query={query} pageInfo={listing.pageInfo} />
        </div>
        <Facets path={PATH} query={query} facets={listing.facets} fixed="owner" />
      </div>
    </section>,
    problem === undefined ? 200 : 422,
  );
  return { ...page, scripts: ["desk"] };
}

interface FindProps {
  query: URLSearchParams;
  collectives: readonly { id: string; name?: string | null }[];
}

/** Words, and whose records. */
function Find({ query, collectives }: FindProps) {
  const of = query.get("of") ?? "";
  return (
    <form class="row desk-find" action={PATH} role="search" aria-label="Search my records">
      {[...query]
        .filter(([name]) => !["q", "of", "after", "before"].includes(name))
        .map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
      <input
        type="search"
        name="q"
        value={query.get("q") ?? ""}
        aria-label="Search my records"
        placeholder="Search my records…"
      />
      {collectives.length > 0 && (
        <select name="of" aria-label="Whose records" data-send>
          <option value="">Mine</option>
          {collectives.map((node) => (
            <option value={node.id} selected={node.id === of}>
              {shortened(nameText(node), 60)}
            </option>
          ))}
        </select>
      )}
      <button class="secondary">Search</button>
    </form>
  );
}

/** Filters that curators ask for again and again. */
const AT_HAND: readonly (readonly [name: string, query: Record<string, string>])[] = [
  ["Drafts unchanged for 90 days", { status: "DRAFT", unchanged: "90" }],
  ["Without a licence", { licence: "none" }],
  ["Embargoed", { status: "EMBARGOED" }],
];

/** Filters by name; the script adds those that the reader has saved in this browser. */
function AtHand({ query }: { query: URLSearchParams }) {
  const of = query.get("of");
  return (
    <ul class="keywords at-hand" aria-label="Saved filters" data-filters={PATH}>
      {AT_HAND.map(([name, conditions]) => (
        <li>
          <a href={withQuery(PATH, { ...conditions, of: of ?? undefined })}>{name}</a>
        </li>
      ))}
      {[...query].length > 0 && (
        <li data-script hidden>
          <button type="button" class="link" data-save-filter>
            Save this filter
          </button>
        </li>
      )}
    </ul>
  );
}

interface DeskProps {
  records: readonly Card[];
  total: number;
  csrf: string | null;
  query: URLSearchParams;
  sort: string;
  hasDois: boolean;
}

/** The list, in which records are chosen; its buttons only lead to the forms, and so may Enter. */
function Desk({ records: shown, total, csrf, query, sort, hasDois }: DeskProps) {
  return (
    <Form csrf={csrf} action={PATH} class="desk" data-choose="id">
      <input type="hidden" name="query" value={query.toString()} />
      <p class="meta">
        {counted(total, "record")}
        {total > shown.length && (
          <>
            {" · "}
            <label>
              <input type="checkbox" name="all" value="yes" data-total={total} />{" "}
              {total > MOST
                ? `Choose the first ${countText(MOST)} of ${countText(total)}`
                : `Choose all ${countText(total)}`}
            </label>
          </>
        )}
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="My records">
        <table class="wide dense">
          <thead>
            <tr>
              <th scope="col">
                <input
                  type="checkbox"
                  data-check-all="id"
                  aria-label="Choose all on this page"
                  data-script
                  hidden
                />
              </th>
              <Sorted {...{ query, sort }} by="name" title="Name" />
              <th scope="col" class="minor">
                Kind
              </th>
              <th scope="col">Status</th>
              <th scope="col" class="minor">
                Licence
              </th>
              <Sorted {...{ query, sort }} by="changed" title="Changed" />
            </tr>
          </thead>
          <tbody>
            {shown.map((record) => (
              <tr>
                <td>
                  <input
                    type="checkbox"
                    name="id"
                    value={record.id}
                    aria-label={`Choose ${nameText(record)}`}
                  />
                </td>
                <th scope="row">
                  <RecordLink record={record} />
                </th>
                <td class="minor">
                  <KindLabel kind={record.kind ?? null} types={record.types} />
                </td>
                <td>
                  <StatusBadge
                    status={record.publicationStatus}
                    visibility={record.visibility}
                    embargoEndsAt={record.embargoEndsAt}
                  />
                </td>
                <td class="minor date">
                  {record.license ? (
                    shortened(licenceText(record.license), 30)
                  ) : (
                    <span class="quiet">none</span>
                  )}
                </td>
                <td class="date">
                  <When at={record.modifiedAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="chosen-bar" role="group" aria-label="With the chosen records">
        <strong data-chosen aria-live="polite">
          With the chosen records:
        </strong>
        {[...ACTIONS].map(
          ([name, { label, danger }]) =>
            (name !== "doi" || hasDois) && (
              <button class={danger ? "danger" : "secondary"} name="choose" value={name}>
                {label}…
              </button>
            ),
        )}
      </div>
    </Form>
  );
}

interface SortedProps {
  query: URLSearchParams;
  sort: string;
  by: keyof typeof ORDERS;
  title: string;
}

/** The head of a column by which the list is ordered, or can be. */
function Sorted({ query, sort, by, title }: SortedProps) {
  const next = new URLSearchParams(query);
  next.delete("after");
  next.delete("before");
  next.set("sort", by);
  const isOrder = sort === by;
  const direction = ORDERS[by]!.direction === "ASC" ? "ascending" : "descending";
  return (
    <th scope="col" aria-sort={isOrder ? direction : undefined}>
      {isOrder ? (
        <>
          {title} <span aria-hidden="true">{direction === "ascending" ? "↑" : "↓"}</span>
        </>
      ) : (
        <a href={`${PATH}?${next.toString()}`}>{title}</a>
      )}
    </th>
  );
}

/** The records that a form names: one by one, in one field, or all that its list has. */
async function chosenIn(request: PageRequest): Promise<string[]> {
  const { form, ask, viewer } = request;
  if (form.get("all") === null) {
    const listedIds = (form.get("ids") ?? "").split(" ").filter((id) => id !== "");
    return [...form.getAll("id"), ...listedIds].slice(0, MOST);
  }
  const filter = filterIn({ query: new URLSearchParams(form.get("query") ?? ""), viewer });
  const { records: found } = await ask(ChosenIdsDocument, { filter, first: MOST });
  return found.nodes.map(({ id }) => id);
}

/** The form of one action, for the records that the address names: pages of records lead here. */
async function askedAction(request: PageRequest): Promise<Page | Redirect> {
  const { param, query } = request;
  const name = param("action");
  const ids = query.getAll("id").slice(0, MOST);
  if (!ACTIONS.has(name) || ids.length === 0) return { redirect: "/my/records" };
  // Of one that was withdrawn its tombstone says more.
  if (ids.length === 1) await request.ask(ChosenRecordsDocument, { ids });
  return actionPage(request, name, ids, { from: ids.length === 1 ? ids[0]! : null });
}

/** `choose` asks for the form of an action, `action` does it. */
async function changeRecords(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form } = request;
  const choose = form.get("choose");
  const name = choose ?? form.get("action") ?? "";
  if (name === "undo") return undone(request);
  const ids = await chosenIn(request);
  const action = ACTIONS.get(name);
  if (ids.length === 0) return records(request, undefined, "Choose at least one record first.");
  if (!action) return records(request, undefined, "The form names no action.");
  if (choose !== null) return actionPage(request, name, ids);
  const from = ids.length === 1 && form.get("from") === ids[0] ? ids[0] : null;
  try {
    // Before they are withdrawn.
    const chosen = await chosenOf(ask, ids);
    const changed = await changedMeanwhile(request, chosen);
    const others = ids.filter((id) => !changed.some((row) => row.id === id));
    const rows = [...changed, ...(await runAction(request, action, others))];
    if (from === null) return await records(request, { action, rows, chosen });
    const refused = rows.find((row) => !row.done);
    if (refused)
      return await actionPage(request, name, ids, { problem: refused.message ?? "", from });
    const steps = stepsBack(action, rows, chosen);
    const opened = wasOpened(action, rows, chosen) ? "yes" : null;
    const undo = sealedSteps(request.csrf, steps);
    return { redirect: afterwards(from, { done: name, undo, opened }) };
  } catch (error) {
    const { form: sentence, fields } = problemOf(error);
    const problem = [sentence, ...Object.values(fields)].filter(Boolean).join(" ");
    return actionPage(request, name, ids, { problem, from });
  }
}

/** Takes an action back, record by record. */
async function undone(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form } = request;
  const steps = stepsIn(form, MOST);
  if (steps.length === 0) return records(request, undefined, "There is nothing to take back.");
  try {
    const chosen = await chosenOf(
      ask,
      steps.map(({ id }) => id),
    );
    const rows = await takeBack(request, steps);
    const from = form.get("from");
    if (from !== null && arkIn(from) === from && rows.every((row) => row.done)) {
      const drafts = rows.some((row) => row.withDrafts) ? "yes" : null;
      return { redirect: withQuery(recordPath(from), { done: "undo", drafts }) };
    }
    return await records(request, { action: { done: "set back to what they were" }, rows, chosen });
  } catch (error) {
    return records(request, undefined, problemOf(error).form ?? "This cannot be taken back.");
  }
}

/** Where an action leads that began at the page of a record. */
const afterwards = (
  id: string,
  query: { done: string } & Parameters<typeof withQuery>[1],
): string => withQuery(query.done === "publish" ? recordPath(id, "share") : recordPath(id), query);

export const recordRoutes: readonly Route[] = [
  { path: "/my/records", get: own((request) => records(request)), post: own(changeRecords) },
  { path: "/my/records/:action", get: own(askedAction) },
];
