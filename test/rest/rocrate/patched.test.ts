import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { metadata, RO_CRATE, zip } from "../../support/crates.js";
import { LiveRegistry } from "../../support/live-registry.js";
import type { Answer, Json, User } from "../../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
let bob: User;
/** The records by name. */
const arks: Record<string, string> = {};
beforeAll(async () => {
  registry = await LiveRegistry.start();
  [ada, bob] = await Promise.all([registry.user("Ada"), registry.user("Bob")]);
  // The table states neither author nor description nor keywords, which clients must fill in.
  const lab = { "@id": "https://ror.org/0153tk833" };
  const graph = metadata(
    [
      { "@id": "table.csv", "@type": "File", name: "Table", lab },
      { "@id": "#cells", "@type": "https://w3id.org/EVI#Dataset", name: "Cells", lab },
    ],
    { hasPart: [{ "@id": "table.csv" }, { "@id": "#cells" }] },
    [RO_CRATE, { lab: "https://lab.example/terms#lab" }],
  );
  const archive = await zip({ "ro-crate-metadata.json": graph, "table.csv": "a\n1\n" });
  const taken = await registry.take(archive, ada.token);
  expect(taken["status"], JSON.stringify(taken)).toBe("finished");
  const { body } = await registry.graphql(
    "{ records(first: 20) { nodes { id name } } }",
    {},
    ada.token,
  );
  for (const { id, name } of body["data"].records.nodes) arks[name] = id;
});
afterAll(() => registry?.stop());

const read = async (part: string): Promise<Json> =>
  (await registry.ask(`/${arks[part]}`, { token: ada.token })).body;
const triplesOf = async (part: string): Promise<string[]> =>
  (await registry.ask(`/${arks[part]}?format=ntriples`, { token: ada.token })).text
    .split("\n")
    .toSorted();
const patch = (part: string, json: Json, { token } = ada): Promise<Answer> =>
  registry.ask(`/${arks[part]}`, {
    method: "PATCH",
    token,
    body: json,
    headers: { "Content-Type": "application/merge-patch+json" },
  });

describe.each(["Table", "Cells"])("a patch of a record that a crate brought, %s", (part) => {
  it("changes what it names, and leaves what the crate left out as it is", async () => {
    const [before, triples] = await Promise.all([read(part), triplesOf(part)]);
    expect(triples.join("\n")).toContain("<https://lab.example/terms#lab>");
    const answer = await patch(part, { description: "Counts of cells." });
    expect(answer.status, answer.text).toBe(200);
    expect(await read(part)).toEqual({ ...before, description: "Counts of cells." });
    const after = await triplesOf(part);
    expect(triples.filter((line) => !after.includes(line))).toEqual([]);
    expect(after.filter((line) => !triples.includes(line)).join("\n")).toMatch(
      /^<\S+> <https:\/\/schema\.org\/description> "Counts of cells\." \.$/,
    );
    // It still belongs to whom the crate belongs to.
    expect((await patch(part, { description: "Of Bob." }, bob)).status).toBe(403);
    expect((await patch(part, { description: "Counts." })).status).toBe(200);
  });

  it("may not break a rule anew", async () => {
    const answer = await patch(part, { keywords: [5], name: null });
    expect(answer.status).toBe(422);
    const places = (answer.body["detail"] as { loc: string[] }[]).map(({ loc }) => loc.join("."));
    expect(new Set(places)).toEqual(new Set(["body.name", "body.keywords.0"]));
  });
});

it("goes the same way over GraphQL", async () => {
  const answer = await registry.graphql(
    `mutation ($id: ID!) {
      updateDataset(input: { id: $id, patch: { description: "By GraphQL." } }) { dataset { description } }
    }`,
    { id: arks["Cells"] },
    ada.token,
  );
  expect(answer.text).toContain('"description":"By GraphQL."');
});
