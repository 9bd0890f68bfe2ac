import { parentPort, workerData } from "node:worker_threads";
import { collectAll } from "../../../memory.js";
import { FeedReader } from "../feed-reader.js";
import { Follower } from "../follower.js";
import type { ThreadData, ThreadReply, ThreadRequest } from "./thread-handle.js";
import { EvidenceStore } from "../evidence/store.js";

/**
 * The thread that holds what evidence needs: it follows the record store over a feed and answers
 * questions one at a time.
 */

/** Bytes that a statement takes at least in a thread that answers SPARQL. */
const BYTES_PER_STATEMENT = 265;

const main = parentPort!;
const data = workerData as ThreadData;
const reply = (message: ThreadReply): void => main.postMessage(message);
const log = (level: "warn" | "error", message: string, fields: Record<string, unknown>): void =>
  reply({ op: "log", level, message, fields });

const store = new EvidenceStore((ark, lines) =>
  log("error", "graph lines that the index cannot store were left out", { ark, lines }),
);
const feed = new FeedReader(data.feed, (message) =>
  log("warn", "the record store did not answer the graph index; retrying", { reason: message }),
);
const held = (): number => store.statements * BYTES_PER_STATEMENT;
let loading = true;

const follower = new Follower({
  feed,
  pageSize: data.pageSize,
  apply: (graphs) => store.apply(graphs),
  onProgress: (done, total) => reply({ op: "progress", done, total, held: held() }),
  onReached(sequence) {
    // The texts that were read are garbage now, many times what is held of them.
    if (loading) collectAll();
    loading = false;
    reply({ op: "reached", sequence, rewrites: store.rewrites, held: held() });
  },
});

main.on("message", (request: ThreadRequest) => {
  if (request.op === "advance") void follower.advance(request.sequence);
  else if (request.op === "evidence")
    reply({
      op: "answer",
      id: request.id,
      text: store.answer(request.question),
      sequence: follower.sequence,
    });
});

void follower.load();
