import { nameText } from "../../model/labels.js";
import { ServiceError } from "../../errors.js";
import { Form, Identifier, Notice, Section, When } from "../components.js";
import { StatusBadge } from "../record-components.js";
import {
  CancelUploadDocument,
  PublishRecordDocument,
  RetryUploadDocument,
  UploadDocument,
  type UploadedCrateQuery,
  UploadedCrateDocument,
  type UploadQuery,
} from "../documents.js";
import { countText, kindText, tomorrow } from "../words.js";
import type { Page, PageRequest, Redirect, Route } from "../page.js";
import { recordPath, withQuery } from "../paths.js";
import { Findings } from "../findings.js";
import { problemOf } from "../problems.js";

/** Asks for an account first, and comes back. */
export function signInFirst({ req, viewer }: PageRequest): Redirect | undefined {
  return viewer ? undefined : { redirect: `/signin?to=${encodeURIComponent(req.url ?? "/")}` };
}

async function uploadPage(request: PageRequest, problem?: string): Promise<Page> {
  const { viewer, csrf, query } = request;
  const crate = query.get("crate") ?? "";
  return {
    status: problem === undefined ? 200 : 422,
    title: "Upload",
    description:
      "Bring a folder or an RO-Crate: every file gets an identifier and keeps its origin.",
    section: "upload",
    scripts: viewer ? ["upload"] : [],
    body: (
      <>
        <h1>{crate === "" ? "Upload" : "Upload a new version"}</h1>
        <p>
          Bring a folder or a zip archive. With a file <code>ro-crate-metadata.json</code> it is an{" "}
          <a href="https://www.researchobject.org/ro-crate/" rel="noopener">
            RO-Crate
          </a>{" "}
          and is registered as it describes itself; without one, you name it here. Nothing is stored
          before you have seen what will happen.
        </p>
        {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
        {viewer ? (
          <UploadForm
            csrf={csrf}
            crate={crate}
            emptyLinked={query.get("emptyLinked") === "true"}
            isPrivate={request.privateUploads}
          />
        ) : (
          <Notice>
            <p>An upload belongs to an account: sign in first, or create one.</p>
            <p class="actions">
              <a class="button" href="/signin?to=%2Fupload">
                Sign in
              </a>
              <a class="button secondary" href="/signup?to=%2Fupload">
                Create an account
              </a>
            </p>
          </Notice>
        )}
        <Section title="Other ways">
          <ul>
            <li>
              <a href="/new">Describe a single object</a> by a form: a dataset, software, a
              computation.
            </li>
            <li>
              In a terminal: <code>arkgraph upload crate.zip</code> (<a href="/help">help</a>).
            </li>
            <li>
              <a href="/my/uploads">Your earlier uploads</a>, with their messages.
            </li>
          </ul>
        </Section>
      </>
    ),
  };
}

/** Works as a plain form; the script adds folders, the plan and the progress. */
function UploadForm({
  csrf,
  crate,
  emptyLinked,
  isPrivate,
}: {
  csrf: string | null;
  crate: string;
  emptyLinked: boolean;
  isPrivate: boolean;
}) {
  return (
    <div
      id="upload"
      data-csrf={csrf}
      data-crate={crate}
      data-empty-linked={emptyLinked ? "true" : undefined}
    >
      <Form
        csrf={csrf}
        id="upload-form"
        action={withQuery("/upload", { crate, emptyLinked: emptyLinked ? "true" : "" })}
        encType="multipart/form-data"
      >
        {/* Before the file: it is read before anything of the file is stored. */}
        {crate === "" && (
          <p>
            <label>
              <input type="checkbox" id="private" name="private" checked={isPrivate} /> Private:
              until you publish it, only those see it who may change it
            </label>
          </p>
        )}
        <div class="drop" id="drop">
          <p class="drop-title" data-script hidden>
            <strong>Drop a folder, files or a zip archive here</strong>
          </p>
          <p class="actions">
            <label class="file-label" for="file">
              Archive (zip)
            </label>
            <input id="file" type="file" name="file" accept=".zip,.eln,application/zip" required />
            <button type="button" id="choose-folder" class="secondary" data-script hidden>
              Choose a folder
            </button>
            <input id="folder" type="file" multiple hidden aria-label="Folder" />
          </p>
        </div>
        {crate !== "" && (
          <Notice>
            The upload becomes a new version of <code>{crate}</code>: changed records get another
            revision, missing ones are deleted. Earlier revisions stay.
            {emptyLinked &&
              " It may remove every statement of crates within it that are registered by themselves."}
          </Notice>
        )}
        <p class="actions" id="send-plain">
          <button>Upload</button>
        </p>
      </Form>
      <div id="steps" aria-live="polite" />
    </div>
  );
}

async function upload(request: PageRequest): Promise<Page | Redirect> {
  const { viewer, query } = request;
  if (!viewer) throw new ServiceError("NOT_AUTHENTICATED", "Sign in to upload.");
  try {
    const crate = query.get("crate");
    const id = await request.uploadCrate({
      update: crate !== null,
      emptyLinked: query.get("emptyLinked") === "true",
      ...(crate === null ? {} : { crate }),
    });
    return { redirect: withQuery(`/upload/${id}`, { crate: crate ?? "" }) };
  } catch (error) {
    if (error instanceof ServiceError && error.code === "CSRF_REFUSED") throw error;
    const { form, fields } = problemOf(error);
    return uploadPage(request, [form, ...Object.values(fields)].filter(Boolean).join(" "));
  }
}

type Submission = UploadQuery["submission"];
type Crate = NonNullable<UploadedCrateQuery["roCrate"]>;

async function progressPage(request: PageRequest, problem?: string): Promise<Page | Redirect> {
  const { ask, param } = request;
  const first = signInFirst(request);
  if (first) return first;
  const { submission } = await ask(UploadDocument, { id: param("id") });
  const crate =
    submission.success && submission.task === "CRATE" && submission.record
      ? (await ask(UploadedCrateDocument, { id: submission.record.id })).roCrate
      : null;
  const title = submission.success
    ? "Your crate is here"
    : submission.completed
      ? "The upload failed"
      : "Your crate is on its way";
  return {
    title,
    section: "upload",
    scripts: submission.completed ? [] : ["submission"],
    ...(submission.completed ? {} : { headers: { Refresh: "5" } }),
    body: (
      <>
        <h1>{title}</h1>
        {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
        {crate ? (
          <Arrived crate={crate} submission={submission} csrf={request.csrf} />
        ) : submission.completed ? (
          <Failed
            submission={submission}
            csrf={request.csrf}
            crate={request.query.get("crate") ?? ""}
          />
        ) : (
          <Underway submission={submission} csrf={request.csrf} />
        )}
        <Findings title="Advice" findings={submission.warnings} />
      </>
    ),
  };
}

function Arrived(props: { crate: Crate; submission: Submission; csrf: string | null }) {
  const { crate, submission, csrf } = props;
  return (
    <>
      <div class="panel">
        <h2>
          <a href={recordPath(crate.id)}>
            <bdi>{nameText(crate)}</bdi>
          </a>{" "}
          <StatusBadge
            status={crate.publicationStatus}
            visibility={crate.visibility}
            embargoEndsAt={crate.embargoEndsAt}
          />
        </h2>
        <p>
          <Identifier id={crate.id} />
        </p>
        <p>
          {crate.recordCounts
            .map(
              ({ kind, count }) =>
                `${countText(count)} ${kindText(kind, count !== 1).toLowerCase()}`,
            )
            .join(", ")}
          {submission.timeFinished && (
            <>
              {" · arrived "}
              <When at={submission.timeFinished} minute />
            </>
          )}
        </p>
        <p class="actions">
          <a class="button" href={recordPath(crate.id)}>
            Open the crate
          </a>
          <a class="button secondary" href="/upload">
            Upload another
          </a>
        </p>
      </div>
      {crate.publicationStatus === "DRAFT" && (
        <Section title="Share it">
          <p>
            {crate.visibility === "PRIVATE"
              ? "The crate is a private draft: only you and your group see it."
              : "The crate is an open draft: everyone can read its description, only you and your group can download its files."}{" "}
            Publishing opens it for everyone, for ever.
          </p>
          <Form csrf={csrf} class="row">
            <input type="hidden" name="id" value={crate.id} />
            <button name="status" value="PUBLISHED">
              Publish
            </button>
          </Form>
          {/* A form of its own: Enter in the date must not publish. */}
          <Form csrf={csrf} class="row">
            <input type="hidden" name="id" value={crate.id} />
            <label for="until">or embargo until</label>
            <input id="until" name="until" type="date" min={tomorrow()} max="9999-12-31" required />
            <button class="secondary" name="status" value="EMBARGOED">
              Embargo
            </button>
          </Form>
        </Section>
      )}
    </>
  );
}

/** `crate`: the one that the upload was a new version of. */
function Failed({
  submission,
  csrf,
  crate,
}: {
  submission: Submission;
  csrf: string | null;
  crate: string;
}) {
  const isEmptying = submission.error?.some(({ code }) => code === "CRATE_EMPTIED");
  return (
    <>
      <Notice tone="danger">
        <p>
          Nothing of the archive was registered. Correct what is named here, and upload it again.
        </p>
      </Notice>
      <Findings title="What to correct" findings={submission.error ?? []} />
      <div class="actions">
        <a class="button" href={withQuery("/upload", { crate })}>
          Upload again
        </a>
        {crate !== "" && isEmptying && (
          <a class="button secondary" href={withQuery("/upload", { crate, emptyLinked: "true" })}>
            Upload again and remove these statements
          </a>
        )}
        {submission.retryable && (
          <Form csrf={csrf} class="inline">
            <button class="secondary" name="action" value="retry">
              Retry with the same archive
            </button>
          </Form>
        )}
      </div>
      {submission.retryable && (
        <p class="quiet">
          A retry helps where the archive was not at fault: an identifier has become free, or the
          registry was short of memory or time. The archive stays stored for a short while only.
        </p>
      )}
    </>
  );
}

const progressText = ({ done, total, unit }: NonNullable<Submission["progress"]>): string =>
  `${countText(done)}${total === null ? "" : ` of ${countText(total)}`} ${unit}`;

function Underway({ submission, csrf }: { submission: Submission; csrf: string | null }) {
  const { progress, stage, id } = submission;
  return (
    <div class="panel" id="submission" data-id={id}>
      <p>
        <strong id="stage">{stage ?? "waiting for its turn"}</strong>{" "}
        <span id="count" class="quiet">
          {progress && progressText(progress)}
        </span>
      </p>
      <progress
        id="bar"
        aria-label="Progress"
        {...(progress?.total ? { value: progress.done, max: progress.total } : {})}
      />
      <p class="quiet">You can leave this page: the upload goes on, and is listed in your work.</p>
      <Form csrf={csrf}>
        <button
          class="danger"
          name="action"
          value="cancel"
          data-confirm="Cancel the upload? What was sent so far is dropped."
        >
          Cancel the upload
        </button>
      </Form>
    </div>
  );
}

async function act(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form, param } = request;
  const id = param("id");
  try {
    const action = form.get("action");
    if (action === "retry") {
      const { retrySubmission } = await ask(RetryUploadDocument, { id });
      return { redirect: `/upload/${retrySubmission.submission.id}` };
    }
    if (action === "cancel") await ask(CancelUploadDocument, { id });
    else {
      const status = form.get("status") === "EMBARGOED" ? "EMBARGOED" : "PUBLISHED";
      await ask(PublishRecordDocument, {
        id: form.get("id") ?? "",
        publicationStatus: status,
        embargoedUntil: status === "EMBARGOED" ? (form.get("until") ?? "") : null,
      });
    }
  } catch (error) {
    const { form: sentence, fields } = problemOf(error);
    return progressPage(request, [sentence, ...Object.values(fields)].filter(Boolean).join(" "));
  }
  return { redirect: `/upload/${id}` };
}

export const uploadRoutes: readonly Route[] = [
  { path: "/upload", get: (request) => uploadPage(request), post: upload, takesFile: true },
  { path: "/upload/:id", get: (request) => progressPage(request), post: act },
];
