import { Args, Ctx, Field, ObjectType } from "type-graphql";
import { connectionsOf, type Connection } from "../model/connections.js";
import type { KindName } from "../model/kind.js";
import { ServiceError } from "../errors.js";
import { referencedArk } from "../identifiers/ark.js";
import type { Context } from "./context.js";
import { NODE_TYPES } from "./types/kind-types.js";
import { PageArguments, RecordConnection, checkedPage, connectionOf } from "./types/connection.js";
import { RecordNode } from "./types/record-node.js";

/** Of the cursor: which side the link is on, and its position there. */
const CURSOR = /^(o|i)(.+)$/;

/**
 * One page of the records a connection leads to: first what the record states itself, then what others state
 * of it, each record once. The cursor is `o` or `i` (which side) and the position of the link. Every record of
 * a page is asked about with the same limit, so that all of them are one read a side.
 */
export async function followLinks(node: RecordNode, connection: Connection, page: { limit: number; after?: string }, context: Context): Promise<RecordConnection> {
  const [, side, after] = page.after === undefined ? [] : (CURSOR.exec(page.after) ?? badCursor());
  const key = node.stored?.key;
  if (key === undefined) return connectionOf([], false, page.after);
  const { limit } = page;
  const items: { target: string; cursor: string }[] = [];
  let more = false;
  if (side !== "i") {
    const out = await context.loaders.linksOf(node.ark, { side: "from", predicates: connection.out, distinct: connection.out.length > 1, limit, ...(after ? { after } : {}) });
    items.push(...out.items.map((link) => ({ target: link.target, cursor: `o${link.position}` })));
    more = out.next !== undefined;
  }
  if (!more && connection.in.length > 0) {
    const room = limit - items.length;
    const back = await context.loaders.linksOf(key, {
      side: "to", predicates: connection.in, distinct: connection.in.length > 1, unlessBack: connection.out, limit,
      ...(connection.inKinds ? { kinds: connection.inKinds } : {}), ...(side === "i" && after ? { after } : {}),
    });
    items.push(...back.items.slice(0, room).map((link) => ({ target: link.source, cursor: `i${link.position}` })));
    more = back.items.length > room || back.next !== undefined;
  }
  return connectionOf(await Promise.all(items.map(async (item) => ({ node: await context.loaders.node(item.target), cursor: item.cursor }))), more, page.after);
}

function badCursor(): never {
  throw new ServiceError("BAD_REQUEST", "The cursor in after is none that a page of links gave: pass pageInfo.endCursor of the page before.");
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
