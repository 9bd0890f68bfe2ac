import { parentPort, workerData } from "node:worker_threads";
import { graphsOf } from "../../rdf/graph.js";
import { openObjects } from "../../stores/objects/location.js";
import type { CrateRecord } from "./build-records.js";
import type { FromThread, IntakeHost, IntakeInput, Refusal, ToThread } from "./run/protocol.js";
import { takeIn } from "./run/take-in.js";

// A thread of its own for one crate: inflating, hashing, parsing and expanding would hold up the event loop.
const port = parentPort!;
const input = workerData as IntakeInput;
const waiting = new Map<number, (answer: ToThread) => void>();
let asked = 0;

const send = (message: FromThread, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

function ask(message: { type: "intend"; sha256s: string[] } | { type: "claim"; claims: Extract<FromThread, { type: "claim" }>["claims"] }): Promise<ToThread> {
  const id = ++asked;
  return new Promise((resolve, reject) => {
    waiting.set(id, (answer) => (answer.fault === undefined ? resolve(answer) : reject(new Error(answer.fault))));
    send({ ...message, id });
  });
}
port.on("message", (answer: ToThread) => {
  waiting.get(answer.id)?.(answer);
  waiting.delete(answer.id);
});

/** Nobody writes the records of a plan; their documents move, everything else would be copied on the event loop. */
const documentOnly = (record: CrateRecord): CrateRecord => ({ ...record, quads: "", links: [], objects: [], text: NO_TEXT, keywords: [] });
const NO_TEXT = { name: "", description: "", keywords: "", other: "" };

const host: IntakeHost = {
  progress: (progress) => send({ type: "progress", progress }),
  intend: async (sha256s) => {
    await ask({ type: "intend", sha256s });
  },
  claim: async (claims): Promise<Refusal[]> => (await ask({ type: "claim", claims })).refusals ?? [],
  records: (records) => send({ type: "records", records: input.dryRun ? records.map(documentOnly) : records }, records.map(({ document }) => document.buffer as ArrayBuffer)),
};

try {
  send({ type: "result", result: await takeIn(input, await openObjects(input.objects), host, graphsOf) });
} catch (error) {
  send({ type: "fault", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
} finally {
  port.close();
}
