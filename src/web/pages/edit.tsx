/** Forms for records: new ones, and changes that are merged with those of others. */
import type { ComponentChildren } from "preact";
import { ServiceError } from "../../errors.js";
import {
  custom,
  type Field as ModelField,
  isObject,
  type JsonObject,
  type JsonValue,
  listOf,
  text as textField,
} from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { Field, Form, Notice, When } from "../components.js";
import { KindGlyph, RecordLink } from "../record-components.js";
import {
  ChangeRecordDocument,
  CreateComputationDocument,
  CreateDatasetDocument,
  CreateOrganizationDocument,
  CreateProjectDocument,
  CreateSoftwareDocument,
  EditDocument,
  type EditQuery,
  EditSinceDocument,
  type EditSinceQuery,
} from "../documents.js";
import { kindOf } from "../format.js";
import { licenceIn, LicenceField, otherLicenceIn } from "../licence-field.js";
import { nameText } from "../../model/labels.js";
import { kindText, labelOf, shortened } from "../words.js";
import type { Page, PageRequest, Redirect, Route } from "../page.js";
import { recordPath, withQuery } from "../paths.js";
import { problemOf } from "../problems.js";
import { sealedSteps } from "./my/undo.js";
import { Back } from "./record/related.js";
import { signInFirst } from "./upload.js";

type Input = Readonly<Record<string, unknown>>;

const withCommand = ({ command, ...input }: Input): Input =>
  command == null
    ? input
    : { ...input, command: { [Array.isArray(command) ? "list" : "text"]: command } };

/** Kinds that people describe by hand, and how each is created. */
const CREATE: Partial<Record<KindName, (request: PageRequest, input: Input) => Promise<string>>> = {
  dataset: async ({ ask }, input) =>
    (await ask(CreateDatasetDocument, { dataset: input as never })).createDataset.dataset.id,
  software: async ({ ask }, input) =>
    (await ask(CreateSoftwareDocument, { software: input as never })).createSoftware.software.id,
  computation: async ({ ask }, input) =>
    (await ask(CreateComputationDocument, { computation: withCommand(input) as never }))
      .createComputation.computation.id,
  project: async ({ ask }, input) =>
    (await ask(CreateProjectDocument, { project: input as never })).createProject.project.id,
  organization: async ({ ask }, input) =>
    (await ask(CreateOrganizationDocument, { organization: input as never })).createOrganization
      .organization.id,
};

/** Whether a form can make a new version of a record of the kind. */
export const mayBeNewVersion = (kind: KindName): boolean =>
  Object.hasOwn(CREATE, kind) &&
  KINDS[kind].path !== null &&
  !["project", "organization"].includes(kind);

interface Question {
  name: string;
  label: string;
  field: ModelField;
  /**
   * Other names of the member. It is not a field of the model: its references are written as JSON-LD
   * has them.
   */
  others?: readonly string[];
}

/** Creates a record of a kind that people describe by hand. @returns its identifier */
export const createRecord = (request: PageRequest, kind: KindName, input: Input): Promise<string> =>
  CREATE[kind]!(request, input);

/** The fields that a form asks for; all come from the model. */
function questionsOf(kind: KindName): Question[] {
  return Object.entries(KINDS[kind].fields)
    .filter(
      ([name, field]) =>
        !name.startsWith("@") &&
        name !== "owner" &&
        !field.computed &&
        !field.secret &&
        !field.reserved &&
        !field.backlink &&
        field.const === undefined &&
        field.deprecated === undefined &&
        ["string", "stringList", "stringOrList"].includes(field.json),
    )
    .map(([name, field]) => ({ name, label: labelOf(name), field }));
}

