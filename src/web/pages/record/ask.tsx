/** The page on which a reader asks for content that is not public, and what became of it. */
import { ServiceError } from "../../../errors.js";
import { nameText } from "../../../model/labels.js";
import { Field, Form, Notice, When } from "../../components.js";
import {
  type AccessDecisionFragment,
  AskPageDocument,
  OwnAccessDocument,
  RequestAccessDocument,
} from "../../documents.js";
import type { Page, PageRequest, Redirect, Route } from "../../page.js";
import { recordPath } from "../../paths.js";
import { NO_PROBLEM, type Problem, problemOf } from "../../problems.js";
import { RecordLink } from "../../record-components.js";
import { shortened } from "../../words.js";
import { signInFirst } from "../upload.js";
import { Back } from "./related.js";

/** The reader's own request for the content of a record. */
export async function ownAccess(
  { ask, viewer }: Pick<PageRequest, "ask" | "viewer">,
  record: string,
): Promise<AccessDecisionFragment | null> {
  if (!viewer) return null;
  return (await ask(OwnAccessDocument, { record })).accessRequests.nodes[0] ?? null;
}

/** Text of people: its lines as they wrote them. */
export const Lines = ({ text }: { text: string }) => (
  <>
    {text.split("\n").map((line) => (
      <p dir="auto">{line}</p>
    ))}
  </>
);

export function AccessNotice({ access }: { access: AccessDecisionFragment }) {
  const { state, until, message, askedAt, decidedAt } = access;
  return (
    <Notice tone={state === "GRANTED" ? "success" : "info"}>
      {state === "ASKED" && (
        <p>
          You asked for access on <When at={askedAt} />. Nobody has decided yet.
        </p>
      )}
      {state === "GRANTED" && (
        <p>
          You have access to the content
          {until !== null && (
            <>
              {" "}
              until <When at={until} minute />
            </>
          )}
          .
        </p>
      )}
      {state === "DECLINED" && (
        <p>
          Your request for access was declined on <When at={decidedAt} />.
        </p>
      )}
      {state === "REVOKED" && (
        <p>
          Your access was ended on <When at={decidedAt} />.
        </p>
      )}
      {state === "EXPIRED" && (
        <p>
          Your access ended on <When at={until} />.
        </p>
      )}
      {message !== null && <Lines text={message} />}
    </Notice>
  );
}

/** Where one asks; those who are not signed in do that first. */
export function AskLink({ id, signedIn }: { id: string; signedIn: boolean }) {
  const path = recordPath(id, "ask");
  return signedIn ? (
    <a href={path}>Ask for access</a>
  ) : (
    <a href={`/signin?to=${encodeURIComponent(path)}`}>Sign in to ask for access</a>
  );
}

async function askPage(request: PageRequest, problem: Problem = NO_PROBLEM): Promise<Page> {
  const { ask, param, csrf, form } = request;
  const { record } = await ask(AskPageDocument, { id: param("ark") });
  if (!record) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${param("ark")}.`);
  const access = await ownAccess(request, record.id);
  const isRefused = problem.form !== undefined || Object.keys(problem.fields).length > 0;
  return {
    status: isRefused ? 422 : 200,
    title: `Ask for access to ${shortened(nameText(record), 120)}`,
    section: "browse",
    body: (
      <>
        <Back record={record} />
        <h1>Ask for access</h1>
        {access && <AccessNotice access={access} />}
        {problem.form !== undefined && <Notice tone="danger">{problem.form}</Notice>}
        {access?.state !== "ASKED" && access?.state !== "GRANTED" && (
          <Form csrf={csrf} class="panel">
            <p>
              {record.owner ? (
                <>
                  <RecordLink record={record.owner} /> and those who act for them
                </>
              ) : (
                "Those who may change the record"
              )}{" "}
              see your name and your reason, and decide. You see the answer on the page of the
              record: no e-mail is sent.
            </p>
            <Field
              label="Reason"
              name="reason"
              value={form.get("reason") ?? ""}
              lines={5}
              required
              error={problem.fields["reason"]}
              help="What you need the content for; at most 2,000 characters."
            />
            <p class="actions">
              <button>Ask for access</button>
            </p>
          </Form>
        )}
      </>
    ),
  };
}

async function sendQuestion(request: PageRequest): Promise<Page | Redirect> {
  const { ask, param, form } = request;
  const record = param("ark");
  try {
    await ask(RequestAccessDocument, { record, reason: form.get("reason") ?? "" });
  } catch (error) {
    return askPage(request, problemOf(error));
  }
  return { redirect: recordPath(record) };
}

export const askRoutes: readonly Route[] = [
  {
    path: "/ask/*ark",
    get: async (request) => signInFirst(request) ?? askPage(request),
    post: async (request) => signInFirst(request) ?? sendQuestion(request),
  },
];
