/** One's own records: what is done with many of them at once, a form for each action. */
import { nameText } from "../../../model/labels.js";
import type { ComponentChildren } from "preact";
import { ServiceError } from "../../../errors.js";
import { checkedWithdrawal, type GivenWithdrawal } from "../../../services/records/withdrawal.js";
import { Empty, Field, Form, Notice, Pager } from "../../components.js";
import { RecordCard, RecordLink } from "../../record-components.js";
import {
  ChosenRecordsDocument,
  MyRecordsDocument,
  type MyRecordsQuery,
  type MyRecordsQueryVariables,
  type OutcomeRowFragment,
  PublishRecordsDocument,
  ReserveDoiDocument,
  TransferRecordsDocument,
  WithdrawRecordsDocument,
} from "../../documents.js";
import { counted } from "../../words.js";
import type { Page, PageRequest, Route } from "../../page.js";
import { problemOf } from "../account.js";
import { own, pageOf, STATUSES } from "./frame.js";
import { pairs } from "../../../pairs.js";

const PAGE_SIZE = 25;
/** Records of one action; the page shows fewer. */
const BULK = 100;

interface Chosen {
  id: string;
  name: string | null;
  status: string | null;
}

interface Row {
  id: string;
  done: boolean;
  message: string | null;
}

const rowsOf = (outcomes: readonly OutcomeRowFragment[]): Row[] =>
  outcomes.map(({ id, done, error }) => ({ id, done, message: error?.message ?? null }));

/** An action: `done` follows the number of records that it was done to. */
interface Action {
  label: string;
  done: string;
  danger?: true;
  Fields(props: { chosen: readonly Chosen[]; form: URLSearchParams }): ComponentChildren;
  run(request: PageRequest, ids: string[]): Promise<readonly Row[]>;
}

const textOf = (form: URLSearchParams, name: string): string | null =>
  form.get(name)?.trim() || null;

const today = (): string => new Date().toISOString().slice(0, 10);

async function setStatus(
  { ask }: PageRequest,
  ids: string[],
  publicationStatus: "PUBLISHED" | "EMBARGOED" | "ARCHIVED",
  more: { embargoedUntil?: string } | GivenWithdrawal = {},
): Promise<readonly Row[]> {
  const variables = { ids, publicationStatus, ...more };
  return rowsOf((await ask(PublishRecordsDocument, variables)).publishRecords.results);
}

const PUBLISH: Action = {
  label: "Publish",
  done: "published",
  Fields: () => <p>Everyone may then read their files. Crates publish their drafts with them.</p>,
  run: (request, ids) => setStatus(request, ids, "PUBLISHED"),
};

const EMBARGO: Action = {
  label: "Embargo",
  done: "embargoed",
  Fields: ({ form }) => (
    <Field
      label="Until"
      name="until"
      type="date"
      value={form.get("until") ?? ""}
      required
      help={`A day after ${today()}. The records are published when it begins.`}
    />
  ),
  run(request, ids) {
    const until = textOf(request.form, "until");
    if (until === null)
      throw new ServiceError("BAD_REQUEST", "Choose the date on which the embargo ends.");
    return setStatus(request, ids, "EMBARGOED", { embargoedUntil: until });
  },
};

/** Fields of actions that take content from readers: the reason, and what to use instead. */
const withdrawing = (
  consequence: string,
  send: (request: PageRequest, ids: string[], why: GivenWithdrawal) => Promise<readonly Row[]>,
): Pick<Action, "Fields" | "run"> => ({
  Fields: ({ chosen, form }) => (
    <>
      <p>{consequence}</p>
      <Field
        label="Reason"
        name="reason"
        value={form.get("reason") ?? ""}
        lines={2}
        required={chosen.some(wasPublished)}
        help="Readers see it."
      />
      <Field
        label="Use instead"
        name="successor"
        value={form.get("successor") ?? ""}
        help="Identifier of the record that takes their place, ark:…"
      />
    </>
  ),
  async run(request, ids) {
    const { ask, form } = request;
    const why = checkedWithdrawal(
      { reason: textOf(form, "reason"), successor: textOf(form, "successor") },
      ["body"],
    );
    const published = (await chosenOf(ask, ids)).filter(wasPublished);
    if (why.reason === undefined && published.length > 0)
      throw new ServiceError(
        "BAD_REQUEST",
        `Give a reason: ${counted(published.length, "record")} of these could be read by others.`,
      );
    return send(request, ids, why);
  },
});

const ARCHIVE: Action = {
  label: "Archive",
  done: "archived",
  ...withdrawing(
    "Their descriptions stay public; their files are for those who may change them.",
    (request, ids, why) => setStatus(request, ids, "ARCHIVED", why),
  ),
};

const WITHDRAW: Action = {
  label: "Withdraw",
  done: "withdrawn",
  danger: true,
  ...withdrawing(
    "Their pages stay and say why. This cannot be undone.",
    async ({ ask }, ids, why) =>
      rowsOf((await ask(WithdrawRecordsDocument, { ids, ...why })).deleteRecords.results),
  ),
};

const HAND_OVER: Action = {
  label: "Hand over",
  done: "handed over",
  Fields: ({ form }) => (
    <Field
      label="New owner"
      name="owner"
      value={form.get("owner") ?? ""}
      required
      help="ark:… of a group, organization or project of yours"
    />
  ),
  async run({ ask, form }, ids) {
    const owner = textOf(form, "owner");
    if (owner === null) throw new ServiceError("BAD_REQUEST", "Name the new owner.");
    return rowsOf((await ask(TransferRecordsDocument, { ids, owner })).transferRecords.results);
  },
};