/** Members that crates state of files and programs beside the fields of the model, by their names. */
const FORMAT = ["encodingFormat", "format", "fileFormat"] as const;
const STATED = {
  format: [FORMAT, textField("schema:encodingFormat", "Media type, for example text/csv.")],
  size: [["contentSize"], textField("schema:contentSize", "Of the file, in bytes.")],
  origin: [
    ["isBasedOn"],
    custom("stringOrList", "schema:isBasedOn", "Where it comes from: records or addresses.", {
      link: true,
    }),
  ],
  statistics: [
    ["https://w3id.org/EVI#hasSummaryStatistics", "hasSummaryStatistics"],
    textField("evi:hasSummaryStatistics", "Record or address of the statistics of a table.", {
      link: true,
    }),
  ],
  schema: [
    ["https://w3id.org/EVI#Schema", "Schema", "schema", "hasSchema", "tableSchema", "dataSchema"],
    textField("evi:Schema", "Record that describes the columns of a table.", { link: true }),
  ],
  whole: [
    ["isPartOf"],
    custom("stringOrList", "schema:isPartOf", "Crate or folder that it belongs to.", {
      link: true,
    }),
  ],
  address: [["contentUrl"], textField("schema:contentUrl", "Where the bytes are.")],
  requirements: [
    ["softwareRequirements", "runtimePlatform"],
    textField("schema:softwareRequirements", "What it needs to run: systems, languages, packages."),
  ],
} as const satisfies Record<string, readonly [readonly [string, ...string[]], ModelField]>;

const ALSO_ASKED: Partial<Record<KindName, readonly (keyof typeof STATED)[]>> = {
  dataset: ["format", "size", "address", "origin", "schema", "statistics", "whole"],
  datadownload: ["origin", "schema", "statistics", "whole"],
  mlmodel: ["size"],
  software: ["format", "address", "requirements", "whole"],
  rocrate: ["whole"],
};

/** The members besides the fields of the model, under the names that the record states them by. */
function statedQuestions(kind: KindName, document: JsonObject): Question[] {
  return (ALSO_ASKED[kind] ?? []).map((key) => {
    const [names, field] = STATED[key];
    const stated = Object.keys(document).find((member) =>
      names.some((name) => member === name || member.endsWith(`:${name}`)),
    );
    const name = stated ?? names[0];
    return { name, label: labelOf(name), field, others: names };
  });
}

/** What people change most, in this order. */
const MAIN = ["name", "description", "author", "keywords", "license", "version", "datePublished"];

interface QuestionsProps {
  questions: readonly Question[];
  isNew: boolean;
  /** Names of fields that the reader came for: they stand first. */
  first?: readonly string[];
  /** Names of fields that need attention. */
  wrong: ReadonlySet<string>;
  children(question: Question): ComponentChildren;
}

/** The fields of a form: first those that people look for, and what a new record needs. */
function Questions({ questions, isNew, first = [], wrong, children }: QuestionsProps) {
  const isOf = (asked: string, { name, others: also }: Question): boolean =>
    asked === name || also?.includes(asked) === true;
  const main = [
    ...new Set(
      [...first, ...MAIN].flatMap((asked) => questions.filter((each) => isOf(asked, each))),
    ),
  ];
  const others = questions.filter((question) => !main.includes(question));
  const needed = others.filter(({ field }) => isNew && field.required);
  const further = others.filter((question) => !needed.includes(question));
  return (
    <>
      {[...main, ...needed].map(children)}
      {further.length > 0 && (
        <details class="more" open={further.some(({ name }) => wrong.has(name))}>
          <summary>Further fields ({further.length})</summary>
          {further.map(children)}
        </details>
      )}
    </>
  );
}

const isList = ({ json }: ModelField): boolean => json !== "string";

/** What the model says of a field, unless its label says the same. */
function helpOf({ label, field }: Question): string {
  const { description } = field;
  const isLabel = description.toLowerCase().startsWith(label.toLowerCase());
  const rest = isLabel ? description.slice(label.length).replace(/^[\s,.]+/, "") : description;
  const help = rest.slice(0, 1).toUpperCase() + rest.slice(1);
  return [help, isList(field) ? "One per line." : ""].filter(Boolean).join(" ");
}

