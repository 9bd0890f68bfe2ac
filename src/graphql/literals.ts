import { BREAK, GraphQLError, visit, type ASTNode, type DocumentNode } from "graphql";
import { isExactNumber } from "../model/json/json-number.js";

/**
 * Why a literal of the document may not be stored, as it would be refused in a JSON body: NUL or a lone surrogate
 * in a string, a number that a double does not hold, nesting without end. `undefined` when all may.
 */
export function badLiteral(document: DocumentNode, maxDepth: number): GraphQLError | undefined {
  let found: GraphQLError | undefined;
  let depth = 0;
  const bad = (node: ASTNode, msg: string, type: string): typeof BREAK => {
    found = new GraphQLError(msg, { nodes: node, extensions: { code: "VALIDATION", detail: [{ loc: ["body", "query", node.loc?.start ?? 0], msg, type }] } });
    return BREAK;
  };
  const nested = {
    enter: (node: ASTNode) => (++depth > maxDepth ? bad(node, `Input should be nested at most ${maxDepth} levels deep (MAX_JSON_DEPTH)`, "too_deep") : undefined),
    leave: () => void depth--,
  };
  const number = (node: ASTNode & { value: string }) => (isExactNumber(node.value) ? undefined : bad(node, "Input should be a number that a double holds exactly", "number_precision"));
  visit(document, {
    StringValue: (node) => (node.value.includes("\0") || !node.value.isWellFormed() ? bad(node, "Input should be a valid string without NUL or lone surrogates", "string_unicode") : undefined),
    IntValue: number,
    FloatValue: number,
    ListValue: nested,
    ObjectValue: nested,
  });
  return found;
}
