import { EXAMPLES } from "../../model/examples.js";
import type { JsonObject } from "../../model/field.js";
import type { Kind } from "../../model/kind.js";
import { KINDS } from "../../model/kinds/index.js";
import { FIND_REFUSALS, json, schemaRef, type Operation } from "./operation.js";
import { HISTORY, arkPath } from "./parameters.js";

const exampleOf = (kind: Kind): JsonObject => {
  const by = EXAMPLES.user["@id"]!;
  return {
    "@id": EXAMPLES[kind.name]["@id"]!,
    revisions: [
      { revision: 2, at: "2024-05-04T10:00:00.000Z", by, action: "update", changed: ["/name"] },
      { revision: 1, at: "2024-05-03T08:00:00.000Z", by, action: "create", changed: [] },
    ],
  };
};

const operation = (path: string, operationId: string, kind: Kind, last = "postfix"): Operation => ({
  method: "get", path: `${path}/ark:{NAAN}/{${last}}/history`, operationId, tag: "identifiers", summary: "States of a record, newest first",
  description: "`changed` names what differs from the state before, as JSON pointers; of a user, private fields are named to the user itself and administrators only. Each state is read with `?revision=`. Those of a deleted record are for its owner and administrators.",
  parameters: [...arkPath(EXAMPLES[kind.name]["@id"] as string, last), ...HISTORY],
  answer: { description: "The history; with `Link: rel=\"next\"` when there is more.", content: json(schemaRef("History"), exampleOf(kind)), headers: ["Link"] },
  token: "optional", refusals: FIND_REFUSALS,
});

/** Of any record, and below the path of each kind. */
export const HISTORIES: readonly Operation[] = [
  operation("", "resolve_history", KINDS.dataset),
  ...Object.values(KINDS).filter(({ path }) => path !== null).map((kind) => operation(`/${kind.path}`, `history_${kind.name}`, kind, kind.name === "datadownload" ? "download_id" : "postfix")),
];
