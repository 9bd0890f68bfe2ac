/**
 * The projector's thread: reading the record store and writing updates never blocks the serving
 * thread.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { FeedReader } from "../../follower.js";
import type { EngineLog } from "../../port.js";
import { SparqlHttp } from "../client.js";
import {
  clock,
  type ProjectorData,
  type ProjectorReply,
  type ProjectorRequest,
} from "./projection.js";
import { Projector } from "./projector.js";
import { Displaced } from "./updates.js";

/** ms before a projection that failed is begun again. */
const AGAIN = 1_000;

const main = parentPort!;
const { feed: port, address, source, options } = workerData as ProjectorData;
const reply = (message: ProjectorReply): void => main.postMessage(message);
const say =
  (level: "info" | "warn" | "error") =>
  (fields: object, message: string): void =>
    reply({ op: "log", level, message, fields });
const log: EngineLog = { info: say("info"), warn: say("warn"), error: say("error") };

const feed = new FeedReader(port, (reason) =>
  log.warn({ reason }, "the record store did not answer the projection; retrying"),
);
const http = new SparqlHttp(address, 2);
const projector = new Projector(
  http,
  feed,
  source,
  options,
  {
    onPosition: (position) => reply({ op: "position", position }),
    onProgress: (done, total) => reply({ op: "progress", done, total }),
    onProblem: (problem) => reply({ op: "problem", problem }),
  },
  log,
);

let lease: { fence: number; until: number } | undefined;
let reported: () => void = () => {};

main.on("message", (request: ProjectorRequest) => {
  if (request.op === "advance") return projector.advance(request.sequence);
  lease = request.op === "lead" ? request : undefined;
  reported();
});

/** The lease, once there is one. */
async function held(): Promise<{ fence: number }> {
  while (!lease || lease.until <= clock())
    await new Promise<void>((resolve) => (reported = resolve));
  return lease;
}

async function project(): Promise<never> {
  for (;;) {
    const { fence } = await held();
    try {
      await projector.run({
        fence,
        check() {
          if (!lease || lease.fence !== fence || lease.until <= clock())
            throw new Displaced("the lease of the projection expired");
        },
      });
    } catch (error) {
      if (error instanceof Displaced) {
        log.info({ reason: error.message }, "the projection restarts from its stored position");
        // Only after the record store has confirmed that this node still holds the lease.
        lease = undefined;
        reply({ op: "confirm" });
      } else {
        if (feed.closed) throw error;
        log.error(
          { reason: (error as Error).message },
          "the projection failed; it restarts after a pause",
        );
        await pause(AGAIN);
      }
    }
  }
}

void project();
