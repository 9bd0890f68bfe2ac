import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/model/field.js";
import { runRevision } from "../../../src/services/computations/results.js";
import { metadata } from "../../support/crates.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";

interface Refusal {
  detail: { loc: string[]; type: string; msg: string }[];
}
const DIGEST = `sha256:${"0".repeat(64)}`;
const EVI = "https://w3id.org/EVI#";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const computation = (more: JsonObject = {}): JsonObject => ({
  "@type": "evi:Computation",
  name: "Counting run",
  description: "Counts cells.",
  owner: ada.id,
  author: "Ada",
  dateCreated: null,
  dateFinished: null,
  sourceOrganization: "ark:99999/organization-lab",
  sourceProject: "ark:99999/project-atlas",
  container: "localhost/count:1",
  command: "count",
  usedSoftware: "ark:99999/software-count",
  usedDataset: "ark:99999/dataset-images",
  containerId: null,
  generated: [],
  ...more,
});
const send = (method: "POST" | "PUT", json: JsonObject, path = "/computation") =>
  server.request<Refusal & JsonObject>(method, path, { token: ada.token, json });
const stated = async (id: string) =>
  ((await server.deps.records.quads(id)) ?? "")
    .split("\n")
    .filter((line) => line.includes(`<${EVI}containerDigest>`));

/** A computation that ran here. */
async function ran(): Promise<JsonObject> {
  const made = await send("POST", computation());
  const [record] = await server.deps.records.findMany([made.body["@id"] as string]);
  const facts = {
    containerId: "f".repeat(64),
    image: DIGEST,
    began: "2024-05-03T08:00:00Z",
    ended: "2024-05-03T08:01:00Z",
  };
  await server.deps.records.commit({
    by: ada.id,
    at: Date.now(),
    records: [await runRevision(server.deps, record!, [], facts)],
  });
  return (await server.request("GET", `/${record!.ark}`)).body;
}

describe("a field that only a run in this registry fills", () => {
  it.each<[string, JsonObject]>([
    ["under its name", { containerDigest: DIGEST }],
    ["with its prefix", { "evi:containerDigest": DIGEST }],
    ["under its IRI", { [`${EVI}containerDigest`]: DIGEST }],
    [
      "under a name of the client's own",
      {
        "@context": { "@vocab": "https://schema.org/", evi: EVI, ran: "evi:containerDigest" },
        ran: DIGEST,
      },
    ],
    [
      "in a nested object",
      {
        "@context": { "@vocab": "https://schema.org/", evi: EVI },
        about: { "evi:containerDigest": DIGEST },
      },
    ],
    [
      "with a context of its own value",
      { about: { "@context": { d: `${EVI}containerDigest` }, d: DIGEST } },
    ],
  ])("is refused in a new record %s", async (_how, more) => {
    const answer = await send("POST", computation(more));
    expect(answer.status).toBe(422);
    const [item] = answer.body.detail;
    expect(item!.loc[0]).toBe("body");
    if ("containerDigest" in more) expect(item!.loc).toEqual(["body", "containerDigest"]);
    expect(item).toMatchObject({
      type: "value_error",
      msg: expect.stringMatching(/containerDigest.*leave it out/),
    });
  });
  it("is refused in another kind of record, and over GraphQL", async () => {
    const dataset = {
      "@type": "evi:Dataset",
      name: "Images",
      description: "Of cells.",
      owner: ada.id,
      "evi:containerDigest": DIGEST,
    };
    expect((await send("POST", dataset, "/dataset")).status).toBe(422);
    const { "@type": _type, ...input } = computation({ containerDigest: DIGEST });
    const { body } = await server.graphql(
      "mutation ($input: ComputationInput!) { createComputation(input: { computation: $input }) { revision } }",
      { input },
      ada.token,
    );
    expect(body.errors![0]!.extensions).toMatchObject({ code: "VALIDATION" });
  });
  it("is not mistaken for text that mentions it", async () => {
    expect(
      (await send("POST", computation({ description: `x> <${EVI}containerDigest> "${DIGEST}"` })))
        .status,
    ).toBe(200);
  });
  it("may be sent back as stored, and be left out, but not changed or added again", async () => {
    const record = await ran();
    const id = record["@id"] as string;
    expect([record["containerDigest"], (await stated(id)).length]).toEqual([DIGEST, 1]);
    expect((await send("PUT", { ...record, name: "Renamed" })).status).toBe(200);
    expect((await stated(id)).length).toBe(1);
    expect(
      (await send("PUT", { ...record, containerDigest: DIGEST.replace(/0$/, "1") })).body.detail[0]!
        .loc,
    ).toEqual(["body", "containerDigest"]);
    expect((await send("PUT", { ...record, "evi:containerDigest": "another" })).status).toBe(422);
    const { containerDigest: _out, ...without } = record;
    expect((await send("PUT", without)).status).toBe(200);
    expect(await stated(id)).toEqual([]);
    expect((await send("PUT", record)).status).toBe(422);
    expect((await send("PUT", record, `/${id}`)).status).toBe(422);
  });
});

