/** Requests for access to content: those that one decides, what one has granted, and one's own. */
import { Empty, Field, Form, Notice, Section, When } from "../../components.js";
import { type AccessRowFragment, DecideAccessDocument, MyAccessDocument } from "../../documents.js";
import type { Page, PageRequest, Redirect, Route } from "../../page.js";
import { NO_PROBLEM, type Problem, problemOf } from "../../problems.js";
import { RecordLink } from "../../record-components.js";
import { countText, tomorrow } from "../../words.js";
import { Lines } from "../record/ask.js";
import { own, pageOf } from "./frame.js";

async function accessPage(request: PageRequest, problem: Problem = NO_PROBLEM): Promise<Page> {
  const { ask, csrf, form } = request;
  const { open, granted, made } = await ask(MyAccessDocument, {});
  const isRefused = problem.form !== undefined || Object.keys(problem.fields).length > 0;
  return pageOf(
    "Access to your files",
    "/my/access",
    <>
      {problem.form !== undefined && <Notice tone="danger">{problem.form}</Notice>}
      <Section title="Requests" count={countText(open.totalCount)}>
        {open.nodes.length === 0 ? (
          <Empty title="Nobody waits for an answer.">
            <p>
              Readers may ask for the content of your drafts, embargoed and archived records. You
              grant it to one person, and may end it at any time.
            </p>
          </Empty>
        ) : (
          open.nodes.map((row) => (
            <Open
              row={row}
              csrf={csrf}
              sent={form.get("id") === row.id ? form : new URLSearchParams()}
              problem={form.get("id") === row.id ? problem : NO_PROBLEM}
            />
          ))
        )}
        <More shown={open.nodes.length} all={open.totalCount} />
      </Section>
      {granted.nodes.length > 0 && (
        <Section title="Who has access" count={countText(granted.totalCount)}>
          <ul>
            {granted.nodes.map((row) => (
              <li>
                <RecordLink record={row.requester} />: <RecordLink record={row.record} glyph />
                {row.until !== null && (
                  <>
                    , until <When at={row.until} minute />
                  </>
                )}{" "}
                <Form csrf={csrf} class="inline">
                  <input type="hidden" name="id" value={row.id} />
                  <button class="link" name="action" value="revoke">
                    Revoke
                  </button>
                </Form>
              </li>
            ))}
          </ul>
          <More shown={granted.nodes.length} all={granted.totalCount} />
        </Section>
      )}
      {made.nodes.length > 0 && (
        <Section title="What you asked for" count={countText(made.totalCount)}>
          <ul>
            {made.nodes.map((row) => (
              <li>
                <RecordLink record={row.record} glyph />: {STATES[row.state]}
              </li>
            ))}
          </ul>
          <More shown={made.nodes.length} all={made.totalCount} />
        </Section>
      )}
    </>,
    isRefused ? 422 : 200,
  );
}

const STATES = {
  ASKED: "not decided yet",
  GRANTED: "you have access",
  DECLINED: "declined",
  REVOKED: "your access was ended",
  EXPIRED: "your access has ended",
} as const;

function More({ shown, all }: { shown: number; all: number }) {
  return all > shown ? <p class="quiet">and {countText(all - shown)} more</p> : null;
}

interface OpenProps {
  row: AccessRowFragment;
  csrf: string | null;
  /** What was sent about this one. */
  sent: URLSearchParams;
  problem: Problem;
}

function Open({ row, csrf, sent, problem }: OpenProps) {
  return (
    <article class="panel">
      <h3>
        <RecordLink record={row.record} glyph />
      </h3>
      <p>
        <RecordLink record={row.requester} /> asked on <When at={row.askedAt} />:
      </p>
      <blockquote>
        <Lines text={row.reason} />
      </blockquote>
      <Form csrf={csrf}>
        <input type="hidden" name="id" value={row.id} />
        <Field
          id={`until-${row.id}`}
          label="Until"
          name="until"
          type="date"
          min={tomorrow()}
          value={sent.get("until") ?? ""}
          error={problem.fields["until"]}
          help="The access ends when that day begins, UTC. Empty: it has no end."
        />
        <Field
          id={`message-${row.id}`}
          label="Message"
          name="message"
          value={sent.get("message") ?? ""}
          lines={2}
          error={problem.fields["message"]}
          help="The reader sees it."
        />
        <p class="actions">
          <button name="action" value="grant">
            Grant
          </button>
          <button class="secondary" name="action" value="decline">
            Decline
          </button>
        </p>
      </Form>
    </article>
  );
}

async function decide(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form } = request;
  const textOf = (name: string): string | null => form.get(name)?.trim() || null;
  const grant = form.get("action") === "grant";
  try {
    await ask(DecideAccessDocument, {
      id: form.get("id") ?? "",
      grant,
      until: grant ? textOf("until") : null,
      message: textOf("message"),
    });
  } catch (error) {
    return accessPage(request, problemOf(error));
  }
  return { redirect: "/my/access" };
}

export const accessRoute: Route = {
  path: "/my/access",
  get: own((request) => accessPage(request)),
  post: own(decide),
};
