// Imported by a registry under test (NODE_OPTIONS): the thread whose module the file FAULT_FILE
// names throws in a timer at its next message, or as it starts where it gets none; once.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";

const threads = createRequire(import.meta.url)("node:worker_threads");

function isNext(module, file) {
  if (!existsSync(file) || !module.endsWith(`/${readFileSync(file, "utf8")}.js`)) return false;
  rmSync(file);
  return true;
}

const fail = () =>
  setTimeout(() => {
    throw new Error("a planted fault");
  });

if (threads.isMainThread) {
  const file = process.env.FAULT_FILE;
  threads.Worker = class extends threads.Worker {
    constructor(module, options) {
      const here = new URL(import.meta.url);
      here.search = new URLSearchParams({ module: String(module), file }).toString();
      super(module, { ...options, execArgv: ["--import", here.href] });
    }
  };
  syncBuiltinESMExports();
} else {
  const { searchParams } = new URL(import.meta.url);
  const [module, file] = [searchParams.get("module"), searchParams.get("file")];
  const { parentPort } = threads;
  if (/intake-thread/.test(module) && isNext(module, file)) fail();
  // A thread of the pool waits for its jobs at a port of its own. It waits within a microtask: a
  // timer of this job would only fire in the next.
  const receive = threads.receiveMessageOnPort;
  threads.receiveMessageOnPort = (port) => {
    const received = receive(port);
    if (received && isNext(module, file))
      queueMicrotask(() => {
        throw new Error("a planted fault");
      });
    return received;
  };
  syncBuiltinESMExports();
  for (const method of ["on", "once"]) {
    const listen = parentPort[method];
    parentPort[method] = function (event, listener) {
      const wrapped = (message) => (isNext(module, file) ? fail() : listener(message));
      return listen.call(this, event, event === "message" ? wrapped : listener);
    };
  }
}
