import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from "graphql";
import type { Context } from "./resolvers/context.js";
import { isOver, nextTurn, pause } from "./resolvers/turns.js";
import { RecordNode } from "./resolvers/types/records.js";

/**
 * An answer of a hundred thousand fields takes most of a second to put together, and a thread that
 * does nothing else meanwhile answers nobody. So the work is done in slices: between two entries of
 * a list the execution pauses for other requests whenever its slice of time is used up.
 */

/** Lists with fewer entries are answered as one. */
const FEW = 20;

/**
 * A list whose later entries come as promises, with pauses between them: the execution completes
 * each as soon as it is there.
 * @param nullable whether entries may be null
 */
function slicesOf(
  items: readonly unknown[],
  { loaders }: Context,
  nullable: boolean,
): readonly unknown[] {
  const late: { resolve: (item: unknown) => void; reject: (reason: unknown) => void }[] = [];
  const early = isOver() ? 0 : FEW;
  const list = items.map((item, index) =>
    index < early
      ? item
      : new Promise((resolve, reject) => (late[index - early] = { resolve, reject })),
  );
  const deliver = async (): Promise<void> => {
    for (const [index, { resolve, reject }] of late.entries()) {
      await pause();
      try {
        loaders.assertMayGoOn();
      } catch (error) {
        reject(error);
        // A list of entries that may not be null has failed; nobody waits for the others.
        if (nullable) for (const other of late.slice(index + 1)) other.resolve(null);
        return;
      }
      resolve(items[index + early]);
      // The execution completes the entry before the clock is read again.
      await undefined;
    }
  };
  void deliver();
  return list;
}

/** What was found, in a slice of its own. */
async function later<T>(found: T, { loaders }: Context): Promise<T> {
  await nextTurn();
  loaders.assertMayGoOn();
  return found;
}

/**
 * Has the execution pause in lists, and count what the answer grows by.
 * @returns the same schema
 */
export function inSlices(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && !type.name.startsWith("__")) wrapFields(type, schema);
  return schema;
}

function wrapFields(type: GraphQLObjectType, schema: GraphQLSchema): void {
  if (type === schema.getMutationType() || type === schema.getSubscriptionType()) return;
  for (const field of Object.values(type.getFields())) {
    const resolve = (field.resolve ?? defaultFieldResolver) as GraphQLFieldResolver<
      unknown,
      Context
    >;
    if (isLeafType(getNamedType(field.type))) field.resolve = weighed(field.name, resolve);
    else {
      const list = getNullableType(field.type);
      field.resolve = isListType(list)
        ? paused(resolve, (found, context) => {
            context.loaders.assertMayGoOn();
            return Array.isArray(found) && found.length > FEW
              ? slicesOf(found, context, !isNonNullType(list.ofType))
              : found;
          })
        : paused(resolve);
    }
  }
}

/**
 * A resolver of objects, which waits for another slice where this one is over.
 * @param slice what the execution gets in place of what was found
 */
function paused(
  resolve: GraphQLFieldResolver<unknown, Context>,
  slice = (found: unknown, _context: Context): unknown => found,
): GraphQLFieldResolver<unknown, Context> {
  return (source, args, context, info) => {
    const found: unknown = resolve(source, args, context, info);
    const then = (there: unknown): unknown =>
      there !== null && isOver()
        ? later(there, context).then((late) => slice(late, context))
        : slice(there, context);
    // What needs no read is a part of its parent.
    return found instanceof Promise ? found.then(then) : slice(found, context);
  };
}

/** JSON around a value: quotes, colon, comma. */
const AROUND = 6;
/** Numbers, times and the like. */
const SHORT = 20;
/** Of a shorter value there are too few between two lists to matter. */
const LONG = 256;

/** A resolver of a value. What a promise resolves to is not counted: its field does so itself. */
function weighed(
  name: string,
  resolve: GraphQLFieldResolver<unknown, Context>,
): GraphQLFieldResolver<unknown, Context> {
  const around = name.length + AROUND;
  return (source, args, context, info) => {
    const value: unknown = resolve(source, args, context, info);
    const size = sizeOf(value, source);
    context.loaders.weigh(around + size);
    if (size > LONG) context.loaders.assertMayGoOn();
    return value;
  };
}

function sizeOf(value: unknown, source: unknown): number {
  if (typeof value === "string") return value.length;
  // Any JSON of a record is a part of its document.
  if (!Array.isArray(value))
    return typeof value === "object" && value !== null && source instanceof RecordNode
      ? (source.stored?.document.length ?? SHORT)
      : SHORT;
  return value.reduce(
    (sum: number, each: unknown) => sum + (typeof each === "string" ? each.length : SHORT) + 3,
    0,
  );
}

/** Larger answers are written in slices. */
const LARGE = 128 * 2 ** 10;

/** The text of an answer of about this size. */
export async function textOf(answer: object, size: number): Promise<string> {
  if (size < LARGE) return JSON.stringify(answer);
  const text: string[] = [];
  let pieces = 0;
  for (const piece of piecesOf(answer)) {
    text.push(piece);
    if (++pieces % 64 === 0 && isOver()) await nextTurn();
  }
  return text.join("");
}

/** JSON text, piece by piece: each of values that hold no objects themselves. */
function* piecesOf(value: unknown): Generator<string> {
  if (value === null || typeof value !== "object" || isFlat(value)) {
    yield JSON.stringify(value) ?? "null";
    return;
  }
  let first = true;
  if (Array.isArray(value)) {
    yield "[";
    for (const item of value) {
      if (!first) yield ",";
      first = false;
      yield* piecesOf(item);
    }
    yield "]";
    return;
  }
  yield "{";
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${first ? "" : ","}${JSON.stringify(key)}:`;
    first = false;
    yield* piecesOf(member);
  }
  yield "}";
}

const isFlat = (value: object): boolean =>
  "toJSON" in value ||
  Object.values(value).every((member) => member === null || typeof member !== "object");
