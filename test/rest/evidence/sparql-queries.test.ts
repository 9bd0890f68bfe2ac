import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { OxigraphEngine } from "../../../src/storage/graph/oxigraph/index.js";
import { LiveRegistry } from "../../support/live-registry.js";

let registry: LiveRegistry;
beforeAll(async () => (registry = await LiveRegistry.start()));
afterAll(() => registry.stop());

/** The SPARQL queries that the threads of the process are sent while `act` runs. */
async function queriesOf(act: () => Promise<unknown>): Promise<string[]> {
  const sent = vi.spyOn(Worker.prototype, "postMessage");
  try {
    await act();
    return sent.mock.calls.flatMap(([message]: unknown[]) => {
      const { op, query } = message as { op?: string; query?: string };
      return op === "query" ? [query!] : [];
    });
  } finally {
    sent.mockRestore();
  }
}

describe("evidence in the default profile", () => {
  it("is read from Oxigraph by a few SPARQL queries, however many nodes it has", async () => {
    expect(registry.deps.queries).toBeInstanceOf(OxigraphEngine);
    const { token, ark } = await registry.user("Ada");
    let last: string | undefined;
    const extend = async (count: number): Promise<string> => {
      for (let index = 0; index < count; index++) {
        const { status, body, text } = await registry.ask("/dataset", {
          token,
          body: {
            "@type": "evi:Dataset",
            name: `Cells ${index}`,
            owner: ark,
            description: "For a test.",
            ...(last === undefined ? {} : { derivedFrom: last }),
          },
        });
        expect(status, text).toBe(200);
        last = body["@id"] as string;
      }
      return last!;
    };
    const asked = async (id: string, nodes: number): Promise<string[]> => {
      const queries = await queriesOf(async () => {
        const { body } = await registry.ask(`/evidencegraph/query/${id}`);
        expect(body["@graph"]).toHaveLength(nodes);
      });
      for (const query of queries) expect(query).toMatch(/^SELECT /);
      return queries;
    };
    // Whether there is support; which properties are in use; the edges; names and types.
    expect(await asked(await extend(3), 3)).toHaveLength(4);
    expect(await asked(await extend(40), 43)).toHaveLength(4);
  });
});
