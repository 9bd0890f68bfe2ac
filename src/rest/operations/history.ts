import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds/index.js";
import { RecordResolver } from "../../resolvers/record-resolver.js";
import { historyParameters, historyView } from "../../use-cases/records/history.js";
import { NOT_STORED, sendJson } from "../reply.js";
import { arkOf, type Operation, type Operations } from "../request.js";

const records = new RecordResolver();

function history(kind?: KindName): Operation {
  return async (request) => {
    const { req, res, query, context } = request;
    const page = historyParameters(query);
    const found = await records.readHistory(arkOf(request), page, context, kind);
    const next = found.next === undefined ? {} : { Link: `<${context.deps.baseUrl()}${encodeURI(request.path)}?before=${found.next}&limit=${page.limit}>; rel="next"` };
    const own = found.record.kind === "user" && context.caller !== null;
    sendJson(req, res, historyView(found), { headers: { ...next, "Cache-Control": "no-cache", Vary: "Authorization", ...(own && NOT_STORED) } });
  };
}

/** The same for any identifier, and for the path of each kind. */
export const historyOperations: Operations = {
  resolve_history: history(),
  ...Object.fromEntries(Object.values(KINDS).filter(({ path }) => path !== null).map(({ name }) => [`history_${name}`, history(name)])),
};
