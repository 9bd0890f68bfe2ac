import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROVENANCE, SUPPORTED_BY } from "../../src/model/provenance.js";
import { realCrate } from "../support/crates.js";
import { sharedData } from "../support/shared-data.js";
import type { Json, User } from "../support/registry-client.js";
import { startRegistry, type RegistryUnderTest } from "../support/under-test.js";

const present = sharedData("crates") !== undefined;
const PREFIXES =
  "PREFIX evi: <https://w3id.org/EVI#> PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX " +
  "schema: <https://schema.org/>";

/** A crate in a registry, and what the index answers that it did not before. */
class Taken {
  crate!: string;
  /** Numbers of the index, and of the records, before it came. */
  #before = { edges: 0, pairs: 0, entities: 0 };
  private constructor(readonly registry: RegistryUnderTest) {}

  static async of(path: string, registry: RegistryUnderTest, ada: User): Promise<Taken> {
    const taken = new Taken(registry);
    taken.#before = {
      edges: await taken.edges(),
      pairs: await taken.pairs(),
      entities: await taken.entities(),
    };
    const submission = await registry.take((await realCrate(path))!, ada.token, 60_000);
    expect(submission, JSON.stringify(submission["error"])).toMatchObject({ status: "finished" });
    taken.crate = submission["rocrateIdentifier"] as string;
    return taken;
  }

  /** One number of the index, as of now. */
  async number(query: string): Promise<number> {
    return Number((await this.rows(`${PREFIXES} ${query}`))[0]!["n"]);
  }

  async rows(query: string): Promise<Record<string, string>[]> {
    const { status, body, text } = await this.registry.ask("/sparql", {
      body: new URLSearchParams({ query }),
      headers: { Accept: "application/sparql-results+json" },
    });
    expect(status, text).toBe(200);
    return (body["results"].bindings as Record<string, { value: string }>[]).map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, term]) => [name, term.value])),
    );
  }

  edges = async (): Promise<number> =>
    (await this.number(
      `SELECT (COUNT(*) AS ?n) { SELECT DISTINCT ?a ?b { ?a <${SUPPORTED_BY}> ?b } }`,
    )) - this.#before.edges;
  /** A start is bound first: one end of a path always is. */
  pairs = async (): Promise<number> =>
    (await this.number(
      "SELECT (COUNT(*) AS ?n) { SELECT DISTINCT ?a ?b { { SELECT DISTINCT ?a { ?a " +
        `<${SUPPORTED_BY}> ?x } } ?a <${SUPPORTED_BY}>+ ?b } }`,
    )) - this.#before.pairs;
  /** Datasets, programs and runs. */
  async entities(): Promise<number> {
    const { body } = await this.registry.graphql(
      "{ datasets { totalCount } softwares { totalCount } computations { totalCount } }",
    );
    const { datasets, softwares, computations } = body["data"];
    return (
      datasets.totalCount + softwares.totalCount + computations.totalCount - this.#before.entities
    );
  }
  async evidence(ark: string, query = ""): Promise<Json> {
    const { status, body, text } = await this.registry.ask(`/evidencegraph/query/${ark}${query}`);
    expect(status, text).toBe(200);
    return body;
  }
}

/** Support pairs that the edges of an answer come to, each once, whichever end stated them. */
function pairsIn(answer: Json): Set<string> {
  const pairs = new Set<string>();
  for (const node of answer["@graph"] as Json[]) {
    for (const [name, values] of Object.entries(node)) {
      const term = (PROVENANCE as Record<string, { support: string }>)[name];
      for (const { "@id": other } of term ? (values as { "@id": string }[]) : [])
        pairs.add(
          term!.support === "object" ? `${node["@id"]} ${other}` : `${other} ${node["@id"]}`,
        );
    }
  }
  return pairs;
}

