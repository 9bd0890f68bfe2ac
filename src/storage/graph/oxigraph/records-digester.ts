import type { MessagePort } from "node:worker_threads";
import { ServiceError } from "../../../errors.js";
import { inferredGraph } from "../../../model/provenance.js";
import type { FeedGraph } from "../../records/port.js";
import { FeedReader, Follower } from "../follower.js";
import type { RecordsDigester } from "../port.js";
import { QuadDigest } from "../quad-digest.js";
import { GraphStore } from "./graph-store.js";

const SUFFIX = inferredGraph("");
const PAGE_SIZE = 500;

/**
 * {@link RecordsDigester} for the Oxigraph index: reads the feed from the beginning, page by page
 * through a scratch store, which rewrites literals as the index does. For commands: nothing else is
 * served meanwhile.
 */
export function openRecordsDigester(
  openFeed: () => MessagePort,
  pageSize: number = PAGE_SIZE,
): RecordsDigester {
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
      let digest = records.get(ark);
      if (!digest) records.set(ark, (digest = new QuadDigest()));
      scratch.digestGraph(graph, digest);
    }
    scratch.free();
  }

  const feed = new FeedReader(openFeed());
  const follower = new Follower({ feed, pageSize, apply });
  const loaded = follower.load();
  // The next digest reports it.
  loaded.catch(() => {});
  return {
    async digest(atLeast) {
      try {
        await loaded;
        await follower.advance(atLeast);
      } catch (error) {
        throw new ServiceError(
          "STORE_UNAVAILABLE",
          `The records could not be read to the end: ${(error as Error).message}`,
        );
      }
      const sum = new QuadDigest();
      for (const digest of records.values()) sum.add(digest);
      let lines = 0;
      for (const count of leftOut.values()) lines += count;
      return {
        digest: sum.digest,
        quads: sum.quads,
        sequence: follower.sequence,
        leftOut: lines,
      };
    },
    close: async () => feed.close(),
  };
}
