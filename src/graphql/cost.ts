import {
  Kind, getNamedType, isCompositeType, isInterfaceType, isObjectType,
  type DocumentNode, type FieldNode, type GraphQLCompositeType, type GraphQLField, type GraphQLSchema, type OperationDefinitionNode, type SelectionSetNode,
} from "graphql";

/** Records that a page of links is taken for when `first` is not given: most have few. What they come to is counted while they are read. */
const USUAL_PAGE = 10;
/** Fields other than connections that read as much as a record does. */
const AS_RECORD = new Set(["document"]);

type Variables = Readonly<Record<string, unknown>>;

/**
 * How many records an operation asks for at most: page sizes multiply. Fragments count at each place they stand.
 * The document must be valid.
 */
export function costOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, sent: Variables): number {
  const variables = { ...defaultsOf(operation), ...sent };
  const root = schema.getRootType(operation.operation)!;
  const fragments = new Map(document.definitions.flatMap((definition) => (definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [])));
  const known = new Map<string, number>();

  const costOfSet = (set: SelectionSetNode, type: GraphQLCompositeType): number => {
    let sum = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) sum += costOfField(selection, type);
      else if (selection.kind === Kind.INLINE_FRAGMENT) sum += costOfSet(selection.selectionSet, typeNamed(selection.typeCondition?.name.value) ?? type);
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
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined;
    if (!field) return 0;
    const inner = getNamedType(field.type);
    const below = node.selectionSet && isCompositeType(inner) ? costOfSet(node.selectionSet, inner) : 0;
    const page = pageOf(field, node, variables, type === root);
    if (page !== undefined) return page * Math.max(1, below);
    return isRecord(inner as GraphQLCompositeType) || AS_RECORD.has(field.name) ? 1 + below : below;
  };
  const typeNamed = (name: string | undefined): GraphQLCompositeType | undefined => (name === undefined ? undefined : schema.getType(name) as GraphQLCompositeType);
  return costOfSet(operation.selectionSet, root);
}

/** Whether the cost of any operation of the document depends on variables. */
export function pagesByVariable(document: DocumentNode): boolean {
  return document.definitions.some((definition) => "selectionSet" in definition && byVariable(definition.selectionSet));
}

function byVariable(set: SelectionSetNode): boolean {
  return set.selections.some((selection) =>
    (selection.kind === Kind.FIELD && selection.arguments?.some(({ name, value }) => name.value === "first" && value.kind === Kind.VARIABLE)) ||
    ("selectionSet" in selection && selection.selectionSet !== undefined && byVariable(selection.selectionSet)));
}

/** Size of the page a field is asked for, when it has pages. */
function pageOf(field: GraphQLField<unknown, unknown>, node: FieldNode, variables: Variables, isRoot: boolean): number | undefined {
  const argument = field.args.find(({ name }) => name === "first");
  if (!argument) return undefined;
  const usual = isRoot && typeof argument.defaultValue === "number" ? argument.defaultValue : USUAL_PAGE;
  const given = node.arguments?.find(({ name }) => name.value === "first")?.value;
  if (given?.kind === Kind.INT) return Math.max(1, Number(given.value));
  if (given?.kind !== Kind.VARIABLE) return usual;
  const value = variables[given.name.value];
  return typeof value === "number" && value >= 1 ? value : usual;
}

function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): Variables {
  return Object.fromEntries(variableDefinitions.flatMap(({ variable, defaultValue }) => (defaultValue?.kind === Kind.INT ? [[variable.name.value, Number(defaultValue.value)]] : [])));
}

/** Whether a value of the type is a record or a node. */
function isRecord(type: GraphQLCompositeType): boolean {
  if (isInterfaceType(type) && type.name === "Node") return true;
  return (isObjectType(type) || isInterfaceType(type)) && type.getInterfaces().some(({ name }) => name === "Node");
}