/** The values of a list, one in a line. */
const linesOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** What was sent under the name of a field. */
const sentAs = (name: string, form: URLSearchParams): string =>
  name === "license" ? licenceIn(form, name) : (form.get(name) ?? "");

function inputOf(kind: KindName, form: URLSearchParams, owner: string): Input {
  const input: Record<string, unknown> = { owner };
  for (const { name, field } of questionsOf(kind)) {
    const text = sentAs(name, form).trim();
    const lines = linesOf(text);
    if (isList(field)) {
      if (lines.length > 0 || field.required) input[name] = lines;
    } else if (text !== "" || field.required) input[name] = text;
    // Left out, a default of the model would be stored that nobody chose.
    else if (form.has(name) && field.nullable && field.default !== undefined) input[name] = null;
  }
  return input;
}

/** The record that a form makes a new version of; null for one that is described from nothing. */
interface Earlier {
  id: string;
  name: string | null;
  document: JsonObject;
  doi: string | null;
}

async function earlierOf(request: PageRequest, kind: KindName): Promise<Earlier | null> {
  const id = request.form.get("from") ?? request.query.get("from");
  if (id === null || !mayBeNewVersion(kind)) return null;
  const { record } = await request.ask(EditDocument, { id });
  if (!record || kindOf(record.kind ?? "ENTITY") !== kind)
    throw new ServiceError(
      "NOT_FOUND",
      `No ${kindText(kind).toLowerCase()} is stored under ${id}.`,
    );
  const document = record.document as JsonObject;
  return { id: record.id, name: record.name ?? null, document, doi: record.doi };
}

/** Members that say what one version is, and not the next. */
const OF_ONE_VERSION: ReadonlySet<string> = new Set(["@id", "owner", "contentUrl"]);

/**
 * What a new version takes over of the earlier one besides the fields of the form, so that nothing
 * is dropped; and that it is a revision of that one.
 */
function takenOver(kind: KindName, { id, document, doi }: Earlier): Input {
  const { fields } = KINDS[kind];
  const asked = new Set(questionsOf(kind).map(({ name }) => name));
  const declared: Record<string, JsonValue> = {};
  const more: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(document)) {
    const field = Object.hasOwn(fields, name) ? fields[name]! : undefined;
    const isOwn = OF_ONE_VERSION.has(name) || field?.computed || field?.backlink || field?.secret;
    if (isOwn || asked.has(name) || field?.deprecated !== undefined || field?.const !== undefined)
      continue;
    if (!field) more[name] = value;
    else if (value !== null) declared[name.replace(/^@/, "")] = value;
  }
  // The DOI names the earlier version.
  const identifiers = listOf(more["identifier"]).filter(
    (each) => doi === null || !JSON.stringify(each).includes(doi),
  );
  if (identifiers.length === 0) delete more["identifier"];
  else if (Array.isArray(more["identifier"])) more["identifier"] = identifiers;
  return { ...declared, additionalProperties: { ...more, "prov:wasRevisionOf": { "@id": id } } };
}

const LICENCE = "https://creativecommons.org/licenses/by/4.0/";

function kindIn({ param }: PageRequest): KindName {
  const kind = param("kind");
  if (Object.hasOwn(CREATE, kind)) return kind as KindName;
  throw new ServiceError(
    "NOT_FOUND",
    `There is no form for ${kind.slice(0, 50)}; there are forms for ${Object.keys(CREATE).join(", ")}.`,
  );
}

