import { parentPort, workerData } from "node:worker_threads";
import { inferredGraph } from "../../../model/provenance.js";
import type { FeedGraph } from "../../records/port.js";
import { FeedReader, Follower } from "../follower.js";
import { QuadDigest } from "../quad-digest.js";
import { GraphStore } from "./graph-store.js";
import type { DigestReply, DigestRequest, ThreadData } from "./thread-handle.js";
import { getOrInsert } from "../../../get-or-insert.js";

/**
 * Digests the record store in a thread of its own, page by page through a scratch store, which
 * rewrites literals as the index does.
 */

const main = parentPort!;
const data = workerData as ThreadData;
const SUFFIX = inferredGraph("");

/** By record, so that a record that changes meanwhile can be taken out and put in again. */
const records = new Map<string, QuadDigest>();
const leftOut = new Map<string, number>();

function apply(graphs: FeedGraph[]): void {
  const scratch = new GraphStore((ark, lines) => leftOut.set(ark, lines));
  for (const { ark } of graphs) {
    records.delete(ark);
    leftOut.delete(ark);
  }
  scratch.apply(graphs);
  for (const graph of scratch.graphs()) {
    const ark = graph.endsWith(SUFFIX) ? graph.slice(0, -SUFFIX.length) : graph;
    scratch.digestGraph(
      graph,
      getOrInsert(records, ark, () => new QuadDigest()),
    );
  }
  scratch.free();
}

const follower = new Follower({ feed: new FeedReader(data.feed), pageSize: data.pageSize, apply });
const loaded = follower.load();

main.on("message", async ({ atLeast }: DigestRequest) => {
  await loaded;
  await follower.advance(atLeast);
  const sum = new QuadDigest();
  for (const digest of records.values()) sum.add(digest);
  let lines = 0;
  for (const count of leftOut.values()) lines += count;
  main.postMessage({
    digest: sum.digest,
    quads: sum.quads,
    sequence: follower.sequence,
    leftOut: lines,
  } satisfies DigestReply);
});
