/**
 * Runs of computations: those that the registry executes, and those that events of OpenLineage
 * report.
 */
import { signedIn } from "../graphql/resolvers/context.js";
import { CrateResolver } from "../graphql/resolvers/crate-resolver.js";
import { ComputationResolver, LineageResolver } from "../graphql/resolvers/run-resolver.js";
import { readJson } from "../http/body.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import type { JsonObject } from "../model/field.js";
import { KINDS } from "../model/kinds.js";
import { askedArk } from "../services/records/find.js";
import { arkOf, type Handlers } from "./request.js";

const computations = new ComputationResolver();
const submissions = new CrateResolver();
const FRESH = { headers: { "Cache-Control": "no-store" } };

export const computationOperations: Handlers = {
  execute_computation: async (request) => {
    const context = signedIn(request.context);
    sendJson(request.req, request.res, await computations.execute(arkOf(request), context), FRESH);
  },
  execution_status: async ({ req, res, params, context }) => {
    sendJson(req, res, await submissions.submission(params.submissionUUID, context), FRESH);
  },
};

const lineage = new LineageResolver();

/**
 * Where clients of OpenLineage send. `docs/lineage.md` describes it, the published document does
 * not: no path of the registry's contract has a version.
 */
export const LINEAGE_PATHS: JsonObject = {
  "/v1/lineage": {
    post: {
      operationId: "record_lineage",
      tags: ["evidence"],
      summary: "Record runs from OpenLineage events",
      requestBody: { content: { "application/json": {} } },
      responses: { "200": { content: { "application/json": {} } } },
    },
  },
};

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
