import type { MessagePort } from "node:worker_threads";
import type { ErrorCode } from "../../../errors.js";
import type { OpenAnswer, OpenQuestion } from "../open-port.js";

/** What the thread is started with; the port is moved to it. */
export interface ThreadData {
  feed: MessagePort;
  /** Graphs asked for at a time. */
  pageSize: number;
  /** Bytes that the engine may hold; without it as much as WASM can. */
  memory?: number;
}

/** A question of a stranger, and how much may be answered. */
export interface AskRequest { question: Omit<OpenQuestion, "sequence">; maxRows: number; maxBytes: number }

/** Asked of the thread; `id` comes back with the reply. */
export type ThreadRequest =
  | { op: "query"; id: number; query: string; format: string }
  | ({ op: "ask"; id: number } & AskRequest)
  | { op: "digest"; id: number }
  | { op: "advance"; sequence: number };

export type ThreadReply =
  /** `held`: bytes that the engine grew by when graphs came. */
  | { op: "progress"; done: number; total: number; held: number }
  /** Loaded, and every commit up to `sequence` applied. `rewrites`: graphs replaced since the thread began. */
  | { op: "reached"; sequence: number; rewrites: number; held: number }
  | { op: "answer"; id: number; text: string; sequence: number }
  | ({ op: "asked"; id: number } & OpenAnswer)
  | { op: "digested"; id: number; digest: string; quads: number; sequence: number }
  | { op: "refused"; id: number; message: string; code?: ErrorCode; extra?: Record<string, unknown> }
  | { op: "log"; level: "info" | "warn" | "error"; message: string; fields: Record<string, unknown> };

/** Asked of the thread that digests the truth: a digest as of a commit not before `atLeast`. */
export interface TruthRequest { atLeast: number }
export interface TruthReply { digest: string; quads: number; sequence: number; leftOut: number }
