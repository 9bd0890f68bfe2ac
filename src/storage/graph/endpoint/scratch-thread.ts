import { parentPort } from "node:worker_threads";
import { GraphStore, QuadDigest } from "../oxigraph/graph-store.js";
import { spelled } from "../oxigraph/open/answer.js";
import type { ScratchReply, ScratchRequest } from "./digest.js";

/**
 * A scratch store of the service's own engine: it knows how literals are written, and every form of
 * a graph.
 */

const port = parentPort!;
let digest = new QuadDigest();
let leftOut = 0;

function add(nquads: string): void {
  const store = new GraphStore((_, lines) => (leftOut += lines));
  store.apply([{ ark: "urn:scratch", nquads }]);
  for (const graph of store.graphs()) store.digestGraph(graph, digest);
  store.free();
}

function answer(request: ScratchRequest): ScratchReply {
  const { id } = request;
  if (request.op === "spell") return { id, text: spelled(request.ntriples, request.format) };
  if (request.op === "add") {
    add(request.nquads);
    return { id };
  }
  const reply = { id, digest: digest.digest, quads: digest.quads, leftOut };
  digest = new QuadDigest();
  leftOut = 0;
  return reply;
}

port.on("message", (request: ScratchRequest) => {
  try {
    port.postMessage(answer(request));
  } catch (error) {
    port.postMessage({ id: request.id, error: (error as Error).message } satisfies ScratchReply);
  }
});
