import { GraphQLError, Kind, type ASTVisitor, type DocumentNode, type SelectionSetNode, type ValidationContext } from "graphql";
import type { Config } from "../config.js";

/** Most lexical tokens of a document; the parser stops there. */
export const MAX_TOKENS = 10_000;
/** Most aliases of a document: each is one more answer to the same field. */
const MAX_ALIASES = 100;

/** A validation rule that refuses documents nested deeper than GRAPHQL_MAX_DEPTH or with too many aliases, fragments followed. */
export function limitRule(config: Pick<Config, "GRAPHQL_MAX_DEPTH">): (context: ValidationContext) => ASTVisitor {
  return (context) => ({
    Document(document) {
      const depth = depthOf(document);
      if (depth > config.GRAPHQL_MAX_DEPTH) context.reportError(new GraphQLError(`The document is nested ${depth} levels deep; at most ${config.GRAPHQL_MAX_DEPTH} are answered (GRAPHQL_MAX_DEPTH).`));
    },
    OperationDefinition(operation) {
      const aliases = countAliases(operation.selectionSet);
      if (aliases > MAX_ALIASES) context.reportError(new GraphQLError(`The operation has ${aliases} aliases; at most ${MAX_ALIASES} are answered.`));
    },
  });
}

function countAliases(set: SelectionSetNode): number {
  return set.selections.reduce((sum, selection) => sum + (selection.kind === Kind.FIELD && selection.alias ? 1 : 0) + ("selectionSet" in selection && selection.selectionSet ? countAliases(selection.selectionSet) : 0), 0);
}

/** Introspection nests by itself; its fields do not count. */
function depthOf(document: DocumentNode): number {
  const fragments = new Map(document.definitions.flatMap((definition) => (definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition.selectionSet] as const] : [])));
  const known = new Map<string, number>();
  const depth = (set: SelectionSetNode, within: ReadonlySet<string>): number => Math.max(0, ...set.selections.map((selection) => {
    if (selection.kind === Kind.FIELD) return selection.name.value.startsWith("__") ? 0 : 1 + (selection.selectionSet ? depth(selection.selectionSet, within) : 0);
    if (selection.kind === Kind.INLINE_FRAGMENT) return depth(selection.selectionSet, within);
    const name = selection.name.value;
    // A cycle of fragments is refused by another rule; here it must only end.
    if (within.has(name)) return 0;
    const before = known.get(name);
    if (before !== undefined) return before;
    const body = fragments.get(name);
    const found = body ? depth(body, new Set([...within, name])) : 0;
    known.set(name, found);
    return found;
  }));
  return Math.max(0, ...document.definitions.map((definition) => (definition.kind === Kind.OPERATION_DEFINITION ? depth(definition.selectionSet, new Set()) : 0)));
}
