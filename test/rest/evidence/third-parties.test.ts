import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EvidenceGraph } from "../../../src/services/evidence/types.js";
import { bodyOf } from "../../support/bodies.js";
import { type Person, startServer, type TestServer } from "../../support/server.js";

let server: TestServer;
let victim: Person;
let eve: Person;
const CELLS = "ark:99999/dataset-of-the-victim";
const CLAIM = "ark:99999/computation-of-eve";
beforeAll(async () => {
  server = await startServer();
  [victim, eve] = await Promise.all([server.person("victim"), server.person("eve")]);
  const { usedBy: _usedBy, ...dataset } = bodyOf("dataset", victim.id);
  expect(
    (
      await server.request("POST", "/dataset", {
        token: victim.token,
        json: { ...dataset, "@id": CELLS },
      })
    ).status,
  ).toBe(200);
  expect(
    (
      await server.request("POST", "/computation", {
        token: eve.token,
        json: { ...bodyOf("computation", eve.id), "@id": CLAIM, generated: [CELLS] },
      })
    ).status,
  ).toBe(200);
});
afterAll(() => server.stop());

const query = async (search = "") =>
  (await server.request<EvidenceGraph>("GET", `/evidencegraph/query/${CELLS}${search}`)).body;
const claimIn = (graph: EvidenceGraph) =>
  graph["@graph"]
    .find((node) => node["@id"] === CLAIM)
    ?.statements?.find(({ property }) => property === "generated");

describe("another user's computation that claims a dataset", () => {
  it("is shown and marked, and left out with assertedBy=owner", async () => {
    expect(claimIn(await query())).toEqual({
      property: "generated",
      object: CELLS,
      record: CLAIM,
      owner: eve.id,
      ownsSource: true,
      ownsTarget: false,
      thirdParty: true,
    });
    const own = await query("?assertedBy=owner");
    expect([claimIn(own), own.hidden]).toEqual([undefined, { thirdParty: 1 }]);
    const refused = await server.request<{ detail: { loc: string[]; type: string }[] }>(
      "GET",
      `/evidencegraph/query/${CELLS}?assertedBy=me`,
    );
    expect([refused.status, refused.body.detail[0]]).toMatchObject([
      422,
      { loc: ["query", "assertedBy"], type: "literal_error" },
    ]);
  });
  it("is the same over GraphQL", async () => {
    const asked =
      `query ($id: ID!) {
      all: evidence(id: $id) { edges { source { id } name thirdParty assertedByOwners { id } statedBy { ` +
      `record { id } field owner { id } ownsSource ownsTarget thirdParty } } }
      own: evidence(id: $id, assertedBy: OWNER) { edges { name } hidden { thirdParty } }
      impact(id: "${CLAIM}", assertedBy: OWNER) { total hidden { thirdParty } } supportPath(from: $id, to: ` +
      `"${CLAIM}", assertedBy: OWNER) { length }
    }`;
    const { body } = await server.graphql<
      { all: { edges: { name: string }[] } } & Record<string, unknown>
    >(asked, { id: CELLS });
    expect(body.data.all.edges.find(({ name }) => name === "generated")).toEqual({
      source: { id: CLAIM },
      name: "generated",
      thirdParty: true,
      assertedByOwners: [{ id: eve.id }],
      statedBy: [
        {
          record: { id: CLAIM },
          field: "generated",
          owner: { id: eve.id },
          ownsSource: true,
          ownsTarget: false,
          thirdParty: true,
        },
      ],
    });
    // The claim speaks of its own record when the walk comes from there.
    expect(body.data).toMatchObject({
      own: { edges: [], hidden: { thirdParty: 1 } },
      impact: { total: 1, hidden: { thirdParty: 0 } },
      supportPath: null,
    });
  });
  it("is no third party's any more when its owner joins the group that owns the dataset", async () => {
    const group = {
      "@id": "ark:99999/group-lab",
      name: "Lab",
      description: "A group.",
      owner: victim.id,
      members: [] as string[],
    };
    await server.request("POST", "/group", { token: victim.token, json: group });
    const { body } = await server.request("GET", `/${CELLS}`);
    const { usedBy: _usedBy, ...dataset } = body;
    expect(
      (
        await server.request("PUT", "/dataset", {
          token: victim.token,
          json: { ...dataset, owner: "ark:99999/group-lab" },
        })
      ).status,
    ).toBe(200);
    expect(claimIn(await query())).toMatchObject({ thirdParty: true });
    await server.request("PUT", "/group", {
      token: victim.token,
      json: { ...group, members: [eve.id] },
    });
    expect(claimIn(await query())).not.toHaveProperty("thirdParty");
    await server.request("PUT", "/group", { token: victim.token, json: group });
    expect(claimIn(await query())).toMatchObject({ thirdParty: true });
  });
});

describe("a stored evidence graph", () => {
  const build = async (search: string) => {
    const { body } = await server.request<{ submissionUUID: string }>(
      "POST",
      `/evidencegraph/build/${CELLS}${search}`,
      { token: victim.token },
    );
    for (;;) {
      const { body: status } = await server.request<{
        completed: boolean;
        evidenceGraphIdentifier: string;
      }>("GET", `/evidencegraph/build/status/${body.submissionUUID}`, { token: victim.token });
      if (status.completed) return status.evidenceGraphIdentifier;
      await pause(20);
    }
  };
  it("is one for each assertedBy, says so, and is renewed when an owner changes", async () => {
    const [all, own] = [await build(""), await build("?assertedBy=owner")];
    expect(own).not.toBe(all);
    expect(await build("?assertedBy=anyone")).toBe(all);
    const read = async (id: string) =>
      (await server.request<EvidenceGraph & { assertedBy?: string }>("GET", `/${id}`)).body;
    expect([
      claimIn(await read(all))?.thirdParty,
      (await read(own)).assertedBy,
      claimIn(await read(own)),
    ]).toEqual([true, "owner", undefined]);
    const before = await server.request("GET", `/${all}`);
    expect((await server.request("GET", `/${all}`)).headers.get("etag")).toBe(
      before.headers.get("etag"),
    );
    const { body } = await server.request("GET", `/${CLAIM}`);
    const given = await server.request("POST", "/group", {
      token: eve.token,
      json: {
        "@id": "ark:99999/group-eves",
        name: "Eves",
        description: "A group.",
        owner: eve.id,
        members: [],
      },
    });
    expect(given.status).toBe(200);
    expect(
      (
        await server.request("PUT", "/computation", {
          token: eve.token,
          json: { ...body, owner: "ark:99999/group-eves" },
        })
      ).status,
    ).toBe(200);
    expect(claimIn(await read(all))).toMatchObject({ owner: "ark:99999/group-eves" });
  });
});
