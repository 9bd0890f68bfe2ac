/** Reviewers' links: those of a record, and what their readers open. */
import { ServiceError } from "../../../errors.js";
import { nameText } from "../../../model/labels.js";
import {
  CopyButton,
  Empty,
  EntryTable,
  Field,
  Form,
  Notice,
  Section,
  When,
} from "../../components.js";
import {
  CreateReviewLinkDocument,
  RevokeReviewLinkDocument,
  ReviewLinksDocument,
  type ReviewLinksQuery,
} from "../../documents.js";
import type { Page, PageRequest, Redirect, Route } from "../../page.js";
import { recordPath } from "../../paths.js";
import { NO_PROBLEM, type Problem, problemOf } from "../../problems.js";
import { shortened } from "../../words.js";
import { Back } from "./related.js";

type Links = ReviewLinksQuery["reviewLinks"];

interface Shown {
  /** Of a link that was made just now. */
  address?: string;
  done?: string;
  problem?: Problem;
}

async function linksPage(request: PageRequest, shown: Shown = {}): Promise<Page> {
  const { ask, param, csrf, form } = request;
  const id = param("ark");
  const { record, reviewLinks } = await ask(ReviewLinksDocument, { id });
  if (!record) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  const { address, done, problem = NO_PROBLEM } = shown;
  return {
    title: `Review links of ${shortened(nameText(record), 120)}`,
    section: "browse",
    headers: { "Cache-Control": "no-store" },
    ...(problem === NO_PROBLEM ? {} : { status: 422 }),
    body: (
      <>
        <Back record={record} />
        <h1>Review links</h1>
        <p>
          Anyone with a review link reads this record, its files and its evidence without an
          account, and those of its members if it is a crate. A link changes nothing, and ends by
          itself.
        </p>
        {done && (
          <Notice tone="success">
            <p>{done}</p>
          </Notice>
        )}
        {problem.form && (
          <Notice tone="danger">
            <p>{problem.form}</p>
          </Notice>
        )}
        {address && (
          <Notice tone="success">
            <p>Send this address to the reviewers. It is shown only now.</p>
            <p>
              <code>{address}</code> <CopyButton text={address} label="Copy: Review link" />
            </p>
          </Notice>
        )}
        <Section title="Links" count={reviewLinks.length}>
          {reviewLinks.length > 0 ? (
            <LinkTable links={reviewLinks} csrf={csrf} />
          ) : (
            <Empty title="No link reads this record.">
              <p>Make one below, and send its address to the reviewers.</p>
            </Empty>
          )}
        </Section>
        <Section title="A new link">
          <Form csrf={csrf}>
            <Field
              label="Ends on"
              name="expires"
              type="date"
              value={form.get("expires") ?? ""}
              help="Left empty, it ends after 90 days."
              error={problem.fields["expiresAt"]}
            />
            {record.visibility === "PRIVATE" && (
              <fieldset>
                <legend>Names</legend>
                <label class="choice">
                  <input
                    type="checkbox"
                    name="anonymous"
                    value="yes"
                    checked={form.get("anonymous") !== null}
                  />{" "}
                  Hide who made it: owner, authors, affiliations, contacts, ORCID iDs and e-mail
                  addresses. The contents and names of files, and names within texts, stay as they
                  are.
                </label>
              </fieldset>
            )}
            {problem.fields["anonymous"] && <p class="error">{problem.fields["anonymous"]}</p>}
            <button name="action" value="create">
              Create a link
            </button>
          </Form>
        </Section>
      </>
    ),
  };
}

function LinkTable({ links, csrf }: { links: Links; csrf: string | null }) {
  return (
    <EntryTable
      rows={links}
      columns={[
        [
          "Created",
          ({ createdAt, anonymous }) => (
            <>
              <When at={createdAt} minute />
              {anonymous && " · anonymous"}
            </>
          ),
        ],
        ["Ends", ({ expiresAt }) => <When at={expiresAt} />],
        ["Uses", ({ uses }) => uses],
        ["Last used", ({ usedAt }) => (usedAt ? <When at={usedAt} minute /> : "never")],
        [
          "Action",
          ({ link }) => (
            <Form csrf={csrf}>
              <input type="hidden" name="link" value={link} />
              <button
                class="danger"
                name="action"
                value="revoke"
                data-confirm="Revoke this link? Who has it cannot read the record by it any more."
              >
                Revoke
              </button>
            </Form>
          ),
        ],
      ]}
    />
  );
}

async function changeLinks(request: PageRequest): Promise<Page> {
  const { ask, form, param } = request;
  const id = param("ark");
  try {
    if (form.get("action") === "revoke") {
      await ask(RevokeReviewLinkDocument, { input: { id, link: form.get("link") ?? "" } });
      return await linksPage(request, { done: "The link was revoked." });
    }
    const { createReviewLink } = await ask(CreateReviewLinkDocument, {
      input: {
        id,
        expiresAt: form.get("expires") || null,
        anonymous: form.get("anonymous") !== null,
      },
    });
    form.delete("expires");
    return await linksPage(request, { address: createReviewLink.address });
  } catch (error) {
    return linksPage(request, { problem: problemOf(error) });
  }
}

/** The secret goes into a cookie, so that no address of a page has it. */
async function openLink({ param, openReview }: PageRequest): Promise<Redirect> {
  return { redirect: recordPath(await openReview(param("secret"))) };
}

async function endReading({ endReview }: PageRequest): Promise<Redirect> {
  endReview();
  return { redirect: "/" };
}

export const reviewRoutes: readonly Route[] = [
  { path: "/reviewers/*ark", get: (request) => linksPage(request), post: changeLinks },
  { path: "/review/end", get: async () => ({ redirect: "/" }), post: endReading },
  { path: "/review/:secret", get: openLink },
];