async function formPage(
  request: PageRequest,
  problem: { form?: string; fields: Readonly<Record<string, string>> } = { fields: {} },
): Promise<Page | Redirect> {
  const first = signInFirst(request);
  if (first) return first;
  const kind = kindIn(request);
  const { form, csrf } = request;
  const earlier = await earlierOf(request, kind);
  const title = earlier ? "New version" : `New ${kindText(kind).toLowerCase()}`;
  const questions = questionsOf(kind);
  const stated: Texts = earlier ? textsOf(questions, earlier.document) : { license: LICENCE };
  const valueOf = (name: string): string =>
    form.get(name) ?? (form.size === 0 ? stated[name] : "") ?? "";
  const named = new Set(questions.map(({ name }) => name));
  const others = Object.entries(problem.fields).filter(([name]) => !named.has(name));
  const sentences = [problem.form, ...others.map(([name, text]) => `${labelOf(name)}: ${text}`)];
  const hasProblem = problem.form !== undefined || Object.keys(problem.fields).length > 0;
  return {
    status: hasProblem ? 422 : 200,
    title,
    section: "upload",
    scripts: ["picker"],
    body: (
      <>
        {earlier && (
          <p>
            <RecordLink record={{ ...earlier, kind }} glyph />
          </p>
        )}
        <h1>{title}</h1>
        {earlier ? (
          <p>
            The form is filled from the record: change what differs. What the form does not show is
            taken over too. The new version gets an identifier of its own and says which record it
            is a revision of; that one stays as it is.
          </p>
        ) : (
          <p>{KINDS[kind].description}</p>
        )}
        {sentences.some(Boolean) && (
          <Notice tone="danger">{sentences.filter(Boolean).join(" ")}</Notice>
        )}
        <Form csrf={csrf} data-keep={earlier ? `version of ${earlier.id}` : `new-${kind}`}>
          {earlier && <input type="hidden" name="from" value={earlier.id} />}
          <Questions questions={questions} isNew wrong={new Set(Object.keys(problem.fields))}>
            {({ name, label, field }) =>
              name === "license" ? (
                <LicenceField
                  name={name}
                  value={valueOf(name)}
                  other={otherLicenceIn(form)}
                  none="None stated"
                  error={problem.fields[name]}
                />
              ) : (
                <Field
                  label={label}
                  name={name}
                  value={valueOf(name)}
                  required={field.required && !isList(field)}
                  help={helpOf({ name, label, field })}
                  error={problem.fields[name]}
                  picker={field.ark === true || field.link === true}
                  {...(isList(field) ? { lines: 3 } : name === "description" ? { lines: 4 } : {})}
                  {...(field.date === true ? { type: "date" as const } : {})}
                />
              )
            }
          </Questions>
          <p class="actions">
            <button>{earlier ? "Create the new version" : "Create"}</button>
            {earlier ? (
              <a href={recordPath(earlier.id)}>Cancel</a>
            ) : (
              <a href="/new">Another kind</a>
            )}
          </p>
        </Form>
        <datalist id="picker-options" />
      </>
    ),
  };
}

async function create(request: PageRequest): Promise<Page | Redirect> {
  const kind = kindIn(request);
  const { viewer, form } = request;
  if (!viewer)
    throw new ServiceError(
      "NOT_AUTHENTICATED",
      "Your session has ended. Sign in again: what you typed is kept in this tab.",
    );
  try {
    const earlier = await earlierOf(request, kind);
    const input = inputOf(kind, form, viewer.id);
    const more = earlier ? takenOver(kind, earlier) : {};
    const id = await createRecord(request, kind, { ...more, ...input });
    return { redirect: recordPath(id) };
  } catch (error) {
    return formPage(request, problemOf(error));
  }
}

async function choose(request: PageRequest): Promise<Page | Redirect> {
  const first = signInFirst(request);
  if (first) return first;
  return {
    title: "New record",
    section: "upload",
    body: (
      <>
        <h1>New record</h1>
        <p>
          Describe one object by a form. Files and whole results come faster by an{" "}
          <a href="/upload">upload</a>. Nothing there yet?{" "}
          <a href="/reserve">Reserve an identifier</a> for it.
        </p>
        <ul class="results-list">
          {(Object.keys(CREATE) as KindName[]).map((kind) => (
            <li class="card">
              <h2 class="card-title">
                <a href={`/new/${kind}`}>
                  <KindGlyph kind={kind} />
                  {kindText(kind)}
                </a>
              </h2>
              <p>{KINDS[kind].description}</p>
            </li>
          ))}
        </ul>
      </>
    ),
  };
}

