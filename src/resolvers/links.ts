import { Args, Ctx, Field, ObjectType } from "type-graphql";
import { connectionsOf, type Connection } from "../model/connections.js";
import type { KindName } from "../model/kind.js";
import { referencedArk } from "../identifiers/ark.js";
import type { Context } from "./context.js";
import { NODE_TYPES } from "./types/kind-types.js";
import { PageArguments, RecordConnection, checkedPage, connectionOf } from "./types/connection.js";
import { RecordNode } from "./types/record-node.js";

/**
 * One page of the records a connection leads to: first what the record states itself, then what others state
 * of it. The cursor is `o` or `i` (which side) and the position of the link.
 */
export async function followLinks(node: RecordNode, connection: Connection, page: { limit: number; after?: string }, context: Context): Promise<RecordConnection> {
  const items: { target: string; cursor: string }[] = [];
  const key = node.stored?.key;
  let more = false;
  if (key !== undefined && !page.after?.startsWith("i")) {
    const after = page.after?.slice(1);
    const out = await context.loaders.linksOf(node.ark, { side: "from", predicates: connection.out, limit: page.limit, ...(after ? { after } : {}) });
    items.push(...out.items.map((link) => ({ target: link.target, cursor: `o${link.position}` })));
    more = out.next !== undefined;
  }
  if (key !== undefined && !more && connection.in.length > 0) {
    // Stated from both sides counts once; what was stated here is on the pages before.
    const stated = new Set((await context.loaders.linksOf(node.ark, { side: "from", predicates: connection.out, limit: 1000 })).items.map((link) => link.target));
    const room = page.limit - items.length;
    const after = page.after?.startsWith("i") ? page.after.slice(1) : undefined;
    const back = await context.loaders.linksOf(key, { side: "to", predicates: connection.in, limit: Math.max(room, 1), ...(connection.inKinds ? { kinds: connection.inKinds } : {}), ...(after ? { after } : {}) });
    const fresh = back.items.filter((link) => !stated.has(link.source));
    if (room > 0) items.push(...fresh.map((link) => ({ target: link.source, cursor: `i${link.position}` })));
    more = room > 0 ? back.next !== undefined : fresh.length > 0;
  }
  const unique = items.filter((item, index) => items.findIndex((other) => other.target === item.target) === index);
  const nodes = await Promise.all(unique.map(async (item) => ({ node: await context.loaders.node(item.target), cursor: item.cursor })));
  return connectionOf(nodes, more, page.after);
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

@ObjectType({ description: "One state of a record." })
export class Revision {
  @Field() revision!: number;
  @Field() at!: Date;
  @Field(() => String, { nullable: true }) by!: string | null;
  @Field({ description: "create, update, delete or publish." }) action!: string;
  @Field(() => [String], { description: "JSON pointers of what differs from the state before." }) changed!: string[];
}
