// Printed from the contract by `npm run generate`.

/** Names that stand behind an identifier in a path and mean an operation on it. */
export const OPERATION_NAMES: readonly string[] = [
  "addUser",
  "download",
  "history",
  "rescore",
  "rmUser",
  "upload",
  "validate",
];