export const newRoutes: readonly Route[] = [
  { path: "/new", get: choose },
  { path: "/new/:kind", get: (request) => formPage(request), post: create },
];

type Shown = Omit<NonNullable<EditQuery["record"]>, "doi">;
type Texts = Readonly<Record<string, string>>;

/** A text, or an object that only names a record, as a form shows it; `undefined` for anything else. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value !== "object" || Array.isArray(value)) return undefined;
  const { "@id": id, ...rest } = value;
  return typeof id === "string" && Object.keys(rest).length === 0 ? id : undefined;
}

/** The value of a field as the text of its form; `undefined` where it has parts that a form has not. */
function formText({ field }: Question, value: JsonValue | undefined): string | undefined {
  if (!isList(field)) return textOf(value)?.replaceAll("\r\n", "\n");
  const texts = (Array.isArray(value) ? value : [value]).map((item) => textOf(item));
  return texts.every((text) => text !== undefined && !text.includes("\n"))
    ? texts.filter((text) => text !== "").join("\n")
    : undefined;
}

/** The questions about a record, and the text of each; others are changed by programs. */
function textsOf(questions: readonly Question[], document: JsonObject): Texts {
  const texts: Record<string, string> = {};
  for (const question of questions) {
    const text = formText(question, document[question.name]);
    if (text !== undefined) texts[question.name] = text;
  }
  return texts;
}

/** What was typed, in the form in which stored texts are compared with it. */
function typedIn(questions: readonly Question[], form: URLSearchParams): Texts {
  return Object.fromEntries(
    questions
      .filter(({ name }) => form.has(name))
      .map(({ name, field }) => {
        const text = sentAs(name, form).replaceAll("\r\n", "\n");
        return [name, isList(field) ? linesOf(text).join("\n") : text];
      }),
  );
}

/**
 * The stored value with the text of a form in it: an item that stayed is as it was stored, and what
 * takes the place of references is a reference too.
 */
function valueOf(
  { field, others }: Question,
  text: string,
  stored: JsonValue | undefined,
): JsonValue {
  const items = listOf(stored);
  const refers = items.length > 0 && items.every(isObject);
  const written = (line: string): JsonValue =>
    (refers && !/\s/.test(line.trim())) || (others && field.link && IRI.test(line.trim()))
      ? { "@id": line.trim() }
      : line;
  if (!isList(field)) return text.trim() === "" ? null : written(text);
  const lines = linesOf(text);
  if (lines.length === 0) return null;
  return lines.map((line) => items.find((item) => textOf(item) === line) ?? written(line));
}

/** A record that the reader may change. @throws ServiceError */
function changeable(id: string, record: Shown | null | undefined): Shown {
  if (!record) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  if (!record.mayChange)
    throw new ServiceError(
      "FORBIDDEN",
      `Only the owner of ${nameText(record)}, members of its group and administrators may change it.`,
    );
  return record;
}

function questionsFor({ kind: name, document }: Shown): Question[] {
  const kind = kindOf(name ?? "ENTITY");
  return [...questionsOf(kind), ...statedQuestions(kind, document as JsonObject)];
}

const IRI = /^(?:https?:\/\/|ark:)\S+$/;

interface FormState {
  record: Shown;
  texts: Texts;
  problem?: { form?: string; fields: Readonly<Record<string, string>> };
  /** What somebody else has changed since the form was opened. */
  since?: Since;
}

interface Since {
  by: EditSinceQuery["revisions"]["nodes"][number] | undefined;
  changes: readonly { name: string; before: string; now: string; typed: string }[];
}

