import { invalid, ServiceError } from "../../errors.js";
import { type Ark, lookupArk, sameArk } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { assertMayChangeMembers, type Caller, names } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { findLive } from "../records/find.js";
import { amendRecord } from "../records/replace.js";
import type { RecordView } from "../records/view.js";

export interface MembershipChange {
  group: Ark;
  /** The user, as the client sent it. */
  user: string | undefined;
  /** Where the client named the user: `loc` of an error about it. */
  at: (string | number)[];
  expectedRevision?: number | undefined;
}

/**
 * Makes a user a member of a group; for a user who is a member already, or owns the group, the
 * group stays unchanged.
 * @throws ValidationError for a user that is not an ARK; ServiceError `NOT_FOUND`, `GONE`,
 * `FORBIDDEN`, `REVISION_MISMATCH`
 */
export async function addGroupMember(
  deps: Deps,
  change: MembershipChange,
  who: Caller,
): Promise<RecordView> {
  const ark = userArk(change);
  return amendRecord(
    deps,
    change.group,
    who,
    { kind: "group", expectedRevision: change.expectedRevision },
    (group) => assertMayChangeMembers(who, group),
    async (group, document) => {
      const user = await findLive(deps, ark, "user");
      const members = membersOf(document);
      if (isOwner(group.owner, user.ark) || members.some((member) => names(member, user.ark)))
        return undefined;
      return { document: { ...document, members: [...members, user.ark] } };
    },
  );
}

/**
 * Ends a membership; for a user who never was a member the group stays unchanged. Any entry of the
 * member list can be removed: also a deleted user, or an identifier that never was a user.
 * @throws as {@link addGroupMember}; ServiceError `OWNER_STAYS`
 */
export async function removeGroupMember(
  deps: Deps,
  change: MembershipChange,
  who: Caller,
): Promise<RecordView> {
  const ark = userArk(change);
  return amendRecord(
    deps,
    change.group,
    who,
    { kind: "group", expectedRevision: change.expectedRevision },
    (group) => assertMayChangeMembers(who, group),
    async (group, document) => {
      if (isOwner(group.owner, ark.stored)) {
        throw new ServiceError(
          "OWNER_STAYS",
          `${group.owner} owns ${group.ark} and is therefore a member: transfer the ` +
            "group to another owner first (PUT /group).",
        );
      }
      const members = membersOf(document);
      const left = members.filter((member) => !names(member, ark.stored));
      if (left.length < members.length) return { document: { ...document, members: left } };
      await findLive(deps, ark, "user");
      return undefined;
    },
  );
}

function userArk({ user, at }: MembershipChange): Ark {
  if (user === undefined) throw invalid(at, "Field required", "missing");
  const ark = lookupArk(user);
  if (ark === undefined)
    throw invalid(at, "Value error, not an ARK; for example ark:99999/user-ada");
  return ark;
}

const membersOf = ({ members }: JsonObject): JsonValue[] => (Array.isArray(members) ? members : []);
const isOwner = (owner: string | null, ark: string): boolean =>
  owner !== null && sameArk(owner, ark);
