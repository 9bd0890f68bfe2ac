/**
 * The documents of stored evidence graphs. Names of records that were deleted since are left out
 * where they are read.
 */
import { type JsonObject, PREFIXES } from "../../../model/field.js";
import { PROVENANCE } from "../../../model/provenance.js";
import type { Deps } from "../../deps.js";
import { askedArk } from "../../records/find.js";
import type { Question } from "../../records/forgotten.js";
import { evidenceGraph } from "../evidence-graph.js";

/** The most nodes that one answer may have; `hidden` counts the nodes beyond. */
const MAX_NODES = 100_000;

/** Values are strings, as everywhere in records of the contract. */
const CONTEXT: JsonObject = {
  "@vocab": PREFIXES.schema,
  evi: PREFIXES.evi,
  prov: PREFIXES.prov,
  ...Object.fromEntries(Object.entries(PROVENANCE).map(([name, { evi }]) => [name, evi])),
  outputs: "evi:outputs",
};

const SAYS = {
  upstream: "What supports",
  downstream: "What is supported by",
  both: "What supports, and what is supported by,",
} as const;

/** The members of a stored graph's document that depend on its inputs. */
export async function builtMembers(
  deps: Pick<Deps, "config" | "records" | "queries">,
  question: Question,
  wait: number,
): Promise<JsonObject> {
  const { records, queries, config } = deps;
  const asked = question.assertedBy === "owner" ? { assertedBy: question.assertedBy } : {};
  const {
    "@context": _context,
    "@id": about,
    ...graph
  } = await evidenceGraph(
    {
      ark: askedArk(question.ark),
      direction: question.direction,
      limit: MAX_NODES,
      ...(question.depth === null ? {} : { depth: question.depth }),
      ...asked,
    },
    { records, queries, wait, timeout: config.QUERY_TIMEOUT },
  );
  const { cursor: _cursor, direction, ...rest } = graph;
  return { about, direction, depth: question.depth, ...asked, ...rest } as unknown as JsonObject;
}

/**
 * A new document around them. The owner may change its name and description later: they are
 * preserved.
 */
export function documentAround(
  ark: string,
  members: JsonObject,
  { question, owner }: { question: Question; owner: string },
): JsonObject {
  const within =
    question.depth === null
      ? ""
      : `, within ${question.depth} ${question.depth === 1 ? "step" : "steps"}`;
  return {
    "@context": CONTEXT,
    "@id": ark,
    "@type": "evi:EvidenceGraph",
    // Not by the record's name, which would remain here when the record is deleted.
    name: [...`Evidence graph of ${question.ark}`].slice(0, 200).join(""),
    description:
      `${SAYS[question.direction]} ` +
      `${question.ark}${within}${question.assertedBy === "owner" ? ", as stated by owners" : ""}.`,
    owner,
    ...members,
  };
}
