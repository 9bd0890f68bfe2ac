import { ServiceError } from "../../errors.js";
import type { KindName } from "../../model/kind.js";
import { CopyButton, Facts, Field, Form, Notice, Outside, Section } from "../components.js";
import { RecordLink } from "../record-components.js";
import { ReserveDocument, ReserveDoiDocument, type ReserveQuery } from "../documents.js";
import { nameText } from "../../model/labels.js";
import { kindText, shortened } from "../words.js";
import type { Page, PageRequest, Redirect, Route } from "../page.js";
import { recordPath } from "../paths.js";
import { problemOf } from "../problems.js";
import { createRecord } from "./edit.js";
import { signInFirst } from "./upload.js";

type Reserved = NonNullable<ReserveQuery["record"]>;

/** Kinds of things that people name before they have them. */
const KINDS_RESERVED: readonly KindName[] = ["dataset", "software"];
/** Stands until somebody describes the object. */
const LATER = "The identifier is reserved; the object is described later.";

/** Asks for a name, and makes a draft: its identifier is the reserved one. */
function reservePage(
  request: PageRequest,
  problem: { form?: string; fields: Readonly<Record<string, string>> } = { fields: {} },
): Page | Redirect {
  const first = signInFirst(request);
  if (first) return first;
  const { form, csrf } = request;
  const { name, ...others } = problem.fields;
  const sentences = [problem.form, ...Object.values(others)].filter(Boolean);
  return {
    status: sentences.length > 0 || name !== undefined ? 422 : 200,
    title: "Reserve an identifier",
    section: "upload",
    body: (
      <>
        <h1>Reserve an identifier</h1>
        <p>
          For a manuscript, a label or a script that must name an object before it exists. You get
          an ARK for good, and a draft that holds it: everybody can read its name, and you describe
          it and bring its files later.
        </p>
        {sentences.length > 0 && <Notice tone="danger">{sentences.join(" ")}</Notice>}
        <Form csrf={csrf} data-keep="reserve">
          <Field
            label="Name"
            name="name"
            value={form.get("name") ?? ""}
            required
            help="What it will be. You can change it later; the identifier stays."
            error={name}
          />
          <Field
            label="Kind"
            name="kind"
            value={form.get("kind") ?? KINDS_RESERVED[0]!}
            options={KINDS_RESERVED.map((kind) => [kind, kindText(kind)] as const)}
          />
          <p class="actions">
            <button>Reserve</button>
          </p>
        </Form>
        <p class="quiet">
          A crate gets its identifier when you <a href="/upload">upload</a> it, or states its own.
        </p>
      </>
    ),
  };
}

async function reserve(request: PageRequest): Promise<Page | Redirect> {
  const { viewer, form } = request;
  if (!viewer)
    throw new ServiceError(
      "NOT_AUTHENTICATED",
      "Your session has ended. Sign in again: what you typed is kept in this tab.",
    );
  const kind = KINDS_RESERVED.find((one) => one === form.get("kind"));
  const name = (form.get("name") ?? "").trim();
  if (name === "") return reservePage(request, { fields: { name: "Say what it will be." } });
  try {
    if (!kind) throw new ServiceError("BAD_REQUEST", "Choose a kind from the list.");
    const id = await createRecord(request, kind, {
      owner: viewer.id,
      name,
      description: LATER,
      keywords: [],
    });
    return { redirect: recordPath(id, "reserve") };
  } catch (error) {
    return reservePage(request, problemOf(error));
  }
}

/** The identifiers of a record: to copy, and a DOI to reserve. */
async function identifiersPage(request: PageRequest, problem?: string): Promise<Page | Redirect> {
  const first = signInFirst(request);
  if (first) return first;
  const { ask, param, base, csrf } = request;
  const id = param("ark");
  const { record } = await ask(ReserveDocument, { id });
  if (!record) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  return {
    status: problem === undefined ? 200 : 422,
    title: `Identifiers of ${shortened(nameText(record), 120)}`,
    section: "my",
    body: (
      <>
        <p class="crumb">
          <RecordLink record={record} glyph /> ›
        </p>
        <h1>Identifiers</h1>
        {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
        <div class="panel">
          <Facts
            rows={[
              ["ARK", <Copied text={record.id} />],
              ["Address", <Copied text={base + recordPath(record.id)} />],
              ["DOI", record.doi !== null && <Copied text={record.doi} />],
              [
                "DOI as an address",
                record.doi !== null && <Outside href={`https://doi.org/${record.doi}`} />,
              ],
            ]}
          />
        </div>
        <Doi record={record} csrf={csrf} />
        {record.mayChange && (
          <Section title="Next">
            <p class="actions">
              <a class="button" href={recordPath(record.id, "edit")}>
                Describe it
              </a>
              <a class="button secondary" href="/reserve">
                Reserve another identifier
              </a>
            </p>
          </Section>
        )}
      </>
    ),
  };
}

const Copied = ({ text }: { text: string }) => (
  <span class="identifier">
    <code>{text}</code> <CopyButton text={text} />
  </span>
);

function Doi({ record, csrf }: { record: Reserved; csrf: string | null }) {
  const { doiReservation: chance, publicationStatus } = record;
  if (chance === "WRONG_KIND") return null;
  return (
    <Section id="doi" title="DOI">
      {chance === "NO_SERVICE" ? (
        <p>
          This registry registers no DOIs: its operator sets <code>DATACITE_URL</code> and the
          settings beside it (<a href="/help/dois">how</a>). The ARK is as permanent, and leads to
          the record the same way.
        </p>
      ) : chance === "FORBIDDEN" ? (
        <p>Only those who may change the record reserve its DOI.</p>
      ) : (
        <>
          <p>
            {chance === "RESERVED"
              ? "It is reserved, and the record states it. "
              : "The record states it from then on. "}
            {publicationStatus === "DRAFT"
              ? "Nobody finds it yet: it becomes findable when you publish the record, for good."
              : "It is findable while the record is published, and follows its changes."}
          </p>
          <Form csrf={csrf}>
            <button class={chance === "RESERVED" ? "secondary" : undefined}>
              {chance === "RESERVED" ? "Register again" : "Reserve a DOI"}
            </button>
          </Form>
        </>
      )}
    </Section>
  );
}

async function reserveDoi(request: PageRequest): Promise<Page | Redirect> {
  const id = request.param("ark");
  try {
    await request.ask(ReserveDoiDocument, { id });
  } catch (error) {
    const { form, fields } = problemOf(error);
    return identifiersPage(request, [form, ...Object.values(fields)].filter(Boolean).join(" "));
  }
  return { redirect: recordPath(id, "reserve") };
}

export const reserveRoutes: readonly Route[] = [
  { path: "/reserve", get: async (request) => reservePage(request), post: reserve },
  {
    path: "/reserve/*ark",
    get: (request) => identifiersPage(request),
    post: reserveDoi,
  },
];
