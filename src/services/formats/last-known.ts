/** What a deleted record was, for its tombstone. */
import type { KindName } from "../../model/kind.js";
import { nameText } from "../../model/labels.js";
import type { Deps } from "../deps.js";
import { landmarksOf } from "../records/list.js";
import { viewOf } from "../records/view.js";
import { citationText } from "./citations.js";
import { CITED, factsOf } from "./facts.js";

export interface LastKnown {
  kind: KindName;
  name: string;
  description: string | null;
  creators: string[];
  citation: string;
}

/**
 * Who cited a record finds out what it was. Null for a draft, which nobody can have cited, and for
 * kinds that are not cited, such as people.
 */
export async function lastKnown(
  deps: Pick<Deps, "records" | "config" | "baseUrl">,
  ark: string,
): Promise<LastKnown | null> {
  const [record] = await deps.records.findMany([ark]);
  if (!record || record.publicationStatus === "DRAFT" || !CITED.includes(record.kind)) return null;
  const view = await viewOf(deps as Deps, record, null);
  const facts = await factsOf(deps, view);
  return {
    kind: record.kind,
    name: nameText({ id: ark, name: facts.title }),
    description: landmarksOf(record).description,
    creators: facts.creators.map(({ name }) => name),
    citation: await citationText(deps, view),
  };
}
