import { setTimeout as pause } from "node:timers/promises";
import type { WholeOptions } from "../options.js";
import type { Watch } from "../watch.js";
import { ProjectorHandle } from "./handle.js";
import { Leadership } from "./leadership.js";

/** ms before records that did not answer are asked again. */
const AGAIN = 1_000;

/** This node's part in keeping an endpoint up: it asks for the lease, and projects while it has it. */
export class Projection {
  /** Of the filling of the endpoint: records sent, and all there are. */
  progress = { done: 0, total: 0 };
  #projector: ProjectorHandle | undefined;
  #leadership: Leadership | undefined;
  #announced = 0;
  #closed = false;

  constructor(private readonly options: WholeOptions, private readonly watch: Watch) {}

  /** Takes part once the records have answered. */
  async start(): Promise<void> {
    const { openFeed, leases, lease, batch, poll, timeout, pageSize, log, queryUrl, updateUrl, user, password } = this.options;
    let truth: string | undefined;
    while (truth === undefined) {
      if (this.#closed) return;
      try {
        truth = await this.options.truth();
      } catch (error) {
        log.warn({ reason: (error as Error).message }, "the records do not answer; the projection begins later");
        await pause(AGAIN);
      }
    }
    if (this.#closed) return;
    const leadership = new Leadership(leases, lease, {
      onLead: (fence, until) => this.#projector?.post({ op: "lead", fence, until }),
      onLost: () => this.#projector?.post({ op: "resign" }),
    }, log);
    this.#leadership = leadership;
    const address = { queryUrl, updateUrl, ...(user !== undefined && { user }), ...(password !== undefined && { password }) };
    this.#projector = new ProjectorHandle({ openFeed, address, truth, options: { batch, lease, poll, timeout, pageSize }, log }, (reply) => {
      if (reply.op === "position") this.watch.note(reply.position);
      else if (reply.op === "progress") this.progress = { done: reply.done, total: reply.total };
      else if (reply.op === "problem") this.watch.problem = reply.problem;
      else if (reply.op === "confirm") void leadership.ask();
    }, () => {
      void Promise.resolve().then(() => {
        if (this.#announced > 0) this.#projector?.post({ op: "advance", sequence: this.#announced });
        return leadership.ask();
      });
    });
  }

  /** The truth has reached this sequence. */
  advance(sequence: number): void {
    this.#announced = Math.max(this.#announced, sequence);
    this.#projector?.post({ op: "advance", sequence });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#projector?.close();
    await this.#leadership?.close();
  }
}
