import { ServiceError } from "../errors.js";
import type { NTriples } from "../storage/graph/endpoint/index.js";
import type { spell } from "../storage/graph/endpoint/spell.js";
import { type CpuPool, OutOfMemory } from "../services/cpu-pool.js";

const SPELL = { module: "src/storage/graph/endpoint/spell", name: "spell" };

/** Writes a graph in another form than N-Triples, in a thread of a pool. */
export const spellGraphs =
  (cpu: CpuPool, memory: number) =>
  async (graph: NTriples, signal: AbortSignal): Promise<string> => {
    try {
      return await cpu.run<typeof spell>(SPELL, graph, { memory, signal });
    } catch (error) {
      if (!(error instanceof OutOfMemory)) throw error;
      throw new ServiceError(
        "QUERY_MEMORY",
        "The graph is too large for this format; ask for less, or for application/n-triples.",
      );
    }
  };
