import { parentPort, workerData } from "node:worker_threads";
import { ServiceError } from "../../errors.js";
import type { Progress } from "../../jobs/port.js";
import { openObjects } from "../../storage/objects/location.js";
import { packLinks } from "../../storage/records/codecs.js";
import { NOT_COMPARED } from "./build-records.js";
import type { GraphsOf } from "./records/graphs.js";
import { type IntakeObjects, makeRecords } from "./make-records.js";
import type { FromThread, Questions, ToThread } from "./run-intake.js";
import type { CrateRecord, IntakeHost, IntakeInput } from "./steps.js";

// A separate thread for one crate: inflating, hashing, parsing and expanding would block the event
// loop.
const port = parentPort!;
type Answer = Extract<ToThread, { id: number }>;
const waiting = new Map<number, (answer: Answer) => void>();
/** Aborted when nobody waits for the result any more. */
const stopping = new AbortController();
const STOPPED = "told to stop";
const input = workerData as IntakeInput;
let questions = 0;

const send = (message: FromThread, transfer: ArrayBuffer[] = []) =>
  port.postMessage(message, transfer);

const ask =
  <Q extends keyof Questions>(type: Q) =>
  (...asked: Parameters<Questions[Q]>) => {
    const id = ++questions;
    return new Promise<Awaited<ReturnType<Questions[Q]>>>((resolve, reject) => {
      waiting.set(id, ({ answer, fault }) =>
        fault === undefined
          ? resolve(answer as Awaited<ReturnType<Questions[Q]>>)
          : reject(new Error(fault)),
      );
      send({ type, id, asked } as FromThread);
    });
  };
port.on("message", (answer: ToThread) => {
  if ("stop" in answer) {
    stopping.abort(new Error(STOPPED));
    for (const report of waiting.values()) report({ id: 0, fault: STOPPED });
    return port.close();
  }
  waiting.get(answer.id)?.(answer);
  waiting.delete(answer.id);
});

/** A dry run never writes its records: what is not compared would only be copied. */
const comparedOnly = (record: CrateRecord): CrateRecord => ({ ...record, ...NOT_COMPARED });

/**
 * ms between reports of a stage: it is reported when it begins, first advances and ends, and
 * between these at this interval, since a crate has many files.
 */
const REPORT_EVERY = 50;
let reported = { stage: "", moved: false, at: 0 };

function reportProgress(progress: Progress): void {
  const { stage, done, total } = progress;
  const begins = stage !== reported.stage;
  if (!begins && reported.moved && done !== total && performance.now() - reported.at < REPORT_EVERY)
    return;
  reported = { stage, moved: !begins, at: performance.now() };
  send({ type: "progress", progress });
}

const host: IntakeHost = {
  progress: reportProgress,
  intend: ask("intend"),
  registered: ask("registered"),
  claim: ask("claim"),
  records: (records) => {
    const sent = records.map((record) =>
      input.dryRun ? comparedOnly(record) : { ...record, links: packLinks(record.links) },
    );
    send(
      { type: "records", records: sent },
      sent
        .flatMap(({ document, links }) =>
          links instanceof Uint8Array ? [document, links] : [document],
        )
        .map(({ buffer }) => buffer as ArrayBuffer),
    );
  },
};

/** When the thread is asked to stop, a write in progress fails, and its file is removed. */
async function* untilStopped(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    stopping.signal.throwIfAborted();
    yield chunk;
  }
}

/** Loaded on demand: by then the files are stored. */
let graphs: Promise<GraphsOf> | undefined;
const graphsOf: GraphsOf = async (context, inputs) =>
  (
    await (graphs ??= import("../../rdf/graph.js").then(({ boundedGraphs }) =>
      boundedGraphs(input.limits),
    ))
  )(context, inputs);

try {
  const objects = await openObjects(input.objects);
  const stoppable: IntakeObjects = {
    ...(objects.parallel === undefined ? {} : { parallel: objects.parallel }),
    stage: (source, options) => objects.stage(untilStopped(source), options),
    reader: (sha256) => objects.reader(sha256),
    readStaged: (place) => objects.readStaged(place),
  };
  send({ type: "result", result: await makeRecords(input, stoppable, host, graphsOf) });
} catch (error) {
  if (error instanceof ServiceError)
    send({ type: "fault", message: error.message, code: error.code });
  else
    send({
      type: "fault",
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
} finally {
  port.close();
}
