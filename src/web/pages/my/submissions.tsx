/** Lists of submissions, with forms that cancel and retry them. */
import type { ComponentChildren } from "preact";
import { Form, When } from "../../components.js";
import { RecordLink } from "../../record-components.js";
import { counted } from "../../words.js";
import type { PageRequest } from "../../page.js";
import { recordPath } from "../../paths.js";
import {
  CancelUploadDocument,
  RetryUploadDocument,
  type SubmissionRowFragment,
} from "../../documents.js";

/** What a submission does, and where its result is. */
function subjectOf(row: SubmissionRowFragment): { text: string; href: string | null } {
  const href = row.task === "CRATE" ? `/upload/${row.id}` : row.record && recordPath(row.record.id);
  return { text: TASKS[row.task], href };
}

const TASKS: Readonly<Record<SubmissionRowFragment["task"], string>> = {
  CRATE: "Upload of a crate",
  COMPUTATION: "Run of a computation",
  EVIDENCE_GRAPH: "Evidence graph",
  SCORE: "AI-readiness score",
  DOI: "Registration of a DOI",
  EMBEDDINGS: "Vectors for search",
};

/** What a form sends about a submission. */
interface SubmissionActions {
  csrf: string | null;
  /** What is to be done where an archive is not stored any more. */
  otherwise: ComponentChildren;
}

/** Who submitted it is known to administrators. */
type Row = SubmissionRowFragment & { submittedBy?: { id: string; name: string | null } | null };

/** @param actions a form cancels one that has not ended, and retries one that failed; absent: none */
export function Submissions({
  rows,
  actions,
}: {
  rows: readonly Row[];
  actions?: SubmissionActions | undefined;
}) {
  const isOfAll = rows.some((row) => row.submittedBy);
  const acting = rows.some((row) => !row.success) ? actions : undefined;
  return (
    <div class="scroll">
      <table class="stack entries submissions">
        <thead>
          <tr>
            <th scope="col">Began</th>
            <th scope="col">What</th>
            {isOfAll && <th scope="col">By</th>}
            <th scope="col">State</th>
            <th scope="col">Result</th>
            {acting && <th scope="col">Action</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const { text, href } = subjectOf(row);
            return (
              <tr>
                <td data-label="Began">
                  <When at={row.timeStarted} minute />
                </td>
                <td data-label="What">{href === null ? text : <a href={href}>{text}</a>}</td>
                {isOfAll && (
                  <td data-label="By">
                    {row.submittedBy && <RecordLink record={row.submittedBy} />}
                  </td>
                )}
                <td data-label="State">
                  {row.success ? "arrived" : row.completed ? "failed" : (row.stage ?? "waiting")}
                </td>
                <td data-label="Result">
                  {row.success && row.record && <RecordLink record={row.record} glyph />}
                  {row.error?.[0] && <bdi>{row.error[0].message}</bdi>}
                  {(row.error?.length ?? 0) > 1 &&
                    ` and ${counted(row.error!.length - 1, "more message")}`}
                  {row.success && row.warnings.length > 0 && (
                    <span class="quiet">
                      {" "}
                      {counted(row.warnings.length, "piece of advice", "pieces of advice")}
                    </span>
                  )}
                </td>
                {acting && (
                  <td>
                    <SubmissionAction row={row} actions={acting} />
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function SubmissionAction({
  row,
  actions: { csrf, otherwise },
}: {
  row: SubmissionRowFragment;
  actions: SubmissionActions;
}) {
  const isUpload = row.task === "CRATE";
  if (row.completed && !row.retryable)
    return !row.success && isUpload ? (
      <span class="quiet">The archive is not stored any more: {otherwise}</span>
    ) : null;
  return (
    <Form csrf={csrf}>
      <input type="hidden" name="submission" value={row.id} />
      {row.completed ? (
        <button class="secondary" name="action" value="retry">
          Retry
        </button>
      ) : (
        <button
          class="danger"
          name="action"
          value="cancel"
          data-confirm="Cancel it? What was sent so far is dropped."
        >
          Cancel
        </button>
      )}
    </Form>
  );
}

/** Does what a form of {@link Submissions} asks. @returns what to say; null for another form */
export async function actOnSubmission({ ask, form }: PageRequest): Promise<string | null> {
  const id = form.get("submission") ?? "";
  switch (form.get("action")) {
    case "cancel":
      await ask(CancelUploadDocument, { id });
      return "The submission is cancelled.";
    case "retry":
      await ask(RetryUploadDocument, { id });
      return "The archive is on its way again, as a new submission.";
    default:
      return null;
  }
}
