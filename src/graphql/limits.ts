import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  type GraphQLCompositeType,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";

/**
 * Pairs of selections of one answer field that the validation may have to compare: a hundred of
 * each other.
 */
const MAX_PAIRS = 5_000;
/** Aliases of one field without arguments in one place. */
const MAX_NAMES = 4;
/**
 * Most selections that are visited, those of fragments at each place: past that the document
 * repeats itself.
 */
const MAX_SELECTIONS = 10_000;

/**
 * Whether a document selects so many fields into the same place of the answer that comparing each
 * two of them, which the validation does to see whether they can be merged, takes long. Fragments
 * count at each place where they are spread, and each on its own; aliases and the depth were
 * counted before.
 */
function repeatsItself(document: DocumentNode): boolean {
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION
        ? [[definition.name.value, definition.selectionSet] as const]
        : [],
    ),
  );
  const walk = new Walk(fragments);
  return document.definitions.some(
    (definition, index) =>
      "selectionSet" in definition && walk.exceeds(definition.selectionSet, `${index}`),
  );
}

class Walk {
  /** Selections by their place in the answer. */
  readonly #times = new Map<string, number>();
  /** Aliases of a field without arguments, by its place. */
  readonly #aliases = new Map<string, Set<string>>();
  readonly #inside = new Set<string>();
  #pairs = 0;
  #selections = 0;

  readonly #fragments: ReadonlyMap<string, SelectionSetNode>;

  constructor(fragments: ReadonlyMap<string, SelectionSetNode>) {
    this.#fragments = fragments;
  }

  exceeds(set: SelectionSetNode, place: string): boolean {
    return set.selections.some((selection) => {
      if (++this.#selections > MAX_SELECTIONS) return true;
      if (selection.kind === Kind.INLINE_FRAGMENT)
        return this.exceeds(selection.selectionSet, place);
      if (selection.kind === Kind.FRAGMENT_SPREAD)
        return this.#repeated(`${place} ...`) || this.#fragmentExceeds(selection.name.value, place);
      const field = `${place} ${(selection.alias ?? selection.name).value}`;
      return (
        this.#repeated(field) ||
        this.#renamed(selection, place) ||
        (selection.selectionSet !== undefined && this.exceeds(selection.selectionSet, field))
      );
    });
  }

  #fragmentExceeds(name: string, place: string): boolean {
    const set = this.#fragments.get(name);
    // The validation refuses a cycle.
    if (!set || this.#inside.has(name)) return false;
    this.#inside.add(name);
    const exceeds = this.exceeds(set, place);
    this.#inside.delete(name);
    return exceeds;
  }

  /** A field without arguments has the same value under each alias, and may be megabytes. */
  #renamed({ alias, name, arguments: given }: FieldNode, place: string): boolean {
    if (!alias || (given?.length ?? 0) > 0 || name.value.startsWith("__")) return false;
    const times = (this.#aliases.get(`${place} ${name.value}`) ?? new Set()).add(alias.value);
    this.#aliases.set(`${place} ${name.value}`, times);
    return times.size > MAX_NAMES;
  }

  #repeated(place: string): boolean {
    const before = this.#times.get(place) ?? 0;
    this.#times.set(place, before + 1);
    return (this.#pairs += before) > MAX_PAIRS;
  }
}

/** Most aliases of a document: each repeats the same field in the answer. */
const MAX_ALIASES = 100;

const refused = (message: string) =>
  new GraphQLError(message, { extensions: { code: "QUERY_TOO_COSTLY" } });

/**
 * Why a document that nests too deep or repeats itself too often is refused, fragments followed;
 * `undefined` for all others. Runs before validation, which is slow for such documents or overflows
 * the stack.
 */
export function overLimit(document: DocumentNode, maxDepth: number): GraphQLError | undefined {
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION
        ? [[definition.name.value, definition.selectionSet] as const]
        : [],
    ),
  );
  // First the depth: the checks below visit every level.
  if (isTooDeep(document, fragments, maxDepth))
    return refused(
      `The document is nested more than ${maxDepth} levels deep (GRAPHQL_MAX_DEPTH): ask ` +
        "for the rest in a second query.",
    );
  const aliases = mostFields(document, fragments, ({ alias }) => alias !== undefined);
  if (aliases > MAX_ALIASES)
    return refused(
      `The document has ${aliases} aliases, those of its fragments counted at each ` +
        `place; the limit is ${MAX_ALIASES}.`,
    );
  for (const name of ["__schema", "__type"]) {
    const times = mostFields(document, fragments, (field) => field.name.value === name);
    if (times > 1)
      return refused(
        `The document asks for ${name} ${times} times, those of its fragments counted at each ` +
          "place; it may ask once. Send a document for each.",
      );
  }
  return repeatsItself(document)
    ? refused(
        "The document selects the same fields over and over, those of its fragments counted " +
          "at each place. Select each field once.",
      )
    : undefined;
}

