import { accessTests } from "./differential.js";

// Records of a few states; differential.slow.test.ts has all.
accessTests({
  by: "token",
  states: [],
  read: ["draft", "deleted", "crateMember", "private"],
});
