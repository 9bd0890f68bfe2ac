/** What is done to records of one's own, one or many at once: a form for each action, and its answer. */
import { isDeepStrictEqual } from "node:util";
import type { ComponentChildren } from "preact";
import { ServiceError } from "../../../errors.js";
import { licenceIn, LicenceField, otherLicenceIn } from "../../licence-field.js";
import { checkedWithdrawal, type GivenWithdrawal } from "../../../services/records/withdrawal.js";
import { nameText } from "../../../model/labels.js";
import { pairs } from "../../../pairs.js";
import { Field, Form, Notice } from "../../components.js";
import {
  ChangeRecordDocument,
  ChosenRecordsDocument,
  type ChosenRecordsQuery,
  KeywordsOfDocument,
  MyOwnersDocument,
  type OutcomeRowFragment,
  PublishRecordsDocument,
  ReserveDoiDocument,
  TransferRecordsDocument,
  WithdrawRecordsDocument,
} from "../../documents.js";
import type { Page, PageRequest } from "../../page.js";
import { recordPath } from "../../paths.js";
import { problemOf } from "../../problems.js";
import { type Named, RecordLink } from "../../record-components.js";
import { counted, countText, dateText, shortened, tomorrow } from "../../words.js";
import { pageOf } from "./frame.js";
import { revisionsOf } from "./meanwhile.js";
import { arkIn, personCalled } from "./people.js";
import type { Chosen, Row, TakenBack } from "./rows.js";
import {
  CHANGED_MEANWHILE,
  MEMBERS_STAY_OPEN,
  OPENS_FOR_EVER,
  stepsBack,
  UndoForm,
  wasOpened,
} from "./undo.js";

/** Records of one action, and of one request of it (MAX_BULK_RECORDS is no less by default). */
export const [MOST, BATCH] = [1_000, 100];

const rowsOf = (outcomes: readonly OutcomeRowFragment[]): Row[] =>
  outcomes.map(({ id, done, error, record }) => ({
    id,
    done,
    message: error?.message ?? null,
    after: record,
  }));

/** Whom the reader may hand records over to, by name. */
type Owners = readonly (readonly [id: string, name: string])[];

interface FieldsProps {
  chosen: readonly Chosen[];
  form: URLSearchParams;
  owners: Owners;
  admin: boolean;
}

/** An action: `done` follows the number of records that it was done to. */
export interface Action {
  label: string;
  done: string;
  danger?: true;
  undo?: TakenBack;
  /** It opens private records for ever. */
  opens?: true;
  Fields(props: FieldsProps): ComponentChildren;
  run(request: PageRequest, ids: string[]): Promise<readonly Row[]>;
}

const textOf = (form: URLSearchParams, name: string): string | null =>
  form.get(name)?.trim() || null;

async function setStatus(
  { ask }: PageRequest,
  ids: string[],
  publicationStatus: "PUBLISHED" | "EMBARGOED" | "ARCHIVED",
  more: { embargoedUntil?: string } | GivenWithdrawal = {},
): Promise<readonly Row[]> {
  const variables = { ids, publicationStatus, ...more };
  return rowsOf((await ask(PublishRecordsDocument, variables)).publishRecords.results);
}

/** Before what cannot be taken back. */
function Opened({ chosen }: { chosen: readonly Chosen[] }) {
  const count = chosen.filter(({ isPrivate }) => isPrivate).length;
  if (count === 0) return null;
  return (
    <Notice tone="warning">
      {chosen.length === 1 ? "It is" : `${countText(count)} of them are`} private. {OPENS_FOR_EVER}
    </Notice>
  );
}

const PUBLISH: Action = {
  label: "Publish",
  done: "published",
  undo: "status",
  opens: true,
  Fields: ({ chosen }) => (
    <>
      <p>Everyone may then read their files. Crates publish their drafts with them.</p>
      <Opened chosen={chosen} />
    </>
  ),
  run: (request, ids) => setStatus(request, ids, "PUBLISHED"),
};

