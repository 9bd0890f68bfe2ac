import { matrixTests } from "./matrix.js";

// The same rules for browsers that have signed in as for programs with a token.
matrixTests({
  callers: ["admin", "owner", "member", "granted", "other"],
  states: ["private", "embargoed", "withdrawn"],
  by: "session",
});
