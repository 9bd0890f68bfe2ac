import { parentPort, workerData } from "node:worker_threads";
import { readPreview } from "./read-preview.js";
import type { PreviewInput } from "./types.js";

/** One preview: parsing of hostile files would block the serving thread. */
parentPort!.postMessage(await readPreview(workerData as PreviewInput));
parentPort!.close();
