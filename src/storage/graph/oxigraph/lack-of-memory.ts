/** Begins the message of an engine that ended because its memory was exhausted. */
export const NO_MEMORY = "the engine ran out of memory";

/** True when a thread ran out of memory: that of its engine, or that of the thread itself. */
export const isLackOfMemory = (error: Error & { code?: string }): boolean =>
  error.message.startsWith(NO_MEMORY) ||
  error.code === "ERR_WORKER_OUT_OF_MEMORY" ||
  /allocation failed|Invalid (?:string|array buffer) length/i.test(error.message);
