import { setImmediate as nextTurn } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { ServiceError } from "../../../errors.js";
import { refusalOf } from "../answers.js";
import { FeedReader, Follower } from "../follower.js";
import { QuadDigest } from "../quad-digest.js";
import { GraphStore, rethrowFatal, watchPanics } from "./graph-store.js";
import type { ThreadData, ThreadReply, ThreadRequest } from "./thread-handle.js";

/**
 * The thread that owns an Oxigraph store: it follows the record store over a feed and answers
 * queries one at a time.
 */

/** ms that a digest may hold up queries at a time. */
const DIGEST_SLICE = 10;

const main = parentPort!;
const data = workerData as ThreadData;
const reply = (message: ThreadReply): void => main.postMessage(message);
const log = (
  level: "info" | "warn" | "error",
  message: string,
  fields: Record<string, unknown>,
): void => reply({ op: "log", level, message, fields });

watchPanics();

/**
 * Bytes of the engine's instance; it is the only WASM here, and the rest of V8's external memory is
 * little.
 */
function engineBytes(): number {
  const { external, arrayBuffers } = process.memoryUsage();
  return external - arrayBuffers;
}
/**
 * Bytes of the graphs: the engine's growth when they came. Its growth by queries is not included.
 */
let held = engineBytes();

const store = new GraphStore((ark, lines, reason) =>
  log("error", "graph lines that the index cannot store were left out", { ark, lines, reason }),
);
const feed = new FeedReader(data.feed, (message) =>
  log("warn", "the record store did not answer the graph index; retrying", { reason: message }),
);
/**
 * The requested digests that are not yet made. Nothing is applied meanwhile, or the digest would
 * mix two states.
 */
let digesting: Promise<void> | undefined;

const follower = new Follower({
  feed,
  pageSize: data.pageSize,
  async apply(graphs) {
    while (digesting) await digesting;
    const before = engineBytes();
    store.apply(graphs);
    held += Math.max(engineBytes() - before, 0);
  },
  onProgress: (done, total) => reply({ op: "progress", done, total, held }),
  onReached(sequence) {
    const { rewrites, records } = store;
    reply({ op: "reached", sequence, rewrites, records, held });
  },
});

async function digest(id: number): Promise<void> {
  const { sequence } = follower;
  const sum = new QuadDigest();
  let sliceEnd = performance.now() + DIGEST_SLICE;
  for (const graph of store.graphs()) {
    store.digestGraph(graph, sum);
    if (performance.now() > sliceEnd) {
      await nextTurn();
      sliceEnd = performance.now() + DIGEST_SLICE;
    }
  }
  reply({ op: "digested", id, digest: sum.digest, quads: sum.quads, sequence });
}

/** The code for users' queries is not loaded where only the service asks. */
async function answerOpenQuery({
  id,
  ...request
}: Extract<ThreadRequest, { op: "ask" }>): Promise<void> {
  const { answer } = await import("./open/answer.js");
  const { sequence } = follower;
  try {
    reply({ op: "asked", id, ...(await answer(store, request)), sequence });
  } catch (error) {
    rethrowFatal(error);
    const refused = error instanceof ServiceError ? error : refusalOf((error as Error).message);
    const { message, code, extra } = refused;
    reply({ op: "refused", id, message, code, extra });
  }
}

main.on("message", (request: ThreadRequest) => {
  if (request.op === "advance") {
    void follower.advance(request.sequence);
  } else if (request.op === "digest") {
    const mine = (digesting ?? Promise.resolve())
      .then(() => digest(request.id))
      .finally(() => {
        if (digesting === mine) digesting = undefined;
      });
    digesting = mine;
  } else if (request.op === "ask") {
    void answerOpenQuery(request);
  } else if (request.op === "query") {
    try {
      reply({
        op: "answer",
        id: request.id,
        text: store.query(request.query, request.format),
        sequence: follower.sequence,
      });
    } catch (error) {
      rethrowFatal(error);
      reply({ op: "refused", id: request.id, message: (error as Error).message });
    }
  }
});

void follower.load();