describe("a crate with such a field", () => {
  const RUN = "ark:99999/reserved-run";
  const crate = (more: JsonObject = {}) =>
    JSON.stringify(
      metadata(
        [
          {
            "@id": RUN,
            "@type": "evi:Computation",
            name: "A run elsewhere",
            description: "Counts.",
            containerDigest: DIGEST,
            ...more,
          },
        ],
        { "@id": "ark:99999/reserved-crate" },
        [
          "https://w3id.org/ro/crate/1.1/context",
          { evi: EVI, containerDigest: "evi:containerDigest" },
        ],
      ),
    );
  const OWN = { "@vocab": "https://schema.org/", evi: EVI, containerDigest: "evi:containerDigest" };
  const upload = (body: string, query = "") =>
    server.request<{ submission: { warnings: { code: string; pointer: string }[] } }>(
      "POST",
      `/rocrate/metadata${query}`,
      { token: ada.token, body, headers: { "Content-Type": "application/ld+json" } },
    );

  it("is accepted with a warning; the document keeps the value and the graph does not state it", async () => {
    const answer = await upload(crate());
    expect(answer.status).toBe(200);
    expect(answer.body.submission.warnings.filter(({ code }) => code === "FIELD_RESERVED")).toEqual(
      [expect.objectContaining({ pointer: expect.stringContaining("/@graph/2") as string })],
    );
    expect((await server.request("GET", `/${RUN}`)).text).toContain(DIGEST);
    expect(await stated(RUN)).toEqual([]);
  });
  it("is returned unchanged, and the graph still does not state it", async () => {
    const { body } = await server.request("GET", `/${RUN}`);
    expect(
      (
        await send(
          "PUT",
          {
            ...body,
            ...computation({ "@context": OWN, containerDigest: DIGEST }),
            description: "Counts all cells.",
          },
          `/${RUN}`,
        )
      ).status,
    ).toBe(200);
    expect(await stated(RUN)).toEqual([]);
  });
  it("preserves the statements of a run here when the crate is updated", async () => {
    const [record] = await server.deps.records.findMany([RUN]);
    const here = `localhost/count@sha256:${"1".repeat(64)}`;
    const facts = {
      containerId: "f".repeat(64),
      image: here,
      began: "2024-05-03T08:00:00Z",
      ended: "2024-05-03T08:01:00Z",
    };
    await server.deps.records.commit({
      by: ada.id,
      at: Date.now(),
      records: [await runRevision(server.deps, record!, [], facts)],
    });
    const before = await stated(RUN);
    expect(before).toHaveLength(1);
    const {
      "@id": _id,
      "@type": _type,
      "@context": _context,
      owner: _owner,
      ...rest
    } = (await server.request("GET", `/${RUN}`)).body;
    expect(
      (await upload(crate({ ...rest, description: "Brought up to date." }), "?update=true")).status,
    ).toBe(200);
    expect((await server.request("GET", `/${RUN}`)).text).toContain("Brought up to date.");
    expect(await stated(RUN)).toEqual(before);
    expect(
      (await upload(crate({ ...rest, containerDigest: "another" }), "?update=true")).status,
    ).toBe(200);
    expect(await stated(RUN)).toEqual([]);
  });
  it("does not state it of a file either that gets new content here", async () => {
    const FILE = "ark:99999/reserved-file";
    const entity = { "@id": FILE, "@type": "File", name: "counts.csv", containerDigest: DIGEST };
    const context = [
      "https://w3id.org/ro/crate/1.1/context",
      { evi: EVI, containerDigest: "evi:containerDigest" },
    ];
    const root = { "@id": "ark:99999/reserved-files" };
    expect((await upload(JSON.stringify(metadata([entity], root, context)))).status).toBe(200);
    expect(await stated(FILE)).toEqual([]);
    const body = new FormData();
    body.append("file", new Blob(["cells\n3\n"]), "counts.csv");
    const uploaded = await server.request("POST", `/datadownload/${FILE}/upload`, {
      token: ada.token,
      body,
    });
    expect([uploaded.status, uploaded.body["containerDigest"]]).toEqual([200, DIGEST]);
    expect(await stated(FILE)).toEqual([]);
  });
});
