/**
 * The thread that owns all writes. Waiting requests are done in one transaction and share its one
 * sync of the disk.
 */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { Commit, RecordWrite } from "../port.js";
import { Committer, GroupCommit } from "./commit.js";
import { openForWriting } from "./connection.js";
import {
  type PreparedCommit,
  type PreparedWrite,
  prepareWrite,
  type WriterMessage,
  type WriterRequest,
  type WriterTask,
} from "./requests.js";
import { migrate } from "./schema.js";
import { sendError } from "./statement.js";

/** Bounds the memory and the wait of one group; more is done right after. */
const LARGEST_GROUP = 512;

const port = parentPort!;
const { file } = workerData as { file: string };
const post = (message: WriterMessage): void => port.postMessage(message);

function open(): { group: GroupCommit; close: () => void } {
  const connection = openForWriting(file);
  try {
    migrate(connection, file);
    // Marks of a sweep that an earlier process did not end: no process removes objects now.
    connection.exec("DELETE FROM object_removal");
    // Only one process at a time has the file open: an earlier holder of a lease is gone.
    connection.exec("UPDATE lease SET holder = NULL");
    return {
      group: new GroupCommit(connection, new Committer(connection)),
      close() {
        connection.pragma("wal_checkpoint(TRUNCATE)");
        connection.close();
      },
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Parts of a commit that follows. */
interface Parts {
  records: PreparedWrite[];
  /** Why one of them could not be prepared. */
  fault?: unknown;
}

function serve(): void {
  const { group, close } = open();
  const received = new Map<number, Parts>();
  /** Before the transaction that writes them: no other request waits for this. */
  const prepare = (id: number, part: readonly RecordWrite[]): Parts => {
    const parts = received.get(id) ?? { records: [] };
    received.set(id, parts);
    try {
      for (const write of part) parts.records.push(prepareWrite(write));
    } catch (error) {
      parts.fault ??= error;
    }
    return parts;
  };
  const prepared = (task: WriterTask): WriterTask => {
    if (task.call !== "commit") return task;
    const commit = task.args[0] as Commit;
    const parts = prepare(task.id, commit.records);
    received.delete(task.id);
    return { ...task, args: [{ ...commit, ...parts } satisfies PreparedCommit] };
  };
  /** Those that were handed over before they were asked for. */
  const handed: WriterRequest[] = [];
  const next = (): WriterRequest | undefined =>
    handed.shift() ?? receiveMessageOnPort(port)?.message;
  const serveGroup = async (): Promise<void> => {
    const waiting: WriterTask[] = [];
    let ending = false;
    while (!ending && waiting.length < LARGEST_GROUP) {
      const message = next();
      if (!message) break;
      if ("close" in message) ending = true;
      else if ("task" in message) waiting.push(prepared(message.task));
      else {
        prepare(message.id, message.part);
        // Tasks that came before the part do not wait for the next part.
        break;
      }
    }
    if (waiting.length > 0) post(await group.run(waiting));
    if (!ending) return;
    close();
    post({ closed: true });
    port.close();
  };
  // One group after the other, whatever arrives meanwhile.
  let line = Promise.resolve();
  port.on("message", (message: WriterRequest) => {
    handed.push(message);
    line = line.then(serveGroup);
  });
  post({ ready: true, sequence: group.sequence });
}

try {
  serve();
} catch (error) {
  post({ failed: sendError(error) });
  port.close();
}
