import { GroupResolver } from "../../resolvers/group-resolver.js";
import { authenticated } from "../../use-cases/access/caller.js";
import { expectedRevision } from "../conditional.js";
import { arkOf, type Operations, type RestRequest } from "../request.js";
import { sendWritten } from "../written.js";

const groups = new GroupResolver();

/** The contract spells the parameter differently in each of the two operations; either spelling is read in both. */
function change(request: RestRequest, name: "userID" | "userId") {
  const { query, req, context } = request;
  authenticated(context.caller);
  return { group: arkOf(request), user: query[name] ?? query["userID"] ?? query["userId"], at: ["query", name], expectedRevision: expectedRevision(req) };
}

export const groupOperations: Operations = {
  add_group_user: async (request) => sendWritten(request, await groups.addMember(change(request, "userID"), request.context)),
  remove_group_user: async (request) => sendWritten(request, await groups.removeMember(change(request, "userId"), request.context)),
};
