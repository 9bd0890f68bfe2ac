import type { Ark } from "../../identifiers/ark.js";
import type { StoredRecord } from "../../storage/records/port.js";
import { findLive } from "../records/find.js";
import { Asking } from "./descriptions.js";
import { outlineOf } from "./outline.js";
import { checkRange } from "./parameters.js";
import { readNodes } from "./read-nodes.js";
import type {
  EvidenceAnswer,
  EvidenceDeps,
  EvidenceGraph,
  EvidenceNode,
  EvidenceRequest,
} from "./types.js";

const INDEX_WAIT = 2_000;
/** Attempts to read a graph when a commit came between its queries. */
const READINGS = 3;

/**
 * The evidence graph of one record, never older than the request. After three attempts disturbed by
 * commits the graph is answered nevertheless, with `asOf` the oldest commit that it includes; so is
 * a graph with too many nodes to hold until all are read.
 *
 * @throws {ServiceError} `NOT_FOUND`, `AMBIGUOUS`, `GONE`, `VALIDATION`, `INDEX_LOADING`,
 * `INDEX_BEHIND`, `QUERY_TIMEOUT`
 */
export async function openEvidence(
  request: EvidenceRequest,
  deps: EvidenceDeps,
): Promise<EvidenceAnswer> {
  checkRanges(request);
  return openEvidenceOf(await upToDate(request.ark, deps), request, deps);
}

/** @throws {ServiceError} `VALIDATION` */
export function checkRanges({ limit, depth, collapse }: EvidenceRequest): void {
  checkRange("limit", limit);
  if (depth !== undefined) checkRange("depth", depth);
  if (collapse !== undefined) checkRange("collapse", collapse, 2);
}

/** The same as {@link openEvidence} for a record that was found, and an index that is up to date. */
export async function openEvidenceOf(
  record: StoredRecord,
  request: EvidenceRequest,
  deps: EvidenceDeps,
): Promise<EvidenceAnswer> {
  for (let reading = 1; ; reading++) {
    const ask = askingOf(deps);
    const answer = await readNodes(ask, await outlineOf(ask, record, request, deps), request, deps);
    if (!answer.complete || ask.consistent || reading === READINGS) return answer;
  }
}

/** The same, all at once. */
export async function evidenceGraph(
  request: EvidenceRequest,
  deps: EvidenceDeps,
): Promise<EvidenceGraph> {
  const { head, nodes, tail } = await openEvidence(request, deps);
  const graph: EvidenceNode[] = [];
  for await (const some of nodes()) for (const node of some) graph.push(node);
  return { ...head, "@graph": graph, ...tail() };
}

export const askingOf = ({ queries, timeout }: EvidenceDeps): Asking =>
  new Asking(queries, timeout === undefined ? {} : { timeout });

/** The requested record, after the index has applied all commits before the request. */
export async function upToDate(ark: Ark, deps: EvidenceDeps): Promise<StoredRecord> {
  const sequence = await deps.records.sequence();
  const record = await findLive(deps, ark);
  await reached(sequence, deps);
  return record;
}

/** Waits until the index has applied all commits up to this one. */
export const reached = (sequence: number, { queries, wait }: EvidenceDeps): Promise<void> =>
  queries.reach(sequence, wait ?? INDEX_WAIT);
