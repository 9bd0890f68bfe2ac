import { EXAMPLES } from "../../model/examples.js";
import { KINDS } from "../../model/kinds/index.js";
import { FIND_REFUSALS, WRITE_REFUSALS, json, type Operation } from "./operation.js";
import { IF_MATCH, arkPath, query } from "./parameters.js";
import { answerOf, recordExample } from "./schemas.js";

const GROUP = recordExample(KINDS.group);
/** Someone besides the owner. */
export const MEMBER = "ark:99999/user-grace";

const membership = (route: "addUser" | "rmUser", parameter: "userID" | "userId", operationId: string, summary: string, description: string): Operation => ({
  method: "put", path: `/group/ark:{NAAN}/{postfix}/${route}/`, operationId, tag: "records", summary,
  description: `${description} Only the group's owner and administrators change its members.`,
  parameters: [...arkPath(GROUP["@id"] as string), { ...query(parameter, "The user, in any spelling of the identifier.", { type: "string" }, MEMBER), required: true }, IF_MATCH],
  answer: {
    description: "The updated group.", headers: ["ETag", "X-Publication-Status"],
    content: json(answerOf(KINDS.group), { ...GROUP, members: route === "addUser" ? [...(EXAMPLES.group["members"] as string[]), MEMBER] : EXAMPLES.group["members"]! }),
  },
  token: "required", refusals: [...WRITE_REFUSALS, ...FIND_REFUSALS, "OWNER_STAYS", "REVISION_MISMATCH"],
});

export const GROUPS: readonly Operation[] = [
  membership("addUser", "userID", "add_group_user", "Make a user a member of a group", "Who is a member already, the owner included, leaves the group unchanged."),
  membership("rmUser", "userId", "remove_group_user", "End a user's membership of a group", "Who is no member leaves the group unchanged; the owner cannot be removed."),
];
