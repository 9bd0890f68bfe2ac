/** Limits of documents, as validation rules. They run before the rules of the specification. */
import {
  type ASTNode,
  type ASTVisitor,
  BREAK,
  type FieldNode,
  getNamedType,
  GraphQLError,
  type GraphQLNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type NamedTypeNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from "graphql";
import { isExactNumber } from "../model/json/read.js";

/** Most aliases of an operation or a fragment: each repeats the same field in the answer. */
const MAX_ALIASES = 100;
/**
 * Pairs of selections of one field of the answer. The rule that fields can be merged compares each
 * two of them: a hundred of each other.
 */
const MAX_PAIRS = 5_000;
/** Aliases of one field without arguments in one place. */
const MAX_NAMES = 4;
/** Most selections that are visited, those of fragments at each place. */
const MAX_SELECTIONS = 10_000;
/** Inline fragments are no level of the answer, but the validation steps into each. */
const MAX_NESTING = 200;
/**
 * Levels below `__schema` and `__type`, which do not count: tools ask for types of types of types.
 */
const MAX_INTROSPECTION_DEPTH = 25;

/** A place in the answer. */
interface Place {
  path: string;
  level: number;
  nesting: number;
  isIntrospection: boolean;
  /** Undefined where the schema has no such field; the rules of the specification refuse that. */
  type: GraphQLNamedType | undefined;
  /** The entries of a page. */
  isEdge: boolean;
}

/** The type of a field of an object or interface. */
const typeOf = (
  type: GraphQLNamedType | undefined,
  field: string,
): GraphQLNamedType | undefined => {
  const found = isObjectType(type) || isInterfaceType(type) ? type.getFields()[field] : undefined;
  return found && getNamedType(found.type);
};

const isConnection = (type: GraphQLNamedType | undefined): boolean =>
  typeOf(type, "edges") !== undefined && typeOf(type, "pageInfo") !== undefined;

/** Visits the selections of a document, those of fragments at each place where they are spread. */
class Selections {
  isTooDeep = false;
  /** Some selections repeat others, or there are too many to visit. */
  isRepetitive = false;
  /** Most of one definition. */
  aliases = 0;
  /** Most of one definition, by name. */
  readonly introspections = new Map<string, number>();
  /** Selections by their place in the answer. */
  readonly #times = new Map<string, number>();
  /** Aliases of a field without arguments, by its place. */
  readonly #names = new Map<string, Set<string>>();
  readonly #spread = new Set<string>();
  #counted = { aliases: 0, __schema: 0, __type: 0 };
  #pairs = 0;
  #visited = 0;

  readonly #context: ValidationContext;
  readonly #maxDepth: number;

  constructor(context: ValidationContext, maxDepth: number) {
    this.#context = context;
    this.#maxDepth = maxDepth;
    for (const [index, definition] of context.getDocument().definitions.entries()) {
      if (!("selectionSet" in definition)) continue;
      this.#counted = { aliases: 0, __schema: 0, __type: 0 };
      const isIntrospection =
        definition.kind === Kind.FRAGMENT_DEFINITION &&
        definition.typeCondition.name.value.startsWith("__");
      this.#visit(definition.selectionSet, {
        path: String(index),
        level: 0,
        nesting: 0,
        isIntrospection,
        type:
          definition.kind === Kind.FRAGMENT_DEFINITION
            ? this.#typeNamed(definition.typeCondition.name.value)
            : (context.getSchema().getRootType(definition.operation) ?? undefined),
        isEdge: false,
      });
      this.aliases = Math.max(this.aliases, this.#counted.aliases);
      for (const name of ["__schema", "__type"] as const)
        if (this.#counted[name] > 1) this.introspections.set(name, this.#counted[name]);
    }
  }

  get #isOver(): boolean {
    return this.isTooDeep || this.#visited > MAX_SELECTIONS;
  }

  #visit(set: SelectionSetNode, place: Place): void {
    const most = place.isIntrospection ? MAX_INTROSPECTION_DEPTH : this.#maxDepth;
    if (place.level > most || place.nesting > MAX_NESTING) this.isTooDeep = true;
    const inside = { ...place, nesting: place.nesting + 1 };
    for (const selection of set.selections) {
      this.#visited++;
      if (this.#isOver) break;
      if (selection.kind === Kind.FIELD) this.#visitField(selection, inside, most);
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        this.#visit(selection.selectionSet, this.#within(inside, selection.typeCondition));
      else this.#visitFragment(selection.name.value, inside);
    }
    this.isRepetitive ||= this.#isOver;
  }

  #visitField(field: FieldNode, place: Place, most: number): void {
    const { alias, name, selectionSet } = field;
    if (alias) this.#counted.aliases++;
    if (name.value === "__schema" || name.value === "__type") this.#counted[name.value]++;
    this.#countNames(field, place.path);
    const path = `${place.path} ${(alias ?? name).value}`;
    this.#countPairs(path);
    if (!selectionSet) {
      this.isTooDeep ||= place.level + 1 > most;
      return;
    }
    const begins = name.value.startsWith("__") && !place.isIntrospection;
    const type = typeOf(place.type, name.value);
    // A connection, its edges or nodes, and their node are one level.
    const isEdge = name.value === "edges" && isConnection(place.type);
    const isEntry = isEdge || (name.value === "nodes" && isConnection(place.type));
    const isNode = name.value === "node" && place.isEdge;
    this.#visit(
      selectionSet,
      begins
        ? { path, level: 0, nesting: 0, isIntrospection: true, type: undefined, isEdge: false }
        : { ...place, path, level: place.level + (isEntry || isNode ? 0 : 1), type, isEdge },
    );
  }

  #typeNamed(name: string): GraphQLNamedType | undefined {
    return this.#context.getSchema().getType(name);
  }

  /** The same place, of the type that a fragment is about. */
  #within(place: Place, condition: NamedTypeNode | undefined): Place {
    return condition ? { ...place, type: this.#typeNamed(condition.name.value) } : place;
  }

  #visitFragment(name: string, place: Place): void {
    this.#countPairs(`${place.path} ...`);
    const fragment = this.#context.getFragment(name);
    // The rules of the specification refuse a cycle, and a fragment that does not exist.
    if (!fragment || this.#spread.has(name)) return;
    this.#spread.add(name);
    this.#visit(fragment.selectionSet, this.#within(place, fragment.typeCondition));
    this.#spread.delete(name);
  }

  /** A field without arguments has the same value under each alias, and may be megabytes. */
  #countNames({ alias, name, arguments: given }: FieldNode, path: string): void {
    if (!alias || (given?.length ?? 0) > 0 || name.value.startsWith("__")) return;
    const names = (this.#names.get(`${path} ${name.value}`) ?? new Set()).add(alias.value);
    this.#names.set(`${path} ${name.value}`, names);
    this.isRepetitive ||= names.size > MAX_NAMES;
  }

  #countPairs(path: string): void {
    const before = this.#times.get(path) ?? 0;
    this.#times.set(path, before + 1);
    this.#pairs += before;
    this.isRepetitive ||= this.#pairs > MAX_PAIRS;
  }
}

