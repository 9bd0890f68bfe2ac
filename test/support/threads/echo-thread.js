/**
 * Answers every question except those that make it fail; the count of questions distinguishes a
 * new thread from an old one.
 */
import { parentPort } from "node:worker_threads";

let asked = 0;
parentPort.on("message", (message) => {
  if ("close" in message) return parentPort.close();
  if (message.ask === "throw") throw new Error("as it was told to");
  if (message.ask === "exit") return process.exit(3);
  if (message.ask === "refuse")
    return parentPort.postMessage({
      error: { type: "service", code: "QUERY_MEMORY", message: "too much", extra: {}, headers: {} },
    });
  parentPort.postMessage({ answer: `${message.ask} ${++asked}` });
});