describe.skipIf(!present)("known facts about real crates", () => {
  let registry: RegistryUnderTest;
  let ada: User;
  beforeAll(async () => {
    registry = await startRegistry();
    ada = await registry.user("Ada");
  }, 600_000);
  afterAll(() => registry?.stop());
  // Of crates that say nothing of one another.
  const take = (path: string): Promise<Taken> => Taken.of(path, registry, ada);

  test("fs-mds-reasoning: 109 distinct entities, 423 pairs of which one supports the other", async () => {
    const taken = await take("fs-mds-reasoning");
    expect(await taken.entities()).toBe(109);
    expect([await taken.edges(), await taken.pairs()]).toEqual([108, 423]);
    // The older layout names no parts: what came with the crate is its evidence.
    expect(pairsIn(await taken.evidence(taken.crate)).size).toBe(108);
  });

  test.each([
    ["fs-cm4ai-release/Perturb-Seq/cell-atlas", 94, 367, 90],
    ["fs-cm4ai-release/mass-spec/cancer-cells", 62, 174, 0],
  ])(
    "%s: %d direct edges, %d pairs, %d inputs that are not in the crate",
    async (path, edges, pairs, outside) => {
      const taken = await take(path);
      expect([await taken.edges(), await taken.pairs()]).toEqual([edges, pairs]);
      const answer = await taken.evidence(taken.crate);
      expect(pairsIn(answer).size).toBe(edges);
      expect(answer["dangling"]).toHaveLength(outside);
      expect(new Set(answer["dangling"].map(({ reason }: Json) => reason as string))).toEqual(
        new Set(outside > 0 ? ["unknown"] : []),
      );
    },
  );

  test("fs-cm4ai-release: the evidence of the release is that of the crates within it", async () => {
    // It holds the two crates of before again: it is alone in a registry.
    const alone = await startRegistry();
    try {
      const taken = await Taken.of("fs-cm4ai-release", alone, await alone.user("Ada"));
      expect([await taken.edges(), await taken.pairs()]).toEqual([94 + 62, 367 + 174]);
      const answer = await taken.evidence(taken.crate);
      expect(pairsIn(answer).size).toBe(94 + 62);
      expect(answer["dangling"]).toHaveLength(90);
    } finally {
      await alone.stop();
    }
  });

  test(
    "run-profile-ex-provenance: from the sorted text through both tools to the input, the " +
      "same over REST, GraphQL and SPARQL",
    async () => {
      const taken = await take("run-profile-ex-provenance");
      const output = `${taken.crate}/b9214658cc453331b62c2282b772a5c063dbd284`;
      const rest = await taken.evidence(output);
      const pairs = pairsIn(rest);
      const runs = new Map(
        (rest["@graph"] as Json[]).map((node) => [
          node["name"] as string | undefined,
          node["@id"] as string,
        ]),
      );
      const chain = [
        output,
        runs.get("Run of workflow/packed.cwl#main/sorted"),
        `${taken.crate}/97fe1b50b4582cebc7d853796ebd62e3e163aa3f`,
        runs.get("Run of workflow/packed.cwl#main/rev"),
        `${taken.crate}/327fc7aedf4f6b69a42a7c8b808dc5a7aff61376`,
      ];
      for (const [index, node] of chain.slice(1).entries())
        expect(pairs).toContain(`${chain[index]} ${node}`);

      const { body } = await taken.registry.graphql(
        "query ($id: ID!) { evidence(id: $id) { edges { source { id } name target { id } } } }",
        { id: output },
      );
      const asJsonLd = new Map<string, Json>();
      for (const { source, name, target } of body["data"].evidence.edges) {
        const node = asJsonLd.get(source.id) ?? { "@id": source.id };
        asJsonLd.set(source.id, node);
        (node[name] ??= []).push({ "@id": target.id });
      }
      expect(pairsIn({ "@graph": [...asJsonLd.values()] })).toEqual(pairs);

      const rows = await taken.rows(
        `SELECT DISTINCT ?a ?b { { SELECT DISTINCT ?a { <${output}> <${SUPPORTED_BY}>* ?a } } ` +
          `?a <${SUPPORTED_BY}> ?b }`,
      );
      expect(new Set(rows.map(({ a, b }) => `${a} ${b}`))).toEqual(pairs);
    },
  );
});
