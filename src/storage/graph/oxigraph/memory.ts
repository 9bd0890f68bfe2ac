/** The memory of the engine: its cap, how its lack is recognised, and access to it. */
import { createHash } from "node:crypto";

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

/** The engine's instance in this thread. */
export interface Engine {
  /** SHA-256 of its code. */
  module: string;
  /** Bytes that its memory may have. */
  most: number;
  memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  /** Values of JavaScript that it uses. */
  table: {
    readonly length: number;
    get(place: number): unknown;
    set(place: number, value: unknown): void;
    grow(by: number): number;
  };
}

/** The parts of the WebAssembly API that are used here; Node's own types leave it out. */
interface Wasm {
  Module: new (source: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: Readonly<Record<string, unknown>> };
}

let made: Engine | undefined;

/** @throws Error before the engine is imported, or when it has other names for its parts */
export function engineOfThread(): Engine {
  if (!made) throw new Error("the engine's memory and table cannot be found");
  return made;
}

/**
 * Every module that this thread makes from now on gets at most so much memory: an instance that
 * needs more ends, and with it the thread, instead of the process. There is no other limit for a
 * WASM engine: a worker's resource limits do not count its memory.
 * @param bytes up to 4 GiB
 */
export function capMemory(bytes: number): void {
  const { WebAssembly: wasm } = globalThis as unknown as { WebAssembly: Wasm };
  const { Module, Instance } = wasm;
  const pages = Math.min(65_536, Math.max(64, Math.floor(bytes / PAGE)));
  let code = "";
  wasm.Module = class extends Module {
    constructor(source: Uint8Array) {
      super(withMaximum(source, pages));
      code = createHash("sha256").update(source).digest("hex");
    }
  };
  wasm.Instance = class extends Instance {
    constructor(module: object, imports: object) {
      super(module, imports);
      const { memory, __wbindgen_externrefs: table } = this.exports;
      if (memory && table)
        made = {
          module: code,
          most: pages * PAGE,
          memory: memory as Engine["memory"],
          table: table as Engine["table"],
        };
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
