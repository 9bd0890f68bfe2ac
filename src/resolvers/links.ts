import { Args, Ctx, Field } from "type-graphql";
import { invalid } from "../errors.js";
import { arkKey, referencedArk } from "../identifiers/ark.js";
import { connectionsOf, type Connection } from "../model/connections.js";
import type { KindName } from "../model/kind.js";
import type { Context } from "./context.js";
import { PageArguments, RecordConnection, checkedPage, pageOf, type CheckedPage } from "./types/connection.js";
import { NODE_TYPES } from "./types/kind-types.js";
import type { RecordNode } from "./types/record-node.js";

/** A record found over a link; the cursor is `o` (stated here) or `i` (stated there) and the position of the link. */
interface Found { target: string; key: string; cursor: string }

/**
 * One page of the records a connection leads to: first what the record states itself, then what others state
 * of it. What both sides state counts once, where it is stated here. Every read is one of a whole level.
 */
export async function followLinks(node: RecordNode, connection: Connection, page: CheckedPage, context: Context): Promise<RecordConnection> {
  const { after, limit } = page;
  if (after !== undefined && !/^[oi]\d/.test(after)) throw invalid(["query", "after"], "Value error, this is no cursor of a connection; take it from the page before");
  if (!node.stored) return pageOf<RecordNode>([], [], false, after);
  const stated = after?.startsWith("i") ? { found: [], more: false } : await statedHere(node, connection, limit, after, context);
  const found: Found[] = stated.found;
  let { more } = stated;
  let last: string | undefined;
  if (!more && connection.in.length > 0) {
    const back = await statedThere(node, connection, { room: limit - found.length, all: after === undefined ? found : undefined, after: after?.startsWith("i") ? after.slice(1) : undefined }, context);
    found.push(...back.found);
    ({ more, last } = back);
  }
  const seen = new Set<string>();
  const unique = found.filter(({ key }) => !seen.has(key) && seen.add(key));
  context.loaders.spend(unique.length);
  const nodes = await Promise.all(unique.map(({ target }) => context.loaders.node(target)));
  const answer = pageOf(nodes, unique.map(({ cursor }) => cursor), more, after);
  // A page may end in links that count on an earlier one; the next goes on behind those.
  if (more && last !== undefined) answer.pageInfo.endCursor = last;
  return answer;
}

async function statedHere(node: RecordNode, { out }: Connection, limit: number, after: string | undefined, context: Context): Promise<{ found: Found[]; more: boolean }> {
  const page = await context.loaders.linksFrom(node.ark, { predicates: out, limit, ...(after === undefined ? {} : { after: after.slice(1) }) });
  return { found: page.items.map((link) => ({ target: link.target, key: link.targetKey, cursor: `o${link.position}` })), more: page.next !== undefined };
}

/** @param all everything the record states, where the page has shown that; else it is asked which of the found it states */
async function statedThere(node: RecordNode, connection: Connection, { room, all, after }: { room: number; all: Found[] | undefined; after: string | undefined }, context: Context): Promise<{ found: Found[]; more: boolean; last?: string }> {
  const page = await context.loaders.linksTo(node.stored!.key, {
    predicates: connection.in, limit: Math.max(room, 1), ...(connection.inKinds ? { kinds: connection.inKinds } : {}), ...(after === undefined ? {} : { after }),
  });
  const found = page.items.map((link) => ({ target: link.source, key: arkKey(link.source), cursor: `i${link.position}` }));
  const stated = new Set(all ? all.map(({ key }) => key) : found.length === 0 ? [] : await context.loaders.statedAmong(node.ark, connection.out, found.map(({ key }) => key)));
  const fresh = found.filter(({ key }) => !stated.has(key));
  if (room < 1) return { found: [], more: fresh.length > 0 || page.next !== undefined };
  return { found: fresh, more: page.next !== undefined, ...(found.length > 0 ? { last: found.at(-1)!.cursor } : {}) };
}

/** Adds the connections of a kind to its GraphQL type; type-graphql's decorators are called as functions. */
function addConnections(kind: KindName): void {
  const prototype = NODE_TYPES[kind].prototype as unknown as Record<string, unknown>;
  for (const [name, connection] of Object.entries(connectionsOf(kind))) {
    Object.defineProperty(prototype, name, {
      configurable: true,
      value(this: RecordNode, page: PageArguments, context: Context) {
        return followLinks(this, connection, checkedPage(page), context);
      },
    });
    Reflect.defineMetadata("design:paramtypes", [PageArguments, Object], prototype, name);
    Args(() => PageArguments)(prototype, name, 0);
    Ctx()(prototype, name, 1);
    Field(() => RecordConnection, { description: connection.description })(prototype, name, Object.getOwnPropertyDescriptor(prototype, name)!);
  }
}
for (const kind of Object.keys(NODE_TYPES) as KindName[]) addConnections(kind);

/** The owner, for every type: a user, group, organization or project. */
export async function ownerOf(node: RecordNode, context: Context): Promise<RecordNode | null> {
  const owner = node.stored?.owner ?? (typeof node.shown["owner"] === "string" ? referencedArk(node.shown["owner"]) : undefined);
  return owner ? context.loaders.node(owner) : null;
}
