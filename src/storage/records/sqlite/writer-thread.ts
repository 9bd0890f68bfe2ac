/**
 * The thread that owns all writes. Waiting requests are done in one transaction and share its one
 * sync of the disk.
 */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { RecordWrite } from "../port.js";
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

function serve(): void {
  const { group, close } = open();
  const parts = new Map<number, PreparedWrite[]>();
  /** Why a part of a commit could not be prepared; reported when the commit itself comes. */
  const spoilt = new Map<number, unknown>();
  const prepare = (id: number, part: readonly RecordWrite[]): void => {
    try {
      const prepared = part.map(prepareWrite);
      const before = parts.get(id);
      if (before) for (const write of prepared) before.push(write);
      else parts.set(id, prepared);
    } catch (error) {
      spoilt.set(id, error);
    }
  };
  const keep = (id: number, places: readonly number[]): void => {
    const before = parts.get(id);
    if (places.length === 0) {
      parts.delete(id);
      spoilt.delete(id);
    } else if (before)
      parts.set(
        id,
        places.map((place) => before[place]!),
      );
  };
  /** Puts a commit that came in parts together. */
  const whole = (task: WriterTask): WriterTask => {
    const before = parts.get(task.id);
    if (!before) return task;
    parts.delete(task.id);
    const commit = task.args[0] as PreparedCommit;
    return { ...task, args: [{ ...commit, records: [...before, ...commit.records] }] };
  };
  const refused = (id: number): boolean => {
    if (!spoilt.has(id)) return false;
    post({ answers: [{ id, error: sendError(spoilt.get(id)) }], sequence: group.sequence });
    parts.delete(id);
    return spoilt.delete(id);
  };
  port.on("message", (first: WriterRequest) => {
    const waiting: WriterTask[] = [];
    let next: { message: WriterRequest } | undefined = { message: first };
    let ending = false;
    while (next && !ending) {
      if ("close" in next.message) ending = true;
      else if ("part" in next.message) {
        // Before the transaction that writes them: no other request waits for this.
        prepare(next.message.id, next.message.part);
        // Tasks that came before the part do not wait for the next part.
        break;
      } else if ("keep" in next.message) keep(next.message.id, next.message.keep);
      else for (const task of next.message.tasks) if (!refused(task.id)) waiting.push(whole(task));
      next = ending || waiting.length >= LARGEST_GROUP ? undefined : receiveMessageOnPort(port);
    }
    if (waiting.length > 0) post(group.run(waiting));
    if (!ending) return;
    close();
    post({ closed: true });
    port.close();
  });
  post({ ready: true, sequence: group.sequence });
}

try {
  serve();
} catch (error) {
  post({ failed: sendError(error) });
  port.close();
}
