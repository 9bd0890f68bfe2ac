import { parentPort, workerData } from "node:worker_threads";
import { collectAll } from "../../../memory.js";
import { readSnapshot, writeSnapshot } from "../evidence/snapshot.js";
import { EvidenceStore } from "../evidence/store.js";
import { FeedReader, Follower } from "../follower.js";
import type { ThreadData, ThreadReply, ThreadRequest } from "./thread-handle.js";

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

const emptyStore = (): EvidenceStore =>
  new EvidenceStore((ark, lines) =>
    log("error", "graph lines that the index cannot store were left out", { ark, lines }),
  );
let store = emptyStore();
/** The commit that the store is as of, where a snapshot on disk is that of these records. */
let from: number | undefined;
if (data.snapshot?.token !== undefined) {
  try {
    from = readSnapshot(data.snapshot.file, store, data.snapshot.token);
  } catch (error) {
    log("warn", "the snapshot of the graph index cannot be read; all records are read instead", {
      reason: (error as Error).message,
    });
    store = emptyStore();
  }
}
const feed = new FeedReader(data.feed, (message) =>
  log("warn", "the record store did not answer the graph index; retrying", { reason: message }),
);
const held = (): number => store.statements * BYTES_PER_STATEMENT;
let loading = true;
/** Records that were applied and are not in the snapshot on disk. */
let changed = 0;
/** With so many, and a tenth of all, a snapshot is due: reading them again takes seconds. */
const MANY_CHANGED = 20_000;

const follower = new Follower({
  feed,
  pageSize: data.pageSize,
  apply(graphs) {
    store.apply(graphs);
    changed += graphs.length;
  },
  onProgress: (done, total) => reply({ op: "progress", done, total, held: held() }),
  onReached(sequence) {
    // The texts that were read are garbage now, many times what is held of them.
    if (loading) collectAll();
    loading = false;
    const due = changed >= Math.max(MANY_CHANGED, store.terms / 10);
    const { rewrites, records } = store;
    reply({ op: "reached", sequence, rewrites, records, held: held(), changed, due });
  },
});

async function save(token: string): Promise<void> {
  const before = changed;
  // Everything up to here is in it, and later changes count from now.
  changed = 0;
  try {
    await writeSnapshot(data.snapshot!.file, store, follower.sequence, token);
    reply({ op: "saved", token });
  } catch (error) {
    changed += before;
    log("warn", "a snapshot of the graph index could not be written", {
      reason: (error as Error).message,
    });
    reply({ op: "saved" });
  }
}

main.on("message", (request: ThreadRequest) => {
  if (request.op === "advance") void follower.advance(request.sequence);
  else if (request.op === "evidence")
    reply({
      op: "answer",
      id: request.id,
      text: store.answer(request.question),
      sequence: follower.sequence,
    });
  else if (request.op === "save") void save(request.token);
});

void follower.load(from);
