/** The thread that owns all writes. What waits is done in one transaction and shares its one sync of the disk. */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { Committer } from "./commit.js";
import { openForWriting } from "./connection.js";
import { GroupCommit } from "./group-commit.js";
import { sendError, type WriterMessage, type WriterRequest } from "./requests.js";
import { migrate } from "./schema.js";

/** Bounds the memory and the wait of one group; more is done right after. */
const LARGEST_GROUP = 512;

const port = parentPort!;
const { file } = workerData as { file: string };
const post = (message: WriterMessage): void => port.postMessage(message);

function open(): { group: GroupCommit; close: () => void } {
  const connection = openForWriting(file);
  try {
    migrate(connection, file);
    // Marks of a sweep that an earlier process did not end: nobody is removing anything now.
    connection.exec("DELETE FROM object_removal");
    return {
      group: new GroupCommit(connection, new Committer(connection)),
      close() {
        connection.exec("PRAGMA optimize");
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
  port.on("message", (first: WriterRequest) => {
    const waiting: Extract<WriterRequest, { id: number }>[] = [];
    let next: { message: WriterRequest } | undefined = { message: first };
    let ending = false;
    while (next && !ending) {
      if ("close" in next.message) ending = true;
      else waiting.push(next.message);
      next = ending || waiting.length >= LARGEST_GROUP ? undefined : receiveMessageOnPort(port) as { message: WriterRequest } | undefined;
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
