import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EvidenceGraph } from "../../../src/services/evidence/types.js";
import { sharedData } from "../../support/shared-data.js";
import { type Person, startServer, type TestServer } from "../../support/server.js";

const CRATES = sharedData("crates");

describe.skipIf(!CRATES)("the evidence graph of a real crate", () => {
  let server: TestServer;
  let ada: Person;
  beforeAll(async () => {
    server = await startServer();
    ada = await server.person("ada");
  });
  afterAll(() => server.stop());
  const upload = async (name: string): Promise<string> => {
    const { status, body, text } = await server.request<{ "@id": string }>(
      "POST",
      "/rocrate/metadata",
      {
        token: ada.token,
        json: JSON.parse(
          readFileSync(join(CRATES!, name, "ro-crate-metadata.json"), "utf8"),
        ) as object,
      },
    );
    expect(status, text).toBe(200);
    return body["@id"];
  };

  it("groups eight similar inputs of one step with collapse=true", async () => {
    await upload("fs-nf-fanout");
    const { body } = await server.request<EvidenceGraph>(
      "GET",
      "/evidencegraph/query/ark:59853/dataset-merged?collapse=true",
    );
    const groups = body["@graph"].filter(({ count }) => count !== undefined);
    expect(
      groups.map(({ count, "@type": types }) => [
        count,
        types.find((type) => type.startsWith("evi:")),
      ]),
    ).toEqual([
      [8, "evi:Dataset"],
      [8, "evi:Computation"],
    ]);
    expect(body["@graph"].find(({ name }) => name === "MERGE")!.usedDataset).toEqual([
      { "@id": groups[0]!["@id"] },
    ]);
    expect(body["@graph"]).toHaveLength(7);
  });

  it("leads along generatedBy to each action that names a result", async () => {
    const crate = await upload("run-profile-ex-provenance");
    const { body } = await server.request<EvidenceGraph>("GET", `/evidencegraph/query/${crate}`);
    const results = body["@graph"].flatMap((node) =>
      (node.generated ?? []).map((result): [string, string] => [node["@id"], result["@id"]]),
    );
    expect(results.length).toBeGreaterThan(2);
    for (const [action, result] of results) {
      const node = body["@graph"].find((each) => each["@id"] === result)!;
      expect(node.generatedBy).toContainEqual({ "@id": action });
      expect(node.statements).toContainEqual(
        expect.objectContaining({
          property: "generatedBy",
          object: action,
          record: action,
          derived: true,
        }),
      );
    }
  });
});
