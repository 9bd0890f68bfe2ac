/** One's own uploads. */
import { ServiceError } from "../../../errors.js";
import { Empty, Notice, Pager } from "../../components.js";
import type { Page, PageRequest, Route } from "../../page.js";
import { problemOf } from "../../problems.js";
import { MyUploadsDocument } from "../../documents.js";
import { own, pageOf } from "./frame.js";
import { Submissions, actOnSubmission } from "./submissions.js";

async function changeUploads(request: PageRequest): Promise<Page> {
  try {
    const done = await actOnSubmission(request);
    if (done === null) throw new ServiceError("BAD_REQUEST", "The form names no action.");
    return await uploads(request, { done });
  } catch (error) {
    const { form: sentence, fields } = problemOf(error);
    return uploads(request, {
      problem: [sentence, ...Object.values(fields)].filter(Boolean).join(" "),
    });
  }
}

interface Said {
  done?: string;
  problem?: string;
}

async function uploads({ ask, query, csrf }: PageRequest, said: Said = {}): Promise<Page> {
  const { submissions } = await ask(MyUploadsDocument, { after: query.get("after") });
  return pageOf(
    "My uploads",
    "/my/uploads",
    <section>
      {said.done !== undefined && <Notice tone="success">{said.done}</Notice>}
      {said.problem !== undefined && <Notice tone="danger">{said.problem}</Notice>}
      {submissions.nodes.length === 0 ? (
        <Empty title="You have uploaded nothing yet.">
          <p>
            <a href="/upload">Upload a folder or an archive.</a>
          </p>
        </Empty>
      ) : (
        <Submissions
          rows={submissions.nodes}
          actions={{ csrf, otherwise: <a href="/upload">send it again.</a> }}
        />
      )}
      <Pager path="/my/uploads" query={query} pageInfo={submissions.pageInfo} />
    </section>,
    said.problem === undefined ? 200 : 422,
  );
}

export const uploadsRoute: Route = {
  path: "/my/uploads",
  get: own((request) => uploads(request)),
  post: own(changeUploads),
};
