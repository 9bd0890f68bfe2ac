import { ServiceError } from "../../errors.js";
import type { Field as ModelField } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { Csrf, Field, KindGlyph, Notice } from "../components.js";
import {
  CreateComputationDocument,
  CreateDatasetDocument,
  CreateOrganizationDocument,
  CreateProjectDocument,
  CreateSoftwareDocument,
} from "../documents.js";
import { kindText } from "../format.js";
import { labelOf } from "../labels.js";
import { type Page, type PageRequest, recordPath, type Redirect, type Route } from "../page.js";
import { problemOf } from "./account.js";
import { signInFirst } from "./upload.js";

type Input = Readonly<Record<string, unknown>>;

/** Kinds that people describe by hand, and how each is created. */
const CREATE: Partial<Record<KindName, (request: PageRequest, input: Input) => Promise<string>>> = {
  dataset: async ({ ask }, input) =>
    (await ask(CreateDatasetDocument, { input: input as never })).createDataset.id,
  software: async ({ ask }, input) =>
    (await ask(CreateSoftwareDocument, { input: input as never })).createSoftware.id,
  computation: async ({ ask }, input) =>
    (await ask(CreateComputationDocument, { input: input as never })).createComputation.id,
  project: async ({ ask }, input) =>
    (await ask(CreateProjectDocument, { input: input as never })).createProject.id,
  organization: async ({ ask }, input) =>
    (await ask(CreateOrganizationDocument, { input: input as never })).createOrganization.id,
};

export interface Question {
  name: string;
  label: string;
  field: ModelField;
}

/** Creates a record of a kind that people describe by hand. @returns its identifier */
export const createRecord = (request: PageRequest, kind: KindName, input: Input): Promise<string> =>
  CREATE[kind]!(request, input);

/** The fields that a form asks for, the required ones first; all come from the model. */
export function questionsOf(kind: KindName): Question[] {
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
    .map(([name, field]) => ({ name, label: labelOf(name), field }))
    .sort((a, b) => Number(b.field.required) - Number(a.field.required));
}

export const isList = ({ json }: ModelField): boolean => json !== "string";

/** The values of a list, one in a line. */
export const linesOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

function inputOf(kind: KindName, form: URLSearchParams, owner: string): Input {
  const input: Record<string, unknown> = { owner };
  for (const { name, field } of questionsOf(kind)) {
    const text = (form.get(name) ?? "").trim();
    const lines = linesOf(text);
    if (isList(field)) {
      if (lines.length > 0 || field.required) input[name] = lines;
    } else if (text !== "" || field.required) input[name] = text;
  }
  return input;
}

const LICENCE = "https://creativecommons.org/licenses/by/4.0/";

function kindIn({ params }: PageRequest): KindName {
  const kind = params["kind"]!;
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
  const title = `New ${kindText(kind).toLowerCase()}`;
  const questions = questionsOf(kind);
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
        <h1>{title}</h1>
        <p>{KINDS[kind].description}</p>
        {sentences.some(Boolean) && (
          <Notice tone="danger">{sentences.filter(Boolean).join(" ")}</Notice>
        )}
        <form method="post" data-keep={`new-${kind}`}>
          <Csrf token={csrf} />
          {questions.map(({ name, label, field }) => (
            <Field
              label={label}
              name={name}
              value={form.get(name) ?? (name === "license" && form.size === 0 ? LICENCE : "")}
              required={field.required && !isList(field)}
              help={`${field.description}${isList(field) ? " One per line." : ""}`}
              error={problem.fields[name]}
              picker={field.ark === true || field.link === true}
              {...(isList(field) ? { lines: 3 } : name === "description" ? { lines: 4 } : {})}
              {...(field.date === true ? { type: "date" as const } : {})}
            />
          ))}
          <p class="actions">
            <button>Create</button>
            <a href="/new">Another kind</a>
          </p>
        </form>
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
    const id = await createRecord(request, kind, inputOf(kind, form, viewer.id));
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
  { path: "/new/{kind}", get: (request) => formPage(request), post: create },
];
