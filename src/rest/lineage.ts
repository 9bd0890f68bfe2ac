import { signedIn } from "../graphql/resolvers/context.js";
import { LineageResolver } from "../graphql/resolvers/lineage-resolver.js";
import { readJson } from "../http/body.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import type { JsonObject } from "../model/field.js";
import { KINDS } from "../model/kinds.js";
import { askedArk } from "../services/records/find.js";
import {
  BODY_REFUSALS,
  type ContractRow,
  json,
  query,
  schemaRef,
  WRITE_REFUSALS,
} from "./contract/rows.js";
import type { Handlers } from "./request.js";

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