function editPage(request: PageRequest, state: FormState): Page {
  const { record, texts, problem = { fields: {} }, since } = state;
  const questions = questionsFor(record);
  const asked = questions.filter(({ name }) => texts[name] !== undefined);
  const left = questions.filter(({ name }) => texts[name] === undefined);
  // The registry accepts that a record lacks what it never had.
  const stored = textsOf(questions, record.document as JsonObject);
  const conflicts = new Set(since?.changes.filter(isConflict).map(({ name }) => name));
  const errorOf = (name: string): string | undefined =>
    problem.fields[name] ??
    (conflicts.has(name) ? "Changed by both of you: this is your text." : undefined);
  const named = new Set(asked.map(({ name }) => name));
  const sentences = [
    problem.form,
    ...Object.entries(problem.fields)
      .filter(([name]) => !named.has(name))
      .map(([name, text]) => `${labelOf(name)}: ${text}`),
  ].filter(Boolean);
  return {
    status: since ? 409 : state.problem ? 422 : 200,
    title: `Edit ${shortened(nameText(record), 120)}`,
    section: "my",
    scripts: ["picker"],
    body: (
      <>
        <Back record={record} />
        <h1>Edit “{shortened(nameText(record), 120)}”</h1>
        <p>
          Saving makes a new revision. Earlier ones stay under{" "}
          <a href={recordPath(record.id, "history")}>History</a>.
        </p>
        {since && <Others since={since} />}
        {sentences.length > 0 && <Notice tone="danger">{sentences.join(" ")}</Notice>}
        <Form csrf={request.csrf} data-keep={`edit ${record.id} ${record.revision}`}>
          <input type="hidden" name="expected" value={String(record.revision)} />
          <Questions
            questions={asked}
            isNew={false}
            first={request.query.getAll("field")}
            wrong={new Set([...Object.keys(problem.fields), ...conflicts])}
          >
            {({ name, label, field }) => (
              <>
                {name === "license" ? (
                  <LicenceField
                    name={name}
                    value={texts[name]!}
                    none="None stated"
                    error={errorOf(name)}
                  />
                ) : (
                  <Field
                    label={label}
                    name={name}
                    value={texts[name]}
                    required={field.required && !isList(field) && stored[name] !== ""}
                    help={helpOf({ name, label, field })}
                    error={errorOf(name)}
                    picker={field.ark === true || field.link === true}
                    {...linesFor(name, isList(field), texts[name]!)}
                    {...(field.date === true && /^(?:\d{4}-\d\d-\d\d)?$/.test(texts[name]!)
                      ? { type: "date" as const }
                      : {})}
                  />
                )}
                {conflicts.has(name) && (
                  <p>
                    <label>
                      <input type="checkbox" name="theirs" value={name} /> Use the other text for{" "}
                      {label.toLowerCase()}
                    </label>
                  </p>
                )}
              </>
            )}
          </Questions>
          {left.length > 0 && (
            <p class="quiet">
              Not in this form, because of their parts: {left.map(({ label }) => label).join(", ")}.
              They stay as they are; <a href="/help/updates">programs can change them</a>.
            </p>
          )}
          <p class="actions">
            <button>{since ? "Save the merged record" : "Save"}</button>
            <a href={recordPath(record.id)}>Cancel</a>
          </p>
        </Form>
        <datalist id="picker-options" />
      </>
    ),
  };
}

function linesFor(name: string, list: boolean, text: string): { lines?: number } {
  if (list) return { lines: Math.max(3, Math.min(10, text.split("\n").length)) };
  return name === "description" || text.includes("\n") ? { lines: 5 } : {};
}

const isConflict = ({ before, now, typed }: Since["changes"][number]): boolean =>
  typed !== before && typed !== now;

