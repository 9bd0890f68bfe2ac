/** The cost of an operation: how many records it asks for at most. */
import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from "graphql";
import { RELATIONS } from "../model/connections.js";

/**
 * Records assumed for a page of links when `first` is not given: most pages have few, and four
 * levels of lists must fit. The real number is counted while they are read.
 */
const USUAL_PAGE = 7;
/** Price of counting what one record has: more than that of reading a page of it. */
const COUNTED = 10;
/** Price of a filter or an order of the links of one record, which are found in one more read. */
const SELECTED_LINKS = 10;
/** Price of each link that a filter follows: in a list of all records, and among links. */
const [FOLLOWED, FOLLOWED_AMONG_LINKS] = [100, 10];
/** What fields other than connections cost, in reads of a record; by type where a name is common. */
const COSTS: ReadonlyMap<string, number> = new Map([
  ["document", 1],
  ["as", 1],
  ["differences", 2],
  ["ROCrate.score", 10],
  ["ROCrate.recordCounts", 10],
  ["ROCrate.datasheet", 10],
  ["ROCrate.metadata", 100],
  // Of a picture up to hundreds of nodes are read and placed.
  ["Evidence.as", 100],
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
    const fragment = fragments.get(name);
    const type = typeNamed(fragment?.typeCondition.name.value);
    // Validation has found both: what is unknown would not be free.
    const cost = fragment && type ? costOfSet(fragment.selectionSet, type) : Infinity;
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
    const selecting = costOfArguments(field, node, variables, type === root);
    if (page !== undefined) {
      const there = totals.get(inner.name) ?? Infinity;
      const counted =
        isRecord(type) && inner.name !== "RevisionConnection" && selects(node, "totalCount");
      return (
        Math.max(1, Math.min(page, there)) * Math.max(1, below) +
        (counted ? COUNTED : 0) +
        selecting
      );
    }
    const own = COSTS.get(`${type.name}.${field.name}`) ?? COSTS.get(field.name);
    return below + selecting + (own ?? (isRecord(inner as GraphQLCompositeType) ? 1 : 0));
  };
  const selects = (node: { selectionSet?: SelectionSetNode } | undefined, name: string): boolean =>
    node?.selectionSet?.selections.some((selection) =>
      selection.kind === Kind.FIELD
        ? selection.name.value === name
        : selects(
            selection.kind === Kind.FRAGMENT_SPREAD
              ? fragments.get(selection.name.value)
              : selection,
            name,
          ),
    ) ?? false;
  const typeNamed = (name: string | undefined): GraphQLCompositeType | undefined =>
    name === undefined ? undefined : (schema.getType(name) as GraphQLCompositeType);
  return costOfSet(operation.selectionSet, root);
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
  // oxlint-disable-next-line arkgraph/spread-into-call -- first and last
  return given.length === 0 ? usual : Math.max(...given);
}

/** What it costs to find the records, besides that of reading them. */
function costOfArguments(
  field: GraphQLField<unknown, unknown>,
  { arguments: given = [] }: FieldNode,
  variables: Variables,
  isRoot: boolean,
): number {
  const asked = field.args.flatMap(({ name, type }) => {
    const argument = given.find((each) => each.name.value === name);
    const value = argument && valueFromASTUntyped(argument.value, variables);
    return value == null ? [] : [[getNamedType(type).name, value] as const];
  });
  const filters = asked.flatMap(([type, value]) => (type === "RecordFilter" ? [value] : []));
  const followed = filters.reduce<number>((sum, filter) => sum + linksIn(filter), 0);
  if (isRoot) return followed * FOLLOWED;
  const isSelected = filters.length > 0 || asked.some(([type]) => type === "RecordOrder");
  return (isSelected ? SELECTED_LINKS : 0) + followed * FOLLOWED_AMONG_LINKS;
}

/** How many links a filter follows, at all its levels. */
function linksIn(filter: unknown): number {
  if (filter === null || typeof filter !== "object") return 0;
  return Object.entries(filter).reduce(
    (sum, [name, value]) =>
      sum + linksIn(value) + (value != null && Object.hasOwn(RELATIONS, name) ? 1 : 0),
    0,
  );
}

function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): Variables {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)]] : [],
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