type Fragments = ReadonlyMap<string, SelectionSetNode>;

/** How many fields of this sort the definition with the most of them has. */
function mostFields(
  { definitions }: DocumentNode,
  fragments: Fragments,
  isCounted: (field: FieldNode) => boolean,
): number {
  const known = new Map<string, number>();
  return definitions.reduce(
    (most, definition) =>
      "selectionSet" in definition
        ? Math.max(most, countFields(definition.selectionSet, fragments, isCounted, known))
        : most,
    0,
  );
}

/**
 * Fragments count as often as they are spread. A cycle, which the validation refuses, counts as
 * nothing.
 */
function countFields(
  set: SelectionSetNode,
  fragments: Fragments,
  isCounted: (field: FieldNode) => boolean,
  known: Map<string, number>,
): number {
  return set.selections.reduce((sum, selection) => {
    if (selection.kind !== Kind.FRAGMENT_SPREAD)
      return (
        sum +
        (selection.kind === Kind.FIELD && isCounted(selection) ? 1 : 0) +
        (selection.selectionSet
          ? countFields(selection.selectionSet, fragments, isCounted, known)
          : 0)
      );
    const name = selection.name.value;
    const body = fragments.get(name);
    if (body && !known.has(name)) {
      known.set(name, 0);
      known.set(name, countFields(body, fragments, isCounted, known));
    }
    return sum + (known.get(name) ?? 0);
  }, 0);
}

/** Inline fragments are no level of the answer, but the validation steps into each. */
const MAX_NESTING = 200;
/**
 * Levels below `__schema` and `__type`, which do not count: tools ask for types of types of types.
 */
const MAX_INTROSPECTION_DEPTH = 25;

/**
 * Whether a field nests deeper than `most`; fragments that nothing spreads are validated as well,
 * and count.
 */
function isTooDeep(document: DocumentNode, fragments: Fragments, most: number): boolean {
  const records = new Depths(fragments, most);
  const types = new Depths(fragments, MAX_INTROSPECTION_DEPTH);
  records.introspection = types;
  return document.definitions.some((definition) => {
    if (!("selectionSet" in definition)) return false;
    const ofTypes =
      definition.kind === Kind.FRAGMENT_DEFINITION &&
      definition.typeCondition.name.value.startsWith("__");
    return (ofTypes ? types : records).exceeds(definition.selectionSet, 0, 0);
  });
}

class Depths {
  introspection: Depths | undefined;
  /**
   * The deepest level at which each fragment was entered: only a deeper entry can lead deeper. So a
   * cycle ends.
   */
  readonly #entered = new Map<string, number>();
  readonly #fragments: Fragments;
  readonly #most: number;

  constructor(fragments: Fragments, most: number) {
    this.#fragments = fragments;
    this.#most = most;
  }

