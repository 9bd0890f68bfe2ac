import { matrixTests } from "./matrix.js";
import { CALLERS } from "./who-sees.js";

matrixTests({
  callers: CALLERS,
  states: ["published", "embargoed", "archived", "withdrawn", "newVersion", "contentDeleted"],
});
