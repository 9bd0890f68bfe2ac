/** Begins the message of what ended an engine for want of memory. */
const NO_MEMORY = "the engine ran out of memory";

let panic: string | undefined;

/**
 * Keeps what the engine says when it panics, which it prints before it ends with a bare `unreachable`: without that
 * nobody could tell a fault of the engine from a lack of memory.
 */
export function watchPanics(): void {
  // The engine has no other place to say it.
  // eslint-disable-next-line no-console
  const print = console.error;
  // eslint-disable-next-line no-console
  console.error = (...words: unknown[]) => {
    const text = String(words[0]);
    if (text.startsWith("panicked at")) panic = text.split("\n\nStack:")[0]!.replaceAll("\n", " ").slice(0, 500);
    else print(...words);
  };
}

/** After a WASM trap or a stack overflow the instance is broken for good; only a refusal may be handled. */
export function rethrowFatal(error: unknown): void {
  if (error instanceof Error && error.name !== "RuntimeError" && !(error instanceof RangeError)) return;
  if (panic !== undefined && !/capacity overflow|alloc/.test(panic)) throw new Error(`the engine ${panic}`, { cause: error });
  if (error instanceof Error && error.name === "RuntimeError") throw new Error(`${NO_MEMORY} (${panic ?? error.message})`, { cause: error });
  throw error;
}

/** True when a thread ended for want of memory: that of its engine, or that of the thread itself. */
export const isLackOfMemory = (error: Error & { code?: string }): boolean =>
  error.message.startsWith(NO_MEMORY) || error.code === "ERR_WORKER_OUT_OF_MEMORY" || /allocation failed|Invalid (?:string|array buffer) length/i.test(error.message);
