import type { MessagePort } from "node:worker_threads";
import type { EndpointAddress, ProjectionOptions } from "../options.js";
import type { Position } from "../position.js";

/** What the projector's thread is started with; the port is moved to it. */
export interface ProjectorData { feed: MessagePort; address: EndpointAddress; truth: string; options: ProjectionOptions }

export type ProjectorRequest =
  | { op: "advance"; sequence: number }
  /** The lease is held until then, by {@link clock}. */
  | { op: "lead"; fence: number; until: number }
  | { op: "resign" };

export type ProjectorReply =
  | { op: "position"; position: Position }
  | { op: "progress"; done: number; total: number }
  | { op: "problem"; problem: string | undefined }
  /** The lease may be somebody else's: is it still ours? */
  | { op: "confirm" }
  | { op: "log"; level: "info" | "warn" | "error"; message: string; fields: object };

/** ms on a clock that all threads share and nobody sets. */
export const clock = (): number => performance.timeOrigin + performance.now();
