import { RecordResolver } from "../graphql/resolvers/record-resolver.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import type { JsonObject } from "../model/field.js";
import type { Kind, KindName } from "../model/kind.js";
import { KINDS } from "../model/kinds.js";
import { historyParameters, historyView } from "../services/records/read.js";
import {
  arkPath,
  type ContractRow,
  FIND_REFUSALS,
  HISTORY,
  json,
  schemaRef,
} from "./contract/rows.js";
import { arkOf, type Handler, type Handlers } from "./request.js";

const exampleOf = (kind: Kind): JsonObject => {
  const by = EXAMPLES.user["@id"]!;
  return {
    "@id": EXAMPLES[kind.name]["@id"]!,
    revisions: [
      { revision: 2, at: "2024-05-04T10:00:00.000Z", by, action: "update", changed: ["/name"] },
      { revision: 1, at: "2024-05-03T08:00:00.000Z", by, action: "create", changed: [] },
    ],
  };
};

const operation = (
  path: string,
  operationId: string,
  kind: Kind,
  last = "postfix",
): ContractRow => ({
  method: "get",
  path: `${path}/ark:{NAAN}/{${last}}/history`,
  operationId,
  tag: "identifiers",
  summary: "States of a record, newest first",
  description:
    "`changed` names what differs from the state before, as JSON pointers; of a user, " +
    "private fields are named to the user itself and administrators only. Each state is " +
    "read with `?revision=`. Those of a deleted record are for its owner and administrators.",
  parameters: [...arkPath(EXAMPLES[kind.name]["@id"] as string, last), ...HISTORY],
  answer: {
    description: 'The history; with `Link: rel="next"` when there is more.',
    content: json(schemaRef("History"), exampleOf(kind)),
    headers: ["Link"],
  },
  token: "optional",
  refusals: FIND_REFUSALS,
});

/** Of any record, and below the path of each kind. */
export const HISTORIES: readonly ContractRow[] = [
  operation("", "resolve_history", KINDS.dataset),
  ...Object.values(KINDS)
    .filter(({ path }) => path !== null)
    .map((kind) =>
      operation(
        `/${kind.path}`,
        `history_${kind.name}`,
        kind,
        kind.name === "datadownload" ? "download_id" : "postfix",
      ),
    ),
];

const records = new RecordResolver();

function history(kind?: KindName): Handler {
  return async (request) => {
    const { req, res, query, context } = request;
    const page = historyParameters(query);
    const found = await records.readHistory(arkOf(request), page, context, kind);
    const next =
      found.next === undefined
        ? {}
        : {
            Link:
              `<${context.deps.baseUrl()}${encodeURI(request.path)}?before=${found.next}&limit=${page.limit}>` +
              `; rel="next"`,
          };
    const own = found.record.kind === "user" && context.caller !== null;
    sendJson(req, res, historyView(found), {
      headers: {
        ...next,
        "Cache-Control": "no-cache",
        Vary: "Authorization",
        ...(own && NOT_STORED),
      },
    });
  };
}

/** The same for any identifier, and for the path of each kind. */
export const historyOperations: Handlers = {
  resolve_history: history(),
  ...Object.fromEntries(
    Object.values(KINDS)
      .filter(({ path }) => path !== null)
      .map(({ name }) => [`history_${name}`, history(name)]),
  ),
};