const DOI: Action = {
  label: "Reserve DOIs",
  done: "given a DOI",
  Fields: () => <p>The DOIs become findable when the records are published.</p>,
  /** One after the other: what is refused for one record may be right for the next. */
  async run({ ask }, ids) {
    const rows: Row[] = [];
    for (const id of ids)
      try {
        await ask(ReserveDoiDocument, { id });
        rows.push({ id, done: true, message: null });
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        if (error.status >= 500 && error.code !== "NO_DOI_SERVICE") throw error;
        rows.push({ id, done: false, message: error.message });
      }
    return rows;
  },
};

/** By the value that a form sends. */
const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ["publish", PUBLISH],
  ["embargo", EMBARGO],
  ["archive", ARCHIVE],
  ["transfer", HAND_OVER],
  ["doi", DOI],
  ["withdraw", WITHDRAW],
]);

const wasPublished = ({ status }: Chosen): boolean => status !== null && status !== "DRAFT";

async function chosenOf(ask: PageRequest["ask"], ids: string[]): Promise<Chosen[]> {
  const { nodes } = await ask(ChosenRecordsDocument, { ids });
  return pairs(ids, nodes).map(([id, node]) => ({
    id,
    name: node && "name" in node ? node.name : null,
    status: node && "publicationStatus" in node ? node.publicationStatus : null,
  }));
}

/**
 * Without it Enter in a field would press the button of a form. A default button that is disabled is
 * not pressed; browsers skip one that is not laid out.
 */
const NothingOnEnter = () => (
  <button class="visually-hidden" disabled aria-hidden="true" tabIndex={-1} />
);

/** The form of one action, with the records that it is about. */
function ActionForm({
  name,
  action: { label, danger, Fields },
  chosen,
  request: { csrf, form },
}: {
  name: string;
  action: Action;
  chosen: readonly Chosen[];
  request: PageRequest;
}) {
  return (
    <Form csrf={csrf} action="/my/records">
      <NothingOnEnter />
      {chosen.map(({ id }) => (
        <input type="hidden" name="id" value={id} />
      ))}
      <h2>
        {label}: {counted(chosen.length, "record")}
      </h2>
      <ul>
        {chosen.map((record) => (
          <li>
            <RecordLink record={record} />
          </li>
        ))}
      </ul>
      <Fields chosen={chosen} form={form} />
      <p class="actions">
        <button class={danger ? "danger" : undefined} name="action" value={name}>
          {label}
        </button>
        <a class="button secondary" href="/my/records">
          Back to the list
        </a>
      </p>
    </Form>
  );
}

/** The page on which one action is confirmed. */
async function actionPage(
  request: PageRequest,
  name: string,
  ids: string[],
  problem?: string,
): Promise<Page> {
  const action = ACTIONS.get(name)!;
  const chosen = await chosenOf(request.ask, ids);
  return pageOf(
    `${action.label}: ${counted(chosen.length, "record")}`,
    "/my/records",
    <section>
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      <ActionForm name={name} action={action} chosen={chosen} request={request} />
    </section>,
    problem === undefined ? 200 : 422,
  );
}

interface Outcome {
  action: Action;
  rows: readonly Row[];
  chosen: readonly Chosen[];
}

/** What was done to which records, and why not to the others. */
function OutcomeNotice({ outcome: { action, rows, chosen } }: { outcome: Outcome }) {
  const names = new Map(chosen.map((record) => [record.id, record]));
  const done = rows.filter((row) => row.done);
  const failed = rows.filter((row) => !row.done);
  return (
    <Notice tone={failed.length === 0 ? "success" : "warning"}>
      <p>
        {counted(done.length, "record")} {action.done}
        {failed.length > 0 && `, ${failed.length} not`}.
      </p>
      <ul>
        {done.map(({ id }) => (
          <li>
            <RecordLink record={names.get(id)!} />
          </li>
        ))}
        {failed.map(({ id, message }) => (
          <li>
            Not <RecordLink record={names.get(id) ?? { id }} />: <bdi>{message}</bdi>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

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

/** `choose` asks for the form of an action, `action` does it. */
async function changeRecords(request: PageRequest): Promise<Page> {
  const { ask, form } = request;
  const ids = form.getAll("id").slice(0, BULK);
  const choose = form.get("choose");
  const name = choose ?? form.get("action") ?? "";
  const action = ACTIONS.get(name);
  if (ids.length === 0) return records(request, undefined, "Choose at least one record first.");
  if (!action) return records(request, undefined, "The form names no action.");
  if (choose !== null) return actionPage(request, name, ids);
  try {
    // Before they are withdrawn.
    const chosen = await chosenOf(ask, ids);
    return await records(request, { action, rows: await action.run(request, ids), chosen });
  } catch (error) {
    const { form: sentence, fields } = problemOf(error);
    const problem = [sentence, ...Object.values(fields)].filter(Boolean).join(" ");
    return actionPage(request, name, ids, problem);
  }
}

export const recordsRoute: Route = {
  path: "/my/records",
  get: own((request) => records(request)),
  post: own(changeRecords),
};