/** What somebody else has changed meanwhile, beside what was typed. */
function Others({ since: { by, changes } }: { since: Since }) {
  return (
    <>
      <Notice tone="warning">
        <p>
          {by?.by ? <RecordLink record={by.by.record ?? { id: by.by.text }} /> : "Somebody"} has
          changed this record since you opened the form
          {by && (
            <>
              {" ("}
              <When at={by.at} minute />)
            </>
          )}
          . Nothing is saved yet, and nothing that you typed is lost: the form below has both
          changes. Look at it, and save it.
        </p>
      </Notice>
      <div class="scroll" tabIndex={0} role="region" aria-label="Changes by others">
        <table class="wide differences">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Before</th>
              <th scope="col">Changed by others</th>
              <th scope="col">Yours</th>
            </tr>
          </thead>
          <tbody>
            {changes.map((change) => (
              <tr class={isConflict(change) ? "conflict" : undefined}>
                <th scope="row">{labelOf(change.name)}</th>
                {[change.before, change.now, change.typed].map((text) => (
                  <td class="text" dir="auto">
                    {shortened(text, 2000)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

async function show(request: PageRequest): Promise<Page | Redirect> {
  const first = signInFirst(request);
  if (first) return first;
  const id = request.param("ark");
  const record = changeable(id, (await request.ask(EditDocument, { id })).record);
  if (record.kind === "USER") return { redirect: "/my/profile" };
  return editPage(request, {
    record,
    texts: textsOf(questionsFor(record), record.document as JsonObject),
  });
}

async function save(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form, param, viewer } = request;
  const id = param("ark");
  if (!viewer)
    throw new ServiceError(
      "NOT_AUTHENTICATED",
      "Your session has ended. Sign in again: what you typed is kept in this tab.",
    );
  const expected = Number(form.get("expected"));
  const answer = await ask(EditSinceDocument, { id, revision: expected });
  const record = changeable(id, answer.record);
  const questions = questionsFor(record);
  const stored = record.document as JsonObject;
  const now = textsOf(questions, stored);
  const before = textsOf(questions, (answer.revision?.document ?? {}) as JsonObject);
  const typed: Record<string, string> = { ...typedIn(questions, form) };
  for (const name of form.getAll("theirs")) if (Object.hasOwn(now, name)) typed[name] = now[name]!;
  const changes = Object.keys(now)
    .filter((name) => now[name] !== (before[name] ?? ""))
    .map((name) => ({
      name,
      before: before[name] ?? "",
      now: now[name]!,
      typed: typed[name] ?? "",
    }));
  // Both changes together: what was typed, and what others changed where nothing was typed.
  const merged: Record<string, string> = { ...now };
  for (const [name, text] of Object.entries(typed))
    if (Object.hasOwn(now, name) && text !== (before[name] ?? "")) merged[name] = text;
  if (record.revision !== expected && changes.length > 0)
    return editPage(request, {
      record,
      texts: merged,
      since: { by: answer.revisions.nodes[0], changes },
    });
  const patch: Record<string, JsonValue> = {};
  for (const question of questions) {
    const { name } = question;
    if (Object.hasOwn(now, name) && merged[name] !== now[name])
      patch[name] = valueOf(question, merged[name]!, stored[name]);
  }
  if (Object.keys(patch).length === 0) return { redirect: recordPath(id) };
  try {
    const { updateRecord: changed } = await ask(ChangeRecordDocument, {
      input: { id, patch, expectedRevision: record.revision },
    });
    // A change that came to nothing made no revision.
    const steps = changed.revision === record.revision ? [] : [{ id, revision: changed.revision }];
    const undo = sealedSteps(request.csrf, steps);
    return { redirect: withQuery(recordPath(id), { done: "edit", undo }) };
  } catch (error) {
    // Somebody was faster, by less than this request took.
    if (error instanceof ServiceError && error.code === "REVISION_MISMATCH") return save(request);
    return editPage(request, { record, texts: merged, problem: problemOf(error) });
  }
}

export const editRoutes: readonly Route[] = [{ path: "/edit/*ark", get: show, post: save }];