/** Why selections exceed a limit; `undefined` for all others. */
function overLimit(selections: Selections, maxDepth: number): string | undefined {
  if (selections.isTooDeep)
    return (
      `The document is nested more than ${maxDepth} levels deep (GRAPHQL_MAX_DEPTH): ask for the ` +
      "rest in a second query."
    );
  if (selections.aliases > MAX_ALIASES)
    return (
      `The document has ${selections.aliases} aliases, those of its fragments counted at each ` +
      `place; the limit is ${MAX_ALIASES}.`
    );
  for (const [name, times] of selections.introspections)
    return (
      `The document asks for ${name} ${times} times, those of its fragments counted at each ` +
      "place; it may ask once. Send a document for each."
    );
  if (selections.isRepetitive)
    return (
      "The document selects the same fields over and over, those of its fragments counted at " +
      "each place. Select each field once."
    );
  return undefined;
}

/**
 * Refuses a document that nests too deep or repeats itself too often. The rules of the
 * specification are slow for such documents, or overflow the stack.
 */
export const selectionLimits =
  (maxDepth: number): ValidationRule =>
  (context) => ({
    Document: () => {
      const message = overLimit(new Selections(context, maxDepth), maxDepth);
      if (message === undefined) return undefined;
      context.reportError(new GraphQLError(message, { extensions: { code: "QUERY_TOO_COSTLY" } }));
      return BREAK;
    },
  });

/**
 * Refuses literals that may not be stored; a JSON body with them would be refused too: NUL or a
 * lone surrogate in a string, a number that a double cannot represent, unlimited nesting.
 */
export const storableLiterals =
  (maxDepth: number): ValidationRule =>
  (context): ASTVisitor => {
    let depth = 0;
    const refuse = (node: ASTNode, msg: string, type: string): typeof BREAK => {
      const detail = [{ loc: ["document", node.loc?.start ?? 0], msg, type }];
      const extensions = { code: "VALIDATION", detail };
      context.reportError(new GraphQLError(msg, { nodes: node, extensions }));
      return BREAK;
    };
    const nested = {
      enter: (node: ASTNode) =>
        ++depth > maxDepth
          ? refuse(
              node,
              `Input should be nested at most ${maxDepth} levels deep (MAX_JSON_DEPTH)`,
              "too_deep",
            )
          : undefined,
      leave: () => void depth--,
    };
    const number = (node: ASTNode & { value: string }) =>
      isExactNumber(node.value)
        ? undefined
        : refuse(node, "Input should be a number that a double holds exactly", "number_precision");
    return {
      StringValue: (node) =>
        node.value.includes("\0") || !node.value.isWellFormed()
          ? refuse(
              node,
              "Input should be a valid string without NUL or lone surrogates",
              "string_unicode",
            )
          : undefined,
      IntValue: number,
      FloatValue: number,
      ListValue: nested,
      ObjectValue: nested,
    };
  };
