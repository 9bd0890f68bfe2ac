/** One's own records: the list, in which some are chosen for an action. */
import { nameText } from "../../../model/labels.js";
import { Empty, Form, Notice, Pager } from "../../components.js";
import { RecordCard } from "../../record-components.js";
import {
  MyRecordsDocument,
  type MyRecordsQuery,
  type MyRecordsQueryVariables,
} from "../../documents.js";
import { counted } from "../../words.js";
import type { Page, PageRequest, Redirect, Route } from "../../page.js";
import { recordPath, withQuery } from "../../paths.js";
import { problemOf } from "../../problems.js";
import { actionPage, ACTIONS, BULK, chosenOf, type Outcome, OutcomeNotice } from "./actions.js";
import { own, pageOf, STATUSES } from "./frame.js";

const PAGE_SIZE = 25;
/** The list, in which records are chosen; its buttons only lead to the forms, and so may Enter. */
function Choice({
  nodes,
  csrf,
}: {
  nodes: MyRecordsQuery["records"]["nodes"];
  csrf: string | null;
}) {
  const hasDois = nodes.every(({ doiReservation }) => doiReservation !== "NO_SERVICE");
  return (
    <Form csrf={csrf} action="/my/records">
      <fieldset class="bulk">
        <legend>With the chosen records</legend>
        <div class="row">
          {[...ACTIONS].map(
            ([name, { label }]) =>
              (name !== "doi" || hasDois) && (
                <button class="secondary" name="choose" value={name}>
                  {label}…
                </button>
              ),
          )}
        </div>
        {!hasDois && (
          <p class="quiet small">
            This registry registers no DOIs (<a href="/help/dois">what its operator sets</a>). The
            ARK of each record is as permanent.
          </p>
        )}
      </fieldset>
      <p data-script hidden>
        <label>
          <input type="checkbox" data-check-all="id" /> Choose all on this page
        </label>
      </p>
      <ul class="results-list">
        {nodes.map((record) => (
          <li class="choice">
            <input
              type="checkbox"
              name="id"
              value={record.id}
              aria-label={`Choose ${nameText(record)}`}
            />
            <RecordCard record={record} level={2} />
          </li>
        ))}
      </ul>
    </Form>
  );
}

/** Groups, organizations and projects have a page of their own: records belong to them. */
const OTHERS: NonNullable<MyRecordsQueryVariables["filter"]> = {
  not: { kinds: ["GROUP", "ORGANIZATION", "PROJECT"] },
};

async function records(request: PageRequest, outcome?: Outcome, problem?: string): Promise<Page> {
  const { ask, query, viewer, csrf } = request;
  const status = query.get("status");
  const group = query.get("group");
  const before = query.get("before");
  const conditions: NonNullable<MyRecordsQueryVariables["filter"]>[] = [
    group === null || group === "" ? { owners: [viewer!.id] } : { group },
    OTHERS,
    ...(status !== null && Object.hasOwn(STATUSES, status)
      ? [{ publicationStatus: [status as "DRAFT"] }]
      : []),
  ];
  const { records: page, me } = await ask(MyRecordsDocument, {
    filter: { and: conditions },
    ...(before === null
      ? { first: PAGE_SIZE, after: query.get("after") }
      : { first: null, last: PAGE_SIZE, before }),
  });
  const groups = (me?.organizations.nodes ?? []).filter((node) => "name" in node);
  return pageOf(
    "My records",
    "/my/records",
    <section>
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      {outcome && <OutcomeNotice outcome={outcome} />}
      <form class="row" action="/my/records">
        <label for="status">Status</label>
        <select id="status" name="status">
          <option value="">any</option>
          {Object.entries(STATUSES).map(([value, text]) => (
            <option value={value} selected={value === status}>
              {text}
            </option>
          ))}
        </select>
        <label for="group">Of</label>
        <select id="group" name="group">
          <option value="">me</option>
          {groups.map((node) => (
            <option value={node.id} selected={node.id === group}>
              {nameText(node)}
            </option>
          ))}
        </select>
        <button class="secondary">Show</button>
      </form>
      <p class="meta">{counted(page.totalCount, "record")}</p>
      {page.nodes.length === 0 ? (
        <Empty title="No record has this status." />
      ) : (
        <Choice nodes={page.nodes} csrf={csrf} />
      )}
      <Pager path="/my/records" query={query} pageInfo={page.pageInfo} />
    </section>,
    problem === undefined ? 200 : 422,
  );
}

/** The form of one action, for the records that the address names: pages of records lead here. */
async function askedAction(request: PageRequest): Promise<Page | Redirect> {
  const { params, query } = request;
  const name = params["action"]!;
  const ids = query.getAll("id").slice(0, BULK);
  if (!ACTIONS.has(name) || ids.length === 0) return { redirect: "/my/records" };
  return actionPage(request, name, ids, { from: ids.length === 1 ? ids[0]! : null });
}

/** `choose` asks for the form of an action, `action` does it. */
async function changeRecords(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form } = request;
  const ids = form.getAll("id").slice(0, BULK);
  const choose = form.get("choose");
  const name = choose ?? form.get("action") ?? "";
  const action = ACTIONS.get(name);
  if (ids.length === 0) return records(request, undefined, "Choose at least one record first.");
  if (!action) return records(request, undefined, "The form names no action.");
  if (choose !== null) return actionPage(request, name, ids);
  const from = ids.length === 1 && form.get("from") === ids[0] ? ids[0] : null;
  try {
    // Before they are withdrawn.
    const chosen = await chosenOf(ask, ids);
    const rows = await action.run(request, ids);
    if (from === null) return await records(request, { action, rows, chosen });
    const refused = rows.find((row) => !row.done);
    if (refused)
      return await actionPage(request, name, ids, { problem: refused.message ?? "", from });
    return { redirect: afterwards(name, from) };
  } catch (error) {
    const { form: sentence, fields } = problemOf(error);
    const problem = [sentence, ...Object.values(fields)].filter(Boolean).join(" ");
    return actionPage(request, name, ids, { problem, from });
  }
}

/** Where an action leads that began at the page of a record. */
const afterwards = (action: string, id: string): string =>
  action === "publish"
    ? withQuery(recordPath(id, "share"), { done: action })
    : withQuery(recordPath(id), { done: action });

export const recordRoutes: readonly Route[] = [
  { path: "/my/records", get: own((request) => records(request)), post: own(changeRecords) },
  { path: "/my/records/:action", get: own(askedAction) },
];
