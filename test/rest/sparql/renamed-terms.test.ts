import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EvidenceGraph } from "../../../src/services/evidence/types.js";
import { type Person, startServer, type TestServer } from "../../support/server.js";
import { sharedData } from "../../support/shared-data.js";
import { ask } from "../../support/sparql.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const upload = async (metadata: object): Promise<string> => {
  const { status, body, text } = await server.request<{ "@id": string }>(
    "POST",
    "/rocrate/metadata",
    {
      token: ada.token,
      json: metadata,
    },
  );
  expect(status, text).toBe(200);
  return body["@id"];
};
const crate = (context: unknown, ...entities: object[]) => ({
  "@context": context,
  "@graph": [
    { "@id": "ro-crate-metadata.json", "@type": "CreativeWork", about: { "@id": "./" } },
    {
      "@id": "./",
      "@type": "Dataset",
      name: "Crate",
      description: "For a test",
      license: "https://spdx.org/licenses/CC0-1.0",
      datePublished: "2026-01-01",
      hasPart: entities.map((entity) => ({ "@id": (entity as { "@id": string })["@id"] })),
    },
    ...entities,
  ],
});
const names = async (pattern: string): Promise<string[]> => {
  const { status, text } = await ask(
    server,
    `PREFIX pcdm: <http://pcdm.org/models#> SELECT DISTINCT ?n { ${pattern} ; <http://schema.org/name> ?n }`,
    { Accept: "text/csv" },
  );
  expect(status, text).toBe(200);
  return text.trim().split("\r\n").slice(1).toSorted();
};

const CASE = sharedData("cases/public/16-repository-object-in-two-spellings");
describe.skipIf(!CASE)("one class that two versions of RO-Crate's context spell", () => {
  it("is one for queries", async () => {
    for (const file of ["v10.json", "v11.json"])
      await upload(JSON.parse(readFileSync(join(CASE!, file), "utf8")) as object);
    for (const type of ["pcdm:Object", "pcdm:object", "<http://pcdm.org/models#object>"])
      expect(await names(`?s a ${type}`)).toEqual(["Object of 1.0", "Object of 1.1"]);
  });
});

describe("a workflow of any version of RO-Crate", () => {
  it("is found by the class and the properties of each", async () => {
    for (const version of ["1.1", "1.2", "1.3"])
      await upload(
        crate(`https://w3id.org/ro/crate/${version}/context`, {
          "@id": "w.cwl",
          "@type": ["SoftwareSourceCode", "ComputationalWorkflow"],
          name: `Workflow of ${version}`,
          url: "https://example.org/w.cwl",
          contentUrl: "https://example.org/w.cwl",
          input: { "@id": "#in" },
        }),
      );
    const all = ["1.1", "1.2", "1.3"].map((version) => `Workflow of ${version}`);
    for (const base of ["", "terms/", "types/"])
      expect(await names(`?s a <https://bioschemas.org/${base}ComputationalWorkflow>`)).toEqual(
        all,
      );
    for (const name of ["terms/input", "properties/input", "ComputationalWorkflow#input"])
      expect(await names(`?s <https://bioschemas.org/${name}> ?in`)).toEqual(all);
  });
});

describe("a process in a laboratory", () => {
  it("is an experiment between its object and its result", async () => {
    const root = await upload(
      crate(
        ["https://w3id.org/ro/crate/1.1/context", { bioschemas: "https://bioschemas.org/" }],
        {
          "@id": "#extraction",
          "@type": "bioschemas:LabProcess",
          name: "Extraction",
          object: { "@id": "#plant" },
          result: { "@id": "#extract" },
          agent: { "@id": "#grace" },
          "bioschemas:executesLabProtocol": { "@id": "#protocol" },
        },
        { "@id": "#plant", "@type": "bioschemas:Sample", name: "Plant" },
        { "@id": "#extract", "@type": "bioschemas:Sample", name: "Extract" },
        { "@id": "#grace", "@type": "Person", name: "Grace" },
        { "@id": "#protocol", "@type": "bioschemas:LabProtocol", name: "Protocol" },
      ),
    );
    const { text } = await ask(
      server,
      `SELECT ?s { ?s <https://schema.org/name> "Extract" FILTER(STRSTARTS(STR(?s), "${root}")) }`,
      { Accept: "text/csv" },
    );
    const extract = text.trim().split("\r\n")[1]!;
    const { body } = await server.request<EvidenceGraph>("GET", `/evidencegraph/query/${extract}`);
    expect(body["@graph"].map(({ name }) => name).toSorted()).toEqual([
      "Extract",
      "Extraction",
      "Grace",
      "Plant",
      "Protocol",
    ]);
  });
});
