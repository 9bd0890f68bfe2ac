import { tellingWordsOf } from "../../search/words.js";
import type { Session } from "../statement.js";
import { pickRelated, RECORDS_LOOKED_AT } from "../../search/related.js";
import type { Analyzer } from "./analyzer.js";
import type { Commonness } from "./vocabulary.js";

/**
 * Stems that mark what the best records of a query are about.
 * @param texts of the best records
 * @param asked stems of the query, which are not answered
 * @param records all there are
 */
export async function relatedStems(session: Session, analyzer: Analyzer, commonness: Commonness, texts: readonly string[], asked: readonly string[], records: number): Promise<string[]> {
  const stems = texts.slice(0, RECORDS_LOOKED_AT).map((text) => new Set(analyzer.stemsOf(tellingWordsOf(text))));
  const best = new Map<string, number>();
  for (const stem of stems.flatMap((some) => [...some])) best.set(stem, (best.get(stem) ?? 0) + 1);
  for (const stem of asked) best.delete(stem);
  const shared = [...best].filter(([stem, times]) => times > 1 && stem.length > 2).map(([stem]) => stem);
  const counts = await commonness.of(session, shared);
  return pickRelated([...best].map(([stem, times]) => ({ word: stem, stem, best: times })), (stem) => counts.get(stem) ?? Infinity, records);
}