  exceeds(set: SelectionSetNode, level: number, nesting: number): boolean {
    if (level > this.#most || nesting > MAX_NESTING) return true;
    return set.selections.some((selection) => {
      if (selection.kind === Kind.INLINE_FRAGMENT)
        return this.exceeds(selection.selectionSet, level, nesting + 1);
      if (selection.kind === Kind.FIELD) return this.#fieldExceeds(selection, level, nesting);
      const name = selection.name.value;
      const body = this.#fragments.get(name);
      if (!body || (this.#entered.get(name) ?? -1) >= level) return false;
      this.#entered.set(name, level);
      return this.exceeds(body, level, nesting + 1);
    });
  }

  #fieldExceeds({ name, selectionSet }: FieldNode, level: number, nesting: number): boolean {
    if (name.value.startsWith("__") && this.introspection)
      return selectionSet !== undefined && this.introspection.exceeds(selectionSet, 0, 0);
    return selectionSet
      ? this.exceeds(selectionSet, level + 1, nesting + 1)
      : level + 1 > this.#most;
  }
}

/**
 * Records assumed for a page of links when `first` is not given: most pages have few, and four
 * levels of lists must fit. The real number is counted while they are read.
 */
const USUAL_PAGE = 7;
/** Price of counting the links of one record: more than that of reading a page of them. */
const COUNTED_LINKS = 10;
/** What fields other than connections cost, in reads of a record; by type where a name is common. */
const COSTS: ReadonlyMap<string, number> = new Map([
  ["document", 1],
  ["rdf", 1],
  ["erc", 1],
  ["differences", 2],
  ["ROCrate.score", 10],
  ["ROCrate.recordCounts", 10],
  ["ROCrate.datasheet", 10],
  ["ROCrate.metadata", 100],
  // Up to hundreds of nodes are read and placed.
  ["evidencePicture", 100],
  ["evidenceNearby", 20],
  // A file is opened and read.
  ["preview", 50],
  ["ROCrate.folder", 10],
  // Each is checked in a thread of its own.
  ["shapeReport", 100],
]);

type Variables = Readonly<Record<string, unknown>>;

/**
 * How many records an operation asks for at most: page sizes multiply. Fragments count at each
 * place where they are spread. The document must be valid.
 * @param totals how many records there are, by the name of the type that lists them; a page has no
 * more
 */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  sent: Variables,
  totals: ReadonlyMap<string, number> = new Map(),
): number {
  const variables = { ...defaultsOf(operation), ...sent };
  const root = schema.getRootType(operation.operation)!;
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION
        ? [[definition.name.value, definition] as const]
        : [],
    ),
  );
  const known = new Map<string, number>();

  const costOfSet = (set: SelectionSetNode, type: GraphQLCompositeType): number => {
    let sum = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) sum += costOfField(selection, type);
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        sum += costOfSet(
          selection.selectionSet,
          typeNamed(selection.typeCondition?.name.value) ?? type,
        );
      else sum += costOfFragment(selection.name.value);
    }
    return sum;
  };
  const costOfFragment = (name: string): number => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const fragment = fragments.get(name)!;
    const cost = costOfSet(fragment.selectionSet, typeNamed(fragment.typeCondition.name.value)!);
    known.set(name, cost);
    return cost;
  };
  const costOfField = (node: FieldNode, type: GraphQLCompositeType): number => {
    const field =
      isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined;
    if (!field) return 0;
    const inner = getNamedType(field.type);
    const below =
      node.selectionSet && isCompositeType(inner) ? costOfSet(node.selectionSet, inner) : 0;
    const page = pageOf(field, node, variables, type === root);
    if (page !== undefined) {
      const there = totals.get(inner.name) ?? Infinity;
      const counted = inner.name === "RecordConnection" && selects(node, "totalCount");
      return (
        Math.max(1, Math.min(page, there)) * Math.max(1, below) + (counted ? COUNTED_LINKS : 0)
      );
    }
    const own = COSTS.get(field.name) ?? COSTS.get(`${type.name}.${field.name}`);
    return below + (own ?? (isRecord(inner as GraphQLCompositeType) ? 1 : 0));
  };
  const selects = ({ selectionSet }: { selectionSet?: SelectionSetNode }, name: string): boolean =>
    selectionSet?.selections.some((selection) =>
      selection.kind === Kind.FIELD
        ? selection.name.value === name
        : selects(
            selection.kind === Kind.FRAGMENT_SPREAD
              ? fragments.get(selection.name.value)!
              : selection,
            name,
          ),
    ) ?? false;
  const typeNamed = (name: string | undefined): GraphQLCompositeType | undefined =>
    name === undefined ? undefined : (schema.getType(name) as GraphQLCompositeType);
  return costOfSet(operation.selectionSet, root);
}

/** Whether the cost of any operation of the document depends on variables. */
export function pagesByVariable(document: DocumentNode): boolean {
  return document.definitions.some(
    (definition) => "selectionSet" in definition && byVariable(definition.selectionSet),
  );
}

function byVariable(set: SelectionSetNode): boolean {
  return set.selections.some(
    (selection) =>
      (selection.kind === Kind.FIELD &&
        selection.arguments?.some(
          ({ name, value }) =>
            (name.value === "first" || name.value === "last") && value.kind === Kind.VARIABLE,
        )) ||
      ("selectionSet" in selection &&
        selection.selectionSet !== undefined &&
        byVariable(selection.selectionSet)),
  );
}

/** Size of the page that a field asks for, when it has pages. */
function pageOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Variables,
  isRoot: boolean,
): number | undefined {
  const argument = field.args.find(({ name }) => name === "first");
  if (!argument) return undefined;
  const usual =
    isRoot && typeof argument.defaultValue === "number" ? argument.defaultValue : USUAL_PAGE;
  const given = ["first", "last"].flatMap((asked) => {
    const value = node.arguments?.find(({ name }) => name.value === asked)?.value;
    if (value?.kind === Kind.INT) return Math.max(1, Number(value.value));
    const sent = value?.kind === Kind.VARIABLE ? variables[value.name.value] : undefined;
    return typeof sent === "number" && sent >= 1 ? sent : [];
  });
  return given.length === 0 ? usual : Math.max(...given);
}

function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): Variables {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue?.kind === Kind.INT ? [[variable.name.value, Number(defaultValue.value)]] : [],
    ),
  );
}

/** Whether a value of the type is a record or a node. */
function isRecord(type: GraphQLCompositeType): boolean {
  if (isInterfaceType(type) && type.name === "Node") return true;
  return (
    (isObjectType(type) || isInterfaceType(type)) &&
    type.getInterfaces().some(({ name }) => name === "Node")
  );
}
