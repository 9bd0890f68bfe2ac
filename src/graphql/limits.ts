import { GraphQLError, Kind, type DocumentNode, type SelectionSetNode } from "graphql";

/** Most lexical tokens of a document; the parser stops there. */
export const MAX_TOKENS = 10_000;
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
  const depth = depthOf(document, fragments, maxDepth);
  if (depth > maxDepth) return refused(`The document is nested more than ${maxDepth} levels deep (GRAPHQL_MAX_DEPTH): ask for the rest in a second query.`);
  const known = new Map<string, number>();
  const aliases = Math.max(0, ...document.definitions.map((definition) => ("selectionSet" in definition ? countAliases(definition.selectionSet, fragments, known) : 0)));
  return aliases > MAX_ALIASES ? refused(`The document has ${aliases} aliases, those of its fragments counted at each place; at most ${MAX_ALIASES} are answered.`) : undefined;
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

/** Levels of fields, not followed further than `most` and one. Introspection nests by itself; its fields do not count. */
function depthOf(document: DocumentNode, fragments: Fragments, most: number): number {
  /** The least level each fragment was entered at; entering it deeper may lead deeper, less deep does not. */
  const entered = new Map<string, number>();
  const depth = (set: SelectionSetNode, level: number, nesting: number): number => {
    let deepest = nesting > MAX_NESTING ? most + 1 : level;
    for (const selection of set.selections) {
      if (deepest > most) return deepest;
      if (selection.kind === Kind.FIELD) {
        if (!selection.name.value.startsWith("__")) deepest = Math.max(deepest, selection.selectionSet ? depth(selection.selectionSet, level + 1, nesting + 1) : level + 1);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) deepest = Math.max(deepest, depth(selection.selectionSet, level, nesting + 1));
      else {
        const name = selection.name.value;
        const body = fragments.get(name);
        // Once more only when it lies deeper than before: so it ends, in a cycle too.
        if (!body || (entered.get(name) ?? -1) >= level) continue;
        entered.set(name, level);
        deepest = Math.max(deepest, depth(body, level, nesting + 1));
      }
    }
    return deepest;
  };
  // Fragments that nothing spreads are validated all the same.
  return Math.max(0, ...document.definitions.map((definition) => ("selectionSet" in definition ? depth(definition.selectionSet, 0, 0) : 0)));
}
