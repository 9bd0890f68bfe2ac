import { ComputationResolver } from "../graphql/resolvers/computation-resolver.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { CrateResolver } from "../graphql/resolvers/crate-resolver.js";
import { sendJson } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import type { JsonObject } from "../model/field.js";
import {
  arkPath,
  type ContractRow,
  FIND_REFUSALS,
  json,
  path,
  schemaRef,
  WRITE_REFUSALS,
} from "./contract/rows.js";
import { QUEUED } from "./crates.js";
import { arkOf, type Handlers } from "./request.js";

const COMPUTATION = EXAMPLES.computation["@id"] as string;
const RUN: JsonObject = { ...QUEUED, sha256: null, computationIdentifier: COMPUTATION };
const ENDED: JsonObject = {
  ...RUN,
  status: "finished",
  stage: "committing",
  timeStarted: "2024-05-03T08:00:00Z",
  timeFinished: "2024-05-03T08:42:00Z",
  completed: true,
  success: true,
  identifiersMinted: 2,
};

export const COMPUTATIONS: readonly ContractRow[] = [
  {
    method: "put",
    path: "/computation/execute/ark:{NAAN}/{postfix}",
    operationId: "execute_computation",
    tag: "records",
    summary: "Run the container of a computation",
    description:
      "Anyone with write access to the computation and read access to its inputs may run " +
      "it. The run is a background job: poll `GET " +
      "/computation/execute/status/{submissionUUID}` until `completed`. The files that " +
      "it writes to `/outputs` become a dataset and its files, and the computation's " +
      "next revision names them in `generated`. While a run of yours is queued or " +
      "running, that run is returned. A registry without a container engine refuses with " +
      "`NO_CONTAINER_ENGINE` and changes nothing.",
    parameters: arkPath(COMPUTATION),
    answer: {
      description: "The run, as a submission to poll.",
      content: json(schemaRef("Submission"), RUN),
    },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...FIND_REFUSALS, "NO_CONTAINER_ENGINE"],
  },
  {
    method: "get",
    path: "/computation/execute/status/{submissionUUID}",
    operationId: "execution_status",
    tag: "records",
    summary: "Status of a run",
    description:
      "For its submitter and administrators. A failed run reports the exit status and " +
      "the end of what the command printed.",
    parameters: [
      path(
        "submissionUUID",
        "The submissionUUID that the execution returned.",
        { type: "string" },
        QUEUED["submissionUUID"] as string,
      ),
    ],
    answer: { description: "The submission.", content: json(schemaRef("Submission"), ENDED) },
    token: "required",
    refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN", "NOT_FOUND"],
  },
];

const computations = new ComputationResolver();
const submissions = new CrateResolver();
const FRESH = { headers: { "Cache-Control": "no-store" } };

export const computationOperations: Handlers = {
  execute_computation: async (request) => {
    const context = signedIn(request.context);
    sendJson(request.req, request.res, await computations.execute(arkOf(request), context), FRESH);
  },
  execution_status: async ({ req, res, params, context }) => {
    sendJson(req, res, await submissions.submission(params["submissionUUID"]!, context), FRESH);
  },
};
