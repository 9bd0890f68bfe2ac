/** Has the execution share the event loop: `docs/event-loop-budget.md` explains it. */
import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  introspectionTypes,
  isIntrospectionType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLResolveInfo,
  Kind,
  type SelectionSetNode,
  TypeNameMetaFieldDef,
} from "graphql";
import type { Context } from "./resolvers/context.js";
import { eventLoop } from "../event-loop-budget.js";
import { RecordNode } from "./resolvers/types/records.js";

/**
 * Entries that are completed together, and their fields: those of a usual page, whose links are read
 * together.
 */
const [MAX_ENTRIES_TOGETHER, MAX_FIELDS_TOGETHER] = [100, 1_500];

/** Fields that are asked of an object, those of objects in it included. */
const breadths = new WeakMap<SelectionSetNode, number>();
function breadthOf(
  set: SelectionSetNode | undefined,
  fragments: GraphQLResolveInfo["fragments"],
): number {
  if (!set) return 0;
  const known = breadths.get(set);
  if (known !== undefined) return known;
  let breadth = 0;
  for (const selection of set.selections)
    if (selection.kind === Kind.FRAGMENT_SPREAD)
      breadth += breadthOf(fragments[selection.name.value]?.selectionSet, fragments);
    else
      breadth +=
        (selection.kind === Kind.FIELD ? 1 : 0) + breadthOf(selection.selectionSet, fragments);
  breadths.set(set, breadth);
  return breadth;
}

/**
 * A list whose entries are all promises. While the execution completes entries that are there, the
 * first that fails ends the list at once, and nobody handles what the entries before it promised:
 * Node would end the process when one of those promises is rejected. Promised entries fail later,
 * each with somebody who waits for it.
 */
const promised = (items: readonly unknown[]): Promise<unknown>[] =>
  items.map((item) => Promise.resolve(item));

/**
 * The same list, whose later entries come with pauses between them: the execution completes each as
 * soon as it is there.
 * @param nullable whether entries may be null
 * @param together how many of them come at once, before the first pause
 */
function slicesOf(
  items: readonly unknown[],
  { budget }: Context,
  nullable: boolean,
  together: number,
): Promise<unknown>[] {
  const late: { resolve: (item: unknown) => void; reject: (reason: unknown) => void }[] = [];
  const list = items.map((item, index) =>
    index < together
      ? Promise.resolve(item)
      : new Promise((resolve, reject) => void late.push({ resolve, reject })),
  );
  const deliver = async (): Promise<void> => {
    for (const [index, { resolve, reject }] of late.entries()) {
      await eventLoop.pause();
      try {
        budget.assertMayGoOn();
      } catch (error) {
        reject(error);
        // A list of entries that may not be null has failed; nobody waits for the others.
        if (nullable) for (const other of late.slice(index + 1)) other.resolve(null);
        return;
      }
      resolve(items[index + together]);
      // The execution completes the entry before the clock is read again.
      await Promise.resolve();
    }
  };
  void deliver();
  return list;
}

/**
 * Has the execution pause in lists, and count what the answer grows by.
 * @returns the same schema
 */
export function inSlices(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && !isIntrospectionType(type)) wrapFields(type, schema);
  if (!isIntrospectionWrapped) {
    isIntrospectionWrapped = true;
    for (const type of introspectionTypes)
      if (isObjectType(type)) wrapFields(type, schema, forRequests);
    forRequests(TypeNameMetaFieldDef, (resolve) => weighed("__typename", resolve));
  }
  return schema;
}

/** The library has one object of each of these types, for all schemas of the process. */
let isIntrospectionWrapped = false;

type Wrap = (resolve: Resolve) => Resolve;
/** Wraps the resolver of a field. */
type WrapField = (field: GraphQLField<unknown, Context>, wrap: Wrap) => void;

const always: WrapField = (field, wrap) => {
  field.resolve = wrap(field.resolve ?? defaultFieldResolver);
};

/** The same where there is a request; who reads a schema in this process has no context. */
const forRequests: WrapField = (field, wrap) => {
  const plain: Resolve = field.resolve ?? defaultFieldResolver;
  const wrapped = wrap(plain);
  field.resolve = (source, args, context: Context | undefined, info) =>
    context === undefined
      ? plain(source, args, context as never, info)
      : wrapped(source, args, context, info);
};

