import { matrixTests } from "./matrix.js";
import { CALLERS } from "./who-sees.js";

matrixTests({
  callers: CALLERS,
  states: ["private", "openDraft", "privateArchived", "privateWithdrawn"],
});
