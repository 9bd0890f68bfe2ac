import { Document, visit } from "yaml";

/** Line breaks of YAML 1.1 and a byte-order mark, which readers drop or break lines at. */
const BREAKS = /[\u0085\u2028\u2029\ufeff]/;
/** Its value `=`, for which no reader has a meaning. */
const MEANT = /^=$/;

/**
 * A document that readers of YAML 1.1 and of 1.2 read alike: text that one of them takes for a
 * number, a date or a truth value, such as `no`, `1:30` and `2024-01-01`, is quoted.
 */
export function yamlText(value: object): string {
  const document = new Document(value, { compat: "yaml-1.1" });
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "string" && (BREAKS.test(node.value) || MEANT.test(node.value)))
        node.type = "QUOTE_DOUBLE";
    },
  });
  // Within quotes only, as set above.
  return document
    .toString({ lineWidth: 0 })
    .replace(
      new RegExp(BREAKS, "g"),
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}
