import { OPERATIONS } from "../rest/openapi/document.js";

/** What stands behind an identifier in the paths of the contract, as in `/ark:{NAAN}/{postfix}/history`. */
export function operationNames(): string[] {
  return [...new Set(OPERATIONS.flatMap(({ path }) => /\{(?:postfix|download_id)\}\/(\w+)\/?$/.exec(path)?.[1] ?? []))].sort();
}

/** `src/identifiers/operation-names.ts`: identifiers know nothing of paths, and new ones must not end in these words. */
export const operationNamesModule = (): string => `// Printed from the contract by \`npm run generate\`.

/** Names that stand behind an identifier in a path and mean an operation on it. */
export const OPERATION_NAMES: readonly string[] = ${JSON.stringify(operationNames()).replaceAll(",", ", ")};
`;
