/** Groups, organizations and projects: who is in them and since when, who may do what, what they own. */
import type { ComponentChildren } from "preact";
import { ServiceError } from "../../errors.js";
import { isObject, type JsonValue, listOf } from "../../model/field.js";
import { nameText } from "../../model/labels.js";
import { EntryTable, When } from "../components.js";
import {
  CollectiveDocument,
  CollectiveHistoryDocument,
  type CollectiveHistoryQuery,
} from "../documents.js";
import { kindOf } from "../format.js";
import type { PageRequest } from "../page.js";
import { withQuery } from "../paths.js";
import { type Named, RecordLink } from "../record-components.js";
import { countText, kindText, shortened } from "../words.js";
import { relatedPath } from "./record/provenance.js";

/** One of them; null where nothing is stored under the identifier. */
export async function readCollective({ ask }: Pick<PageRequest, "ask">, id: string) {
  const [{ record, owned, newest }, history] = await Promise.all([
    ask(CollectiveDocument, { id }),
    ask(CollectiveHistoryDocument, { id }).catch((error: unknown) => {
      if (error instanceof ServiceError && error.status < 500) return null;
      throw error;
    }),
  ]);
  const revisions = history?.record?.revisions ?? null;
  return record && { ...record, revisions, owned: owned.groups, newest: newest.nodes };
}
export type Collective = NonNullable<Awaited<ReturnType<typeof readCollective>>>;

type Revisions = NonNullable<CollectiveHistoryQuery["record"]>["revisions"];

const membersOf = (document: unknown): readonly unknown[] =>
  isObject(document as JsonValue) ? listOf((document as { members?: JsonValue }).members) : [];

/** Since when each member is one without a break; of those before the oldest revision unknown. */
function joinedAt({ nodes, pageInfo }: Revisions): Map<unknown, string> {
  const joined = new Map<unknown, string>();
  const still = new Set(membersOf(nodes[0]?.document));
  for (const { at, document } of nodes) {
    const then = new Set(membersOf(document));
    for (const member of still)
      if (then.has(member)) joined.set(member, at);
      else still.delete(member);
  }
  if (pageInfo.hasNextPage) for (const member of still) joined.delete(member);
  return joined;
}

interface MembersProps {
  collective: Collective;
  /** What the reader may do to a member who is not the owner. */
  action?: (member: Named) => ComponentChildren;
}

/** Its owner first, then the members, with role and date. */
export function Members({ collective, action }: MembersProps) {
  const { id, owner, members, revisions } = collective;
  const joined = revisions ? joinedAt(revisions) : new Map<unknown, string>();
  const others = members.nodes.filter((member) => member.id !== owner?.id);
  const rows: Named[] = owner ? [owner, ...others] : others;
  return (
    <>
      <EntryTable
        rows={rows}
        columns={[
          ["Name", (member) => <RecordLink record={member} glyph />],
          ["Role", (member) => (member.id === owner?.id ? "Owner" : "Member")],
          ...(joined.size > 0
            ? [["Since", (member: Named) => <When at={joined.get(member.id) ?? null} />] as const]
            : []),
          ...(action && others.length > 0
            ? [["Action", (member: Named) => member.id !== owner?.id && action(member)] as const]
            : []),
        ]}
      />
      {members.totalCount > members.nodes.length && (
        <p>
          <a href={relatedPath(id, "MEMBERS")}>All {countText(members.totalCount)} members</a>
        </p>
      )}
    </>
  );
}

/** Who may do what. */
export function Rights({ collective: { owner, kind } }: { collective: Collective }) {
  const what = kindText(kind ?? null).toLowerCase();
  return (
    <p>
      All members may read and change what the {what} owns, drafts and private records too.{" "}
      {owner && (
        <>
          Only <bdi>{shortened(nameText(owner), 80)}</bdi>, who owns the {what}, and administrators
          change its description and its members.
        </>
      )}
    </p>
  );
}

/** How many records of each kind it owns, each number a link to them. */
export function OwnedNumbers({ collective: { id, owned } }: { collective: Collective }) {
  const numbers = owned.flatMap(({ kind, count }) => (kind === null ? [] : [{ kind, count }]));
  return (
    <ul class="numbers">
      {numbers.map(({ kind, count }) => (
        <li>
          <a href={withQuery("/search", { owner: id, kind: kindOf(kind) })}>
            <strong>{countText(count)}</strong> {kindText(kind, count !== 1).toLowerCase()}
          </a>
        </li>
      ))}
    </ul>
  );
}
