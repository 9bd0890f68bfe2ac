import { Args, Ctx, Field } from "type-graphql";
import { ServiceError } from "../errors.js";
import { referencedArk } from "../identifiers/ark.js";
import { connectionsOf, type Connection } from "../model/connections.js";
import type { KindName } from "../model/kind.js";
import type { Context } from "./context.js";
import { PageArguments, RecordConnection, checkedPage, pageOf, type CheckedPage } from "./types/connection.js";
import { NODE_TYPES } from "./types/kind-types.js";
import type { RecordNode } from "./types/record-node.js";

/** Of the cursor: which side the link is on (stated here: `o`, or there: `i`), and its position. */
const CURSOR = /^(o|i)(\d.*)$/;

/**
 * One page of the records a connection leads to: first what the record states itself, then what others state
 * of it, each record once. Every record of a page is asked about with the same limit, so that all of them are
 * one read a side.
 */
export async function followLinks(node: RecordNode, connection: Connection, page: CheckedPage, context: Context): Promise<RecordConnection> {
  const [, side, after] = page.after === undefined ? [] : (CURSOR.exec(page.after) ?? badCursor());
  if (!node.stored) return pageOf<RecordNode>([], [], false, page.after);
  const { limit } = page;
  const targets: string[] = [];
  const cursors: string[] = [];
  let more = false;
  if (side !== "i") {
    const out = await context.loaders.linksFrom(node.ark, { predicates: connection.out, limit, ...(after ? { after } : {}) });
    for (const link of out.items) {
      targets.push(link.target);
      cursors.push(`o${link.position}`);
    }
    more = out.next !== undefined;
  }
  if (!more && connection.in.length > 0) {
    const room = limit - targets.length;
    const back = await context.loaders.linksTo(node.stored.key, {
      predicates: connection.in, unlessBack: connection.out, limit, ...(connection.inKinds ? { kinds: connection.inKinds } : {}), ...(side === "i" && after ? { after } : {}),
    });
    for (const link of back.items.slice(0, room)) {
      targets.push(link.source);
      cursors.push(`i${link.position}`);
    }
    more = back.items.length > room || back.next !== undefined;
  }
  context.loaders.spend(targets.length);
  return pageOf(await Promise.all(targets.map((target) => context.loaders.node(target))), cursors, more, page.after);
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
