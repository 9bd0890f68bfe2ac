/** The registry's side of a process for users' queries. */
import { type ChildProcess, fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { fileURLToPath } from "node:url";
import type { MessagePort } from "node:worker_threads";
import { threadModule } from "../../../../package-root.js";
import type { FeedAnswer, FeedRequest } from "../../../records/port.js";
import {
  type EngineSide,
  NO_MEMORY,
  type ThreadReply,
  type ThreadRequest,
} from "../thread-handle.js";

/** The first message to the process. */
export interface ProcessData {
  pageSize: number;
  /** Resident bytes that it may have. */
  memory: number;
}
/** Without an answer: the feed of the record store was closed. */
export type ToProcess = { request: ThreadRequest } | { answer?: FeedAnswer };
export type FromProcess =
  | { reply: ThreadReply }
  | { question: FeedRequest }
  | { error: { message: string; code?: string } }
  /** Its resident bytes, when they are more than it may have. */
  | { resident: number };

/**
 * A process with a store of the graph. The feed of the record store is passed on to it. It is killed
 * when it has more resident memory than it may have: nothing inside of it can be relied on to stop a
 * query.
 */
export class EngineProcess extends EventEmitter implements EngineSide {
  readonly #child: ChildProcess;

  constructor(feed: MessagePort, data: ProcessData) {
    super();
    this.#child = fork(fileURLToPath(threadModule("src/storage/graph/oxigraph/open/process")), {
      serialization: "advanced",
      env: {},
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#send(data);
    feed.on("message", (answer: FeedAnswer) => this.#send({ answer }));
    feed.on("close", () => this.#send({}));
    this.#child.on("message", (message: FromProcess) => {
      if ("reply" in message) this.emit("message", message.reply);
      else if ("question" in message) feed.postMessage(message.question);
      else if ("resident" in message) this.#outgrown(message.resident);
      else this.emit("error", Object.assign(new Error(message.error.message), message.error));
    });
    this.#child.on("error", (error) => this.emit("error", error));
    this.#child.on("exit", (code, signal) => {
      feed.close();
      this.emit("exit", signal ?? code);
    });
  }

  postMessage(request: ThreadRequest): void {
    this.#send({ request });
  }

  async terminate(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const gone = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await gone;
  }

  #outgrown(resident: number): void {
    this.emit("error", new Error(`${NO_MEMORY}: its process has ${resident} bytes`));
  }

  #send(message: ProcessData | ToProcess): void {
    // Its end is reported by its exit.
    if (this.#child.connected) this.#child.send(message, () => {});
  }
}
