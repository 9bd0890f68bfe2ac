import { GraphQLError, Kind, type DocumentNode, type FieldNode, type SelectionSetNode } from "graphql";
import { repeatsItself } from "./overlaps.js";

/** Most aliases of a document: each is one more answer to the same field. */
export const MAX_ALIASES = 100;

const refused = (message: string) => new GraphQLError(message, { extensions: { code: "QUERY_TOO_COSTLY" } });

/**
 * Why a document is refused that nests too deep or repeats itself too often, fragments followed; `undefined` for
 * all others. Asked before validation, which takes long over such documents or runs out of stack.
 */
export function overLimit(document: DocumentNode, maxDepth: number): GraphQLError | undefined {
  const fragments = new Map(document.definitions.flatMap((definition) => (definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition.selectionSet] as const] : [])));
  // First the depth: what follows goes into every level.
  if (isTooDeep(document, fragments, maxDepth)) return refused(`The document is nested more than ${maxDepth} levels deep (GRAPHQL_MAX_DEPTH): ask for the rest in a second query.`);
  const known = new Map<string, number>();
  const aliases = document.definitions.reduce((most, definition) => Math.max(most, "selectionSet" in definition ? countAliases(definition.selectionSet, fragments, known) : 0), 0);
  if (aliases > MAX_ALIASES) return refused(`The document has ${aliases} aliases, those of its fragments counted at each place; at most ${MAX_ALIASES} are answered.`);
  return repeatsItself(document) ? refused("The document selects the same fields over and over, those of its fragments counted at each place. Select each field once.") : undefined;
}

type Fragments = ReadonlyMap<string, SelectionSetNode>;

/** Fragments count as often as they are spread. A cycle, which the validation refuses, counts as nothing. */
function countAliases(set: SelectionSetNode, fragments: Fragments, known: Map<string, number>): number {
  return set.selections.reduce((sum, selection) => {
    if (selection.kind !== Kind.FRAGMENT_SPREAD) return sum + (selection.kind === Kind.FIELD && selection.alias ? 1 : 0) + (selection.selectionSet ? countAliases(selection.selectionSet, fragments, known) : 0);
    const name = selection.name.value;
    const body = fragments.get(name);
    if (body && !known.has(name)) {
      known.set(name, 0);
      known.set(name, countAliases(body, fragments, known));
    }
    return sum + (known.get(name) ?? 0);
  }, 0);
}

/** Inline fragments are no level of the answer, but the validation steps into each. */
const MAX_NESTING = 200;
/** Levels below `__schema` and `__type`, which do not count: tools ask for types of types of types. */
const MAX_INTROSPECTION_DEPTH = 25;

/** Whether a field nests deeper than `most`; fragments that nothing spreads are validated as well, and count. */
function isTooDeep(document: DocumentNode, fragments: Fragments, most: number): boolean {
  const records = new Depths(fragments, most);
  const types = new Depths(fragments, MAX_INTROSPECTION_DEPTH);
  records.introspection = types;
  return document.definitions.some((definition) => {
    if (!("selectionSet" in definition)) return false;
    const ofTypes = definition.kind === Kind.FRAGMENT_DEFINITION && definition.typeCondition.name.value.startsWith("__");
    return (ofTypes ? types : records).exceeds(definition.selectionSet, 0, 0);
  });
}

class Depths {
  introspection: Depths | undefined;
  /** The deepest level each fragment was entered at: entering it deeper may lead deeper, less deep does not. So a cycle ends. */
  private readonly entered = new Map<string, number>();
  constructor(private readonly fragments: Fragments, private readonly most: number) {}

  exceeds(set: SelectionSetNode, level: number, nesting: number): boolean {
    if (level > this.most || nesting > MAX_NESTING) return true;
    return set.selections.some((selection) => {
      if (selection.kind === Kind.INLINE_FRAGMENT) return this.exceeds(selection.selectionSet, level, nesting + 1);
      if (selection.kind === Kind.FIELD) return this.fieldExceeds(selection, level, nesting);
      const name = selection.name.value;
      const body = this.fragments.get(name);
      if (!body || (this.entered.get(name) ?? -1) >= level) return false;
      this.entered.set(name, level);
      return this.exceeds(body, level, nesting + 1);
    });
  }

  private fieldExceeds({ name, selectionSet }: FieldNode, level: number, nesting: number): boolean {
    if (name.value.startsWith("__") && this.introspection) return selectionSet !== undefined && this.introspection.exceeds(selectionSet, 0, 0);
    return selectionSet ? this.exceeds(selectionSet, level + 1, nesting + 1) : level + 1 > this.most;
  }
}
