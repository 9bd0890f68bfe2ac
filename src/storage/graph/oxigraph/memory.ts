/** The memory of the engine: its cap, and how its lack is recognised. */

/** Begins the message of an engine that ended because its memory was exhausted. */
export const NO_MEMORY = "the engine ran out of memory";

/** True when a thread ran out of memory: that of its engine, or that of the thread itself. */
export const isLackOfMemory = (error: Error & { code?: string }): boolean =>
  error.message.startsWith(NO_MEMORY) ||
  error.code === "ERR_WORKER_OUT_OF_MEMORY" ||
  /allocation failed|Invalid (?:string|array buffer) length/i.test(error.message);

const PAGE = 65_536;
/** Section 5 of a module: its memories (WebAssembly Core 1.0, sections 5.5.2 and 5.5.8). */
const MEMORY_SECTION = 5;
const HEADER = 8;

/** The part of the WebAssembly API that is used here; Node's own types leave it out. */
interface Wasm {
  Module: new (source: Uint8Array) => object;
}

/**
 * Every module that this thread makes from now on gets at most so much memory: an instance that
 * needs more ends, and with it the thread, instead of the process. There is no other limit for a
 * WASM engine: a worker's resource limits do not count its memory.
 * @param bytes up to 4 GiB
 */
export function capMemory(bytes: number): void {
  const { WebAssembly: wasm } = globalThis as unknown as { WebAssembly: Wasm };
  const { Module } = wasm;
  const pages = Math.min(65_536, Math.max(64, Math.floor(bytes / PAGE)));
  wasm.Module = class extends Module {
    constructor(source: Uint8Array) {
      super(withMaximum(source, pages));
    }
  };
}

/**
 * The module with a maximum for its memory, in pages of 64 KiB.
 * @throws Error for a module with another memory than one of its own without a maximum
 */
export function withMaximum(module: Uint8Array, pages: number): Uint8Array {
  for (let at = HEADER; at < module.length;) {
    const id = module[at]!;
    const size = readUnsigned(module, at + 1);
    const end = size.next + size.value;
    if (id === MEMORY_SECTION) {
      const minimum = readUnsigned(module, size.next + 2);
      if (module[size.next] !== 1 || module[size.next + 1] !== 0 || minimum.next !== end) break;
      const body = [1, 1, ...unsigned(minimum.value), ...unsigned(Math.max(pages, minimum.value))];
      return Buffer.concat([
        module.subarray(0, at),
        Buffer.from([MEMORY_SECTION, ...unsigned(body.length), ...body]),
        module.subarray(end),
      ]);
    }
    at = end;
  }
  throw new Error("the engine's memory cannot be limited: its module has changed");
}

/** LEB128, as WASM writes numbers. */
function readUnsigned(bytes: Uint8Array, at: number): { value: number; next: number } {
  let value = 0;
  for (let shift = 1; ; shift *= 128) {
    const byte = bytes[at++]!;
    value += (byte & 0x7f) * shift;
    if (byte < 0x80) return { value, next: at };
  }
}

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (; value >= 0x80; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80);
  return [...bytes, value];
}
