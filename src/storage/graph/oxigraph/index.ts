import { OxigraphEngine } from "./engine.js";
import type { OxigraphOptions } from "./thread-handle.js";

export { OxigraphEngine } from "./engine.js";
export { OpenEngine } from "./open/engine.js";
export type { OpenOptions } from "./open/engine.js";
export type { EngineLog } from "../port.js";
export { openRecordsDigester } from "./records-digester.js";
export { REBUILD_AFTER_REWRITES, type OxigraphOptions } from "./thread-handle.js";

/**
 * Opens the graph index. Returns at once: loading goes on in its own thread, and until it is done
 * every question is refused with `INDEX_LOADING` and the progress.
 */
export async function openOxigraphEngine(options: OxigraphOptions): Promise<OxigraphEngine> {
  const engine = new OxigraphEngine(options);
  engine.start();
  return engine;
}