function wrapFields(type: GraphQLObjectType, schema: GraphQLSchema, wrapField = always): void {
  // What was written is answered, however long it took.
  const changes = type === schema.getMutationType() || type === schema.getSubscriptionType();
  for (const field of Object.values(type.getFields())) {
    const list = getNullableType(field.type);
    if (isLeafType(getNamedType(field.type))) {
      if (!changes) wrapField(field, (resolve) => weighed(field.name, resolve));
    } else if (isListType(list))
      wrapField(field, (resolve) =>
        changes ? apart(resolve) : listed(resolve, !isNonNullType(list.ofType)),
      );
    else if (!changes) wrapField(field, single);
  }
}

type Resolve = GraphQLFieldResolver<unknown, Context>;

/** What was found, in this slice or in a later one. */
function inTime(found: unknown, size: number, { budget }: Context): unknown {
  budget.assertMayGoOn();
  if (eventLoop.fits(size)) return found;
  return eventLoop.sharedTurn(size).then(() => {
    budget.assertMayGoOn();
    return found;
  });
}

/** A resolver of a list of objects that is answered without pauses. */
const apart =
  (resolve: Resolve): Resolve =>
  async (source, args, context, info) =>
    promised((await resolve(source, args, context, info)) as readonly unknown[]);

/** A resolver of a list of objects. */
function listed(resolve: Resolve, nullable: boolean): Resolve {
  const slice = (found: unknown, context: Context, info: GraphQLResolveInfo): unknown => {
    if (!Array.isArray(found) || found.length === 0) return found;
    const breadth = info.fieldNodes.reduce(
      (sum, { selectionSet }) => sum + breadthOf(selectionSet, info.fragments),
      0,
    );
    const together = Math.min(MAX_ENTRIES_TOGETHER, Math.ceil(MAX_FIELDS_TOGETHER / breadth));
    const entries = (): Promise<unknown>[] => slicesOf(found, context, nullable, together);
    // Entries are promised only once somebody waits for them.
    const admitted = inTime(found, Math.min(found.length, together), context);
    return admitted instanceof Promise ? admitted.then(entries) : entries();
  };
  return (source, args, context, info) => {
    const found: unknown = resolve(source, args, context, info);
    return found instanceof Promise
      ? found.then((list: unknown) => slice(list, context, info))
      : slice(found, context, info);
  };
}

/** An object by itself has more fields than an entry of most lists. */
const SINGLE = 4;

/** A resolver of an object. What needs no read is a part of its parent. */
function single(resolve: Resolve): Resolve {
  return (source, args, context, info) => {
    const found: unknown = resolve(source, args, context, info);
    return found instanceof Promise
      ? found.then((object: unknown) => (object === null ? null : inTime(object, SINGLE, context)))
      : found;
  };
}

/** JSON around a value: quotes, colon, comma. */
const AROUND = 6;
/** Numbers, times and the like. */
const SCALAR_CHARS = 20;

/** A resolver of a value. What a promise resolves to is not counted: its field does so itself. */
function weighed(name: string, resolve: Resolve): Resolve {
  const around = name.length + AROUND;
  return (source, args, context, info) => {
    const value: unknown = resolve(source, args, context, info);
    const { budget } = context;
    if (value instanceof Promise) {
      // To throw here would leave the promise without anybody who handles it.
      budget.weigh(around + SCALAR_CHARS);
      return value;
    }
    const size = around + sizeOf(value, source);
    budget.assertFits(size);
    budget.weigh(size);
    budget.compare();
    return value;
  };
}

function sizeOf(value: unknown, source: unknown): number {
  if (typeof value === "string") return value.length;
  // Any JSON of a record is a part of its document.
  if (!Array.isArray(value))
    return typeof value === "object" && value !== null && source instanceof RecordNode
      ? (source.stored?.document.length ?? SCALAR_CHARS)
      : SCALAR_CHARS;
  return value.reduce(
    (sum: number, each: unknown) =>
      sum + (typeof each === "string" ? each.length : SCALAR_CHARS) + 3,
    0,
  );
}
