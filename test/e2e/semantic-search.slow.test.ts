import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Killable, startKillable } from "../support/killable.js";
import type { RegistryClient, User } from "../support/registry-client.js";
import { EmbeddingsServer, embeddingsMissing } from "../support/servers/embeddings.js";

const TEXTS: Readonly<Record<string, string>> = {
  "Fluorescence images of carcinoma":
    "Microscopy of malignant cells from breast tissue, one channel for each stain.",
  "Rainfall of the Alps": "Daily precipitation at forty weather stations, 1990 to 2020.",
  "Household incomes": "Earnings and rents of families by district, from the census.",
  "Protein sequences": "Amino acid sequences of enzymes of yeast, with their families.",
  "Road traffic counts": "Cars and lorries by hour on motorways.",
};
/** No word of it, nor a word of the same stem, stands in what it means. */
const TUMOURS = "tumour pathology";
const PRECIPITATION = "Niederschläge im Gebirge";

describe.skipIf(embeddingsMissing())("semantic search with an embeddings server", () => {
  let server: EmbeddingsServer;
  let registry: Killable;
  let at: RegistryClient;
  let ada: User;
  const arks = new Map<string, string>();

  const search = async (
    query: string,
    kind = "dataset",
  ): Promise<{ total: number; names: string[]; scores: number[] }> => {
    const { status, body, text } = await at.ask(
      `/search/semantic?${new URLSearchParams({ query, type: kind, limit: "100" }).toString()}`,
    );
    expect(status, text).toBe(200);
    const results = body["results"] as { name: string; score: number }[];
    return {
      total: body["total_results"] as number,
      names: results.map(({ name }) => name),
      scores: results.map(({ score }) => score),
    };
  };
  const finds = (query: string, name: string) =>
    expect
      .poll(async () => (await search(query)).names[0], { timeout: 20_000, interval: 100 })
      .toBe(name);
  const dataset = (name: string, description: string) => ({
    "@type": "evi:Dataset",
    name,
    description,
    owner: ada.ark,
  });
  const register = async (name: string, description: string): Promise<void> => {
    const created = await at.ask("/dataset", {
      token: ada.token,
      body: dataset(name, description),
    });
    expect(created.status, created.text).toBe(200);
    arks.set(name, (created.body["dataset"]?.["@id"] as string) ?? (created.body["@id"] as string));
  };

  beforeAll(async () => {
    server = await EmbeddingsServer.start();
    registry = await startKillable({
      ...server.settings,
      JOB_BACKOFF: "50ms",
      JOB_BACKOFF_MAX: "200ms",
      LOG_LEVEL: "info",
    });
    at = await registry.whole();
    ada = await at.user("Ada");
    for (const [name, description] of Object.entries(TEXTS)) await register(name, description);
  }, 600_000);
  afterAll(async () => {
    await registry?.remove();
    await server?.stop();
  });

  test("finds records by meaning, also in another language, where words find nothing", async () => {
    await finds(TUMOURS, "Fluorescence images of carcinoma");
    await finds(PRECIPITATION, "Rainfall of the Alps");
    expect(
      (await at.ask(`/search/basic?query=${encodeURIComponent(PRECIPITATION)}`)).body,
    ).toMatchObject({ total_results: 0 });
    const { total, names, scores } = await search(TUMOURS);
    expect([names.length, scores.every((score) => score > 0)]).toEqual([total, true]);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(names).not.toContain("Household incomes");
    expect((await search(TUMOURS, "software")).total).toBe(0);
    // What is found by its words and by what it means comes first.
    expect((await search("traffic on streets")).names[0]).toBe("Road traffic counts");
  });

  test("over GraphQL as well", async () => {
    const { body } = await at.graphql(
      "query ($q: String!) { search(query: $q, mode: SEMANTIC) { totalCount edges { " +
        "score node { name } } } }",
      { q: TUMOURS },
    );
    expect(body["errors"]).toBeUndefined();
    expect(body["data"].search.edges[0]).toMatchObject({
      node: { name: "Fluorescence images of carcinoma" },
      score: expect.any(Number),
    });
  });

  test("follows what is changed and deleted", async () => {
    await register("Herbarium", "Dried plants, pressed on paper.");
    const ark = arks.get("Herbarium")!;
    await finds("botany of flowers", "Herbarium");
    const changed = await at.ask(`/${ark}`, {
      method: "PUT",
      token: ada.token,
      body: { ...dataset("Herbarium", "Volcanoes and lava flows of Iceland.") },
    });
    expect(changed.status, changed.text).toBe(200);
    await finds("eruptions", "Herbarium");
    expect((await at.ask(`/dataset/${ark}`, { method: "DELETE", token: ada.token })).status).toBe(
      200,
    );
    expect((await search("eruptions")).names).not.toContain("Herbarium");
  });

  test("searches by words while the server is unavailable, and catches up when it is back", async () => {
    await server.kill();
    await register("Bird calls", "Recordings of owls at night.");
    const { names } = await search("recordings of owls");
    expect(names[0]).toBe("Bird calls");
    expect((await search(TUMOURS)).total).toBe(0);
    for (const role of ["api", "worker"] as const)
      expect(await registry.running(role).ask("/healthz")).toMatchObject({
        status: 200,
        body: { status: "healthy", checks: { embeddings: "failed" } },
      });
    await server.restart();
    await finds("ornithology", "Bird calls");
    await expect
      .poll(async () => (await registry.running("api").ask("/healthz")).body["checks"].embeddings, {
        timeout: 20_000,
      })
      .toBe("ok");
    expect(registry.log).toContain("searches use words only");
    expect(registry.log).toContain("searches use vectors again");
  }, 60_000);

  test("loses no vector when the process that computes them dies", async () => {
    server.pause();
    await register("Glaciers", "Extent of ice in Greenland.");
    const begun = () => /"submission":"([0-9a-f-]{36})","type":"vectors"[^\n]*begins/g;
    await expect
      .poll(() => [...registry.log.matchAll(begun())].length, { timeout: 20_000 })
      .toBeGreaterThan(1);
    await registry.kill([...registry.log.matchAll(begun())].at(-1)![1]);
    server.resume();
    at = await registry.whole();
    await finds("polar frozen water", "Glaciers");
    await finds(TUMOURS, "Fluorescence images of carcinoma");
  }, 90_000);

  test("computes all vectors again for another model", async () => {
    expect(new Set(await registry.terminate())).toEqual(new Set([0]));
    registry.configure({ EMBEDDINGS_PASSAGE_PREFIX: "Data set: " });
    at = await registry.whole();
    await finds(TUMOURS, "Fluorescence images of carcinoma");
    await finds("polar frozen water", "Glaciers");
  }, 60_000);

  test("works as without a server when its settings are removed", async () => {
    await registry.terminate();
    registry.configure({
      EMBEDDINGS_URL: "",
      EMBEDDINGS_MODEL: "",
      EMBEDDINGS_QUERY_MODEL: "",
      EMBEDDINGS_PASSAGE_PREFIX: "",
    });
    at = await registry.whole();
    expect((await search(TUMOURS)).total).toBe(0);
    expect((await search("rainfall")).names).toEqual(["Rainfall of the Alps"]);
    expect((await registry.running("api").ask("/healthz")).body["checks"]).not.toHaveProperty(
      "embeddings",
    );
  }, 60_000);
});