const EMBARGO: Action = {
  label: "Embargo",
  done: "embargoed",
  undo: "status",
  opens: true,
  Fields: ({ form, chosen }) => (
    <>
      <Opened chosen={chosen} />
      <Field
        label="Until"
        name="until"
        type="date"
        min={tomorrow()}
        value={form.get("until") ?? ""}
        required
        help={`${dateText(tomorrow())} or later. The records are published when that day begins, UTC.`}
      />
    </>
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
        picker
        help="The record that takes their place: type its name and choose it, or give its ark:…"
      />
    </>
  ),
  async run(request, ids) {
    const { ask, form } = request;
    const successor = textOf(form, "successor");
    const why = checkedWithdrawal(
      { reason: textOf(form, "reason"), successor: successor && (arkIn(successor) ?? successor) },
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
  undo: "status",
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
  undo: "revision",
  Fields: ({ form, owners, admin }) => (
    <>
      <Field
        label="New owner"
        name="owner"
        value={form.get("owner") ?? ""}
        required={!admin}
        options={[["", "Choose a name"], ...owners]}
        help={
          <>
            You, or a group, organization or project that you are in. Members of it may then change
            the records. Nobody to choose? <a href="/my/groups">Make a group</a>.
          </>
        }
      />
      {admin && (
        <Field
          label="Or another owner"
          name="other"
          value={form.get("other") ?? ""}
          picker="USER"
          help="Administrators may hand over to anybody: type a name, or a whole e-mail address."
        />
      )}
    </>
  ),
  async run(request, ids) {
    const { ask, form } = request;
    const other = textOf(form, "other");
    const owner = other === null ? textOf(form, "owner") : await personCalled(request, other);
    if (owner === null) throw new ServiceError("BAD_REQUEST", "Choose the new owner.");
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

/** Entries of a field: one in a line, or between commas. */
const entriesOf = (form: URLSearchParams, name: string): string[] =>
  (form.get(name) ?? "")
    .split(/[\n,]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");

const EDIT: Action = {
  label: "Edit",
  done: "changed",
  undo: "revision",
  Fields: ({ form }) => (
    <>
      <p>Keywords and licence of all of them. What is left empty stays as each record has it.</p>
      <Field
        label="Keywords to add"
        name="add"
        value={form.get("add") ?? ""}
        lines={3}
        help="One per line, or with commas between them."
      />
      <Field
        label="Keywords to take out"
        name="remove"
        value={form.get("remove") ?? ""}
        lines={2}
        help="Upper and lower case alike."
      />
      <LicenceField
        name="licence"
        value={form.get("licence") ?? ""}
        other={otherLicenceIn(form)}
        none="As it is"
      />
    </>
  ),
  async run({ ask, form }, ids) {
    const add = entriesOf(form, "add");
    const remove = new Set(entriesOf(form, "remove").map((word) => word.toLowerCase()));
    const license = licenceIn(form, "licence").trim() || null;
    if (add.length === 0 && remove.size === 0 && license === null)
      throw new ServiceError(
        "BAD_REQUEST",
        "Say what to add, to take out, or which licence applies.",
      );
    const { nodes } = await ask(KeywordsOfDocument, { ids });
    const rows: Row[] = [];
    for (const [id, node] of pairs(ids, nodes)) {
      const { keywords, revision } = node && "keywords" in node ? node : NOTHING;
      const stay = keywords.filter((word) => !remove.has(word.toLowerCase()));
      const known = new Set(stay.map((word) => word.toLowerCase()));
      const next = [...stay, ...add.filter((word) => !known.has(word.toLowerCase()))];
      const patch = {
        ...(isDeepStrictEqual(next, keywords) ? {} : { keywords: next }),
        ...(license === null ? {} : { license }),
      };
      rows.push(await changed(ask, { id, patch, expectedRevision: revision }));
    }
    return rows;
  },
};

const NOTHING = { keywords: [] as string[], revision: null };

/** The change of one record: what is refused for one may be right for the next. */
async function changed(
  ask: PageRequest["ask"],
  input: { id: string; patch: object; expectedRevision: number | null },
): Promise<Row> {
  const { id } = input;
  try {
    const { record, revision } = (await ask(ChangeRecordDocument, { input })).updateRecord;
    return { id, done: true, message: null, after: { ...record, revision } };
  } catch (error) {
    if (error instanceof ServiceError && error.code === "REVISION_MISMATCH")
      return { id, done: false, message: CHANGED_MEANWHILE };
    const { form, fields } = problemOf(error);
    return { id, done: false, message: [form, ...Object.values(fields)].filter(Boolean).join(" ") };
  }
}

/** By the value that a form sends. */
export const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ["publish", PUBLISH],
  ["embargo", EMBARGO],
  ["archive", ARCHIVE],
  ["edit", EDIT],
  ["transfer", HAND_OVER],
  ["doi", DOI],
  ["withdraw", WITHDRAW],
]);

const wasPublished = ({ status }: Chosen): boolean => status !== null && status !== "DRAFT";

type ChosenNode = Extract<
  ChosenRecordsQuery["nodes"][number],
  { publicationStatus?: unknown; revision?: unknown }
>;

const stateOf = (node: ChosenNode | null): Omit<Chosen, "id" | "name"> => ({
  status: node?.publicationStatus ?? null,
  isPrivate: node?.visibility === "PRIVATE",
  revision: node?.revision ?? null,
  embargoEndsAt: node?.embargoEndsAt ?? null,
  reason: node?.tombstone?.reason ?? null,
  successor: node?.tombstone?.successor?.id ?? null,
});

/** The records, null for those that were withdrawn: they do not hide the others. */
async function recordsOf(
  ask: PageRequest["ask"],
  ids: readonly string[],
): Promise<ChosenRecordsQuery["nodes"]> {
  try {
    return (await ask(ChosenRecordsDocument, { ids: [...ids] })).nodes;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    if (ids.length <= 1) return ids.map(() => null);
    const half = Math.ceil(ids.length / 2);
    const first = await recordsOf(ask, ids.slice(0, half));
    return first.concat(await recordsOf(ask, ids.slice(half)));
  }
}

export async function chosenOf(ask: PageRequest["ask"], ids: string[]): Promise<Chosen[]> {
  return pairs(ids, await recordsOf(ask, ids)).map(([id, node]) => ({
    id,
    name: node && "name" in node ? node.name : null,
    ...stateOf(node && "publicationStatus" in node ? node : null),
  }));
}

/** Does an action to any number of records, a batch after the other. */
export async function runAction(
  request: PageRequest,
  action: Action,
  ids: string[],
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let start = 0; start < ids.length; start += BATCH)
    for (const row of await action.run(request, ids.slice(start, start + BATCH))) rows.push(row);
  return rows;
}

/**
 * Without it Enter in a field would press the button of a form. A default button that is disabled is
 * not pressed; browsers skip one that is not laid out.
 */
const NothingOnEnter = () => (
  <button class="visually-hidden" disabled aria-hidden="true" tabIndex={-1} />
);

/** Records of one action that are listed; of more their number is shown. */
const MAX_LISTED = 20;

/** Records that are seen without a click, where a form or other sentences follow. */
const MAX_OPEN = 5;

/** The records of an action, by name; many are folded, so that what follows is seen. */
function Listed({ records, open }: { records: readonly Named[]; open?: boolean | undefined }) {
  const list = (
    <ul class="records several">
      {records.slice(0, MAX_LISTED).map((record) => (
        <li>
          <RecordLink record={record} />
        </li>
      ))}
      {records.length > MAX_LISTED && (
        <li class="quiet">and {countText(records.length - MAX_LISTED)} more</li>
      )}
    </ul>
  );
  if (records.length <= MAX_OPEN) return list;
  return (
    <details class="more" open={open}>
      <summary>Which records</summary>
      {list}
    </details>
  );
}

/** The form of one action, with the records that it is about. */
function ActionForm({
  name,
  action: { label, danger, Fields },
  chosen,
  owners,
  request: { csrf, form, viewer },
  from,
}: {
  name: string;
  action: Action;
  chosen: readonly Chosen[];
  owners: Owners;
  request: PageRequest;
  from: string | null;
}) {
  return (
    <Form csrf={csrf} action="/my/records">
      <NothingOnEnter />
      {from !== null && <input type="hidden" name="from" value={from} />}
      {/* One field: a form of a thousand would be refused. */}
      <input type="hidden" name="ids" value={chosen.map(({ id }) => id).join(" ")} />
      <input type="hidden" name="revisions" value={revisionsOf(chosen)} />
      <Listed records={chosen} open={danger} />
      <Fields {...{ chosen, form, owners }} admin={viewer?.admin === true} />
      <p class="actions">
        <button class={danger ? "danger" : undefined} name="action" value={name}>
          {label}
        </button>
        <a class="button secondary" href={from === null ? "/my/records" : recordPath(from)}>
          {from === null ? "Back to the list" : "Back to the record"}
        </a>
      </p>
      <datalist id="picker-options" />
    </Form>
  );
}

/**
 * The page on which one action is confirmed.
 * @param from the record from whose page one came, and to which the action leads back
 */
export async function actionPage(
  request: PageRequest,
  name: string,
  ids: string[],
  { problem, from = null }: { problem?: string; from?: string | null } = {},
): Promise<Page> {
  const action = ACTIONS.get(name)!;
  const { ask } = request;
  const chosen = await chosenOf(ask, ids);
  const owners = action === HAND_OVER ? await ownersOf(request) : [];
  return {
    ...pageOf(
      `${action.label}: ${counted(chosen.length, "record")}`,
      "/my/records",
      <section>
        {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
        <ActionForm {...{ name, action, chosen, owners, request, from }} />
      </section>,
      problem === undefined ? 200 : 422,
    ),
    scripts: ["picker"],
  };
}

async function ownersOf({ ask, viewer }: PageRequest): Promise<Owners> {
  const { me } = await ask(MyOwnersDocument, {});
  const collectives = [...(me?.organizations.nodes ?? []), ...(me?.projects.nodes ?? [])];
  return [
    ...(viewer ? [[viewer.id, `${nameText(viewer)} (you)`] as const] : []),
    ...collectives.flatMap((each) =>
      "name" in each ? [[each.id, shortened(nameText(each), 100)] as const] : [],
    ),
  ];
}

export interface Outcome {
  action: Pick<Action, "done" | "undo" | "opens">;
  rows: readonly Row[];
  chosen: readonly Chosen[];
}

/** What was done to which records, and why not to the others. */
export function OutcomeNotice({
  outcome: { action, rows, chosen },
  csrf,
}: {
  outcome: Outcome;
  csrf: string | null;
}) {
  const names = new Map(chosen.map((record) => [record.id, record]));
  const done = rows.filter((row) => row.done);
  const failed = rows.filter((row) => !row.done);
  return (
    <Notice tone={failed.length === 0 ? "success" : "warning"}>
      <p>
        {counted(done.length, "record")} {action.done}
        {failed.length > 0 && `, ${countText(failed.length)} not`}.
      </p>
      {wasOpened(action, rows, chosen) && <p>What was private is open now. {OPENS_FOR_EVER}</p>}
      {rows.some((row) => row.withDrafts) && <p>{MEMBERS_STAY_OPEN}</p>}
      <UndoForm csrf={csrf} steps={stepsBack(action, rows, chosen)} />
      {failed.length > 0 && (
        <ul>
          {failed.slice(0, MAX_LISTED).map(({ id, message }) => (
            <li>
              Not <RecordLink record={names.get(id) ?? { id }} />: <bdi>{message}</bdi>
            </li>
          ))}
          {failed.length > MAX_LISTED && <li class="quiet">and others, which the list shows</li>}
        </ul>
      )}
      {done.length > 0 && <Listed records={done.map(({ id }) => names.get(id)!)} />}
    </Notice>
  );
}
