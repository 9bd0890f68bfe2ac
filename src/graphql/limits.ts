import { GraphQLError, Kind, type ASTVisitor, type DocumentNode, type FloatValueNode, type IntValueNode, type SelectionSetNode, type ValidationContext } from "graphql";
import type { Config } from "../config.js";
import { isExactNumber } from "../model/json/json-number.js";
import { findBadString } from "../model/strings.js";

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
      const aliases = countAliases(operation.selectionSet, context, new Map());
      if (aliases > MAX_ALIASES) context.reportError(new GraphQLError(`The operation has ${aliases} aliases, those of its fragments counted each time; at most ${MAX_ALIASES} are answered.`));
    },
    // Values written into the document are held to what values sent beside it are.
    IntValue: (node) => checkNumber(node, context),
    FloatValue: (node) => checkNumber(node, context),
    StringValue(node) {
      if (findBadString(node.value)) context.reportError(new GraphQLError("A string holds NUL or a lone surrogate, which no store can keep.", { nodes: node }));
    },
  });
}

function checkNumber(node: IntValueNode | FloatValueNode, context: ValidationContext): void {
  if (!isExactNumber(node.value)) context.reportError(new GraphQLError(`The number ${node.value.slice(0, 50)} cannot be held exactly; write it as a string.`, { nodes: node }));
}

/** Aliases of a selection, fragments followed as often as they are spread. A cycle, which another rule refuses, counts as nothing. */
function countAliases(set: SelectionSetNode, context: ValidationContext, known: Map<string, number>): number {
  return set.selections.reduce((sum, selection) => {
    if (selection.kind !== Kind.FRAGMENT_SPREAD) {
      return sum + (selection.kind === Kind.FIELD && selection.alias ? 1 : 0) + (selection.selectionSet ? countAliases(selection.selectionSet, context, known) : 0);
    }
    const name = selection.name.value;
    const fragment = context.getFragment(name);
    if (!known.has(name) && fragment) {
      known.set(name, 0);
      known.set(name, countAliases(fragment.selectionSet, context, known));
    }
    return sum + (known.get(name) ?? 0);
  }, 0);
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
