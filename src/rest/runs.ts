/**
 * Runs of computations: those that the registry executes, and those that events of OpenLineage
 * report.
 */
import { signedIn } from "../graphql/resolvers/context.js";
import { CrateResolver } from "../graphql/resolvers/crate-resolver.js";
import { ComputationResolver, LineageResolver } from "../graphql/resolvers/run-resolver.js";
import { readJson } from "../http/body.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import type { JsonObject } from "../model/field.js";
import { KINDS } from "../model/kinds.js";
import { askedArk } from "../services/records/find.js";
import {
  arkPath,
  BODY_REFUSALS,
  type ContractRow,
  FIND_REFUSALS,
  json,
  path,
  query,
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

const EVENT: JsonObject = {
  eventType: "COMPLETE",
  eventTime: "2026-11-24T10:00:00Z",
  producer: "https://example.org/scheduler",
  schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
  run: { runId: "0d3f1a70-5c7a-4f0e-9a44-3c1f8f3f9b1e" },
  job: { namespace: "scheduler", name: "count-cells" },
  inputs: [{ namespace: "s3://images", name: "plate-1" }],
  outputs: [{ namespace: "postgres://db:5432", name: "lab.public.counts" }],
};
const OWNER = "ark:99999/user-ada";

export const LINEAGE: readonly ContractRow[] = [
  {
    method: "post",
    path: "/v1/lineage",
    operationId: "record_lineage",
    tag: "evidence",
    summary: "Record runs from OpenLineage events",
    description:
      "Takes events of OpenLineage 2.0, one or a list, as its clients send them to " +
      "`/api/v1/lineage`. A run becomes a computation with its inputs and outputs, a job " +
      "whose facet `sourceCodeLocation` says where its code is also software, and a facet " +
      "`schema` a schema. All of a request is one commit. The same events again change " +
      "nothing, and events of a run may come in any order. A dataset whose name is an ARK is " +
      "that record, which stays as it is. At most MAX_LINEAGE_RECORDS records.",
    parameters: [
      query(
        "owner",
        "Who owns the records: you by default, or a group, organization or project that you " +
          "may own records for. The same dataset of another owner is another record.",
        { type: "string" },
      ),
    ],
    body: json(
      { oneOf: [schemaRef("LineageEvent"), { type: "array", items: schemaRef("LineageEvent") }] },
      EVENT,
    ),
    answer: {
      description: "The records that the events are about.",
      content: json(schemaRef("LineageReceipt"), {
        events: 1,
        records: [
          {
            "@id": `${OWNER}/lineage/run/0d3f1a70-5c7a-4f0e-9a44-3c1f8f3f9b1e`,
            kind: "Computation",
            change: "created",
          },
        ],
      }),
    },
    token: "required",
    refusals: [
      ...WRITE_REFUSALS,
      ...BODY_REFUSALS,
      "NOT_FOUND",
      "GONE",
      "DUPLICATE",
      "REVISION_MISMATCH",
    ],
  },
];

const lineage = new LineageResolver();

export const lineageOperations: Handlers = {
  record_lineage: async ({ req, res, query, context: given }) => {
    const context = signedIn(given);
    const { owner } = query;
    const { events, records } = await lineage.record(
      await readJson(req, context.deps),
      owner === undefined ? {} : { owner: askedArk(owner) },
      context,
    );
    sendJson(
      req,
      res,
      {
        events,
        records: records.map(({ ark, kind, change }) => ({
          "@id": ark,
          kind: KINDS[kind].typeName,
          change,
        })),
      },
      { headers: NOT_STORED },
    );
  },
};
