import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CATEGORIES, CATEGORY_NAMES } from "../../../src/services/scoring/criteria.js";
import type { AiReadyScore } from "../../../src/services/scoring/score.js";
import { bodyOf } from "../../support/bodies.js";
import { crate, type Entity } from "../../support/crates.js";
import { type Answer, type Person, startServer, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
let bob: Person;
let id: string;
beforeAll(async () => {
  server = await startServer();
  [ada, bob] = await Promise.all([server.person("ada"), server.person("bob")]);
  id = await upload("Cells");
});
afterAll(async () => {
  expect(server.faults).toEqual([]);
  await server.stop();
});

/** A crate of one table with its schema. */
async function upload(
  name: string,
  extra: Entity[] = [],
  table = "image,cells\n1,3\n",
): Promise<string> {
  const archive = await crate(
    [
      {
        "@id": "cells.csv",
        "@type": "File",
        name: "Counts",
        encodingFormat: "text/csv",
        "https://schema.org/schema": { "@id": "#columns" },
        isBasedOn: { "@id": "ark:99999/elsewhere-1" },
      },
      {
        "@id": "#columns",
        "@type": "evi:Schema",
        name: "Columns",
        type: "object",
        separator: ",",
        header: true,
        properties: { image: { type: "integer", index: 0 }, cells: { type: "integer", index: 1 } },
      },
      ...extra,
    ],
    { "cells.csv": table },
    { name, keywords: ["cells"], hasPart: [{ "@id": "cells.csv" }] },
  );
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
  const answer = await server.request<{ "@id": string }>("POST", "/rocrate/upload", {
    token: ada.token,
    body: form,
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body["@id"];
}

const score = (of = id, token?: string): Promise<Answer<AiReadyScore>> =>
  server.request<AiReadyScore>(
    "GET",
    `/rocrate/ai-ready-score/${of}`,
    token === undefined ? {} : { token },
  );
const rescore = (of = id, token?: string) =>
  server.request<{ submissionUUID: string; detail: string; code: string }>(
    "POST",
    `/rocrate/ai-ready-score/${of}/rescore`,
    token === undefined ? {} : { token },
  );
async function ended(uuid: string) {
  for (;;) {
    const { body } = await server.request<{
      completed: boolean;
      success: boolean;
      scoredCrateIdentifier: string;
    }>("GET", `/rocrate/ai-ready-score/status/${uuid}`, { token: ada.token });
    if (body.completed) return body;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("GET /rocrate/ai-ready-score/ark:…", () => {
  it("answers anyone, at once, with every criterion of the seven categories", async () => {
    const { status, body, headers } = await score();
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(Object.keys(body)).toEqual([
      "name",
      "rocrateIdentifier",
      ...CATEGORY_NAMES,
      "score",
      "revision",
      "computedAt",
    ]);
    expect(body).toMatchObject({
      name: "AI-Ready Score for Cells",
      rocrateIdentifier: id,
      revision: 1,
    });
    for (const category of CATEGORY_NAMES) {
      expect(Object.keys(body[category])).toEqual(Object.keys(CATEGORIES[category]));
      for (const leaf of Object.values(body[category]))
        expect(Object.keys(leaf)).toEqual([
          "has_content",
          "details",
          "status",
          "evidence",
          "fix",
          "legacy",
        ]);
    }
    expect(body.fairness["reusable"]).toEqual({
      has_content: true,
      details: "license: https://spdx.org/licenses/CC-BY-4.0",
      status: "met",
      evidence: [`${id}#/license`],
      fix: null,
      legacy: true,
    });
    expect(body.ethics["secure"]).toEqual({
      has_content: false,
      details: "The root states no confidentialityLevel.",
      status: "not_met",
      evidence: [`${id}#`],
      fix: 'Add confidentialityLevel to the root, e.g. "unrestricted".',
      legacy: false,
    });
    expect(body.score.total).toBe(
      CATEGORY_NAMES.flatMap((category) => Object.values(body[category])).filter(
        (leaf) => leaf.status !== "not_applicable",
      ).length,
    );
  });

  it("accepts every spelling of the identifier, also below /api", async () => {
    const first = (await score()).body;
    expect(
      (await server.request("GET", `/api/rocrate/ai-ready-score/${id.replace("ark:", "ark:/")}/`))
        .body,
    ).toEqual(first);
  });

  it("refuses a record that is no crate, missing, or deleted", async () => {
    const dataset = await server.request<{ "@id": string }>("POST", "/dataset", {
      token: ada.token,
      json: bodyOf("dataset", ada.id),
    });
    expect(await score(dataset.body["@id"])).toMatchObject({
      status: 404,
      body: {
        code: "NOT_FOUND",
        detail: expect.stringContaining(`ask for /dataset/${dataset.body["@id"]}`) as string,
      },
    });
    expect(await score("ark:99999/nobody")).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
    const gone = await upload("To be deleted");
    await score(gone);
    expect((await server.request("DELETE", `/rocrate/${gone}`, { token: ada.token })).status).toBe(
      200,
    );
    expect(await score(gone)).toMatchObject({ status: 410, body: { code: "GONE" } });
    expect((await server.request("PUT", `/rocrate/ai-ready-score/${id}`)).status).toBe(405);
  });
});

describe("a score", () => {
  it("is stored, and computed again after every change that affects it", async () => {
    const own = await upload("Changing");
    const table = `${own}/cells.csv`;
    const first = (await score(own)).body;
    expect((await score(own)).body.computedAt).toBe(first.computedAt);
    expect(first.sustainability["associated"]).toMatchObject({
      status: "partly",
      evidence: [`${table}#/isBasedOn/@id`],
    });
    expect(first.computability["computationally_accessible"]!.details).toMatch(/^0 of 1 files/);

    // A member changes.
    const { "@id": _id, ...document } = (
      await server.request(`GET`, `/${table}`, { headers: { Accept: "application/json" } })
    ).body;
    const changed = await server.request("PUT", `/${table}`, {
      token: ada.token,
      json: {
        ...document,
        "@context": { "@vocab": "https://schema.org/" },
        "@type": "evi:DataDownload",
        "@id": table,
        owner: ada.id,
        description: "A table of counts.",
        encodesCreativeWork: own,
        encodingFormat: "csv",
      },
    });
    expect(changed.status, changed.text).toBe(200);
    const second = (await score(own)).body;
    expect(second.fairness["interoperable"]!.details).toMatch(/0 of 1 stated formats/);

    // It is published.
    expect(
      (
        await server.request("PUT", "/publish", {
          token: ada.token,
          json: { "@id": own, publicationStatus: "PUBLISHED" },
        })
      ).status,
    ).toBe(200);
    expect((await score(own)).body.computability["computationally_accessible"]!.details).toMatch(
      /^1 of 1 files/,
    );

    // What a member refers to comes, somewhere else.
    const target = await server.request("POST", "/dataset", {
      token: bob.token,
      json: { ...bodyOf("dataset", bob.id), "@id": "ark:99999/elsewhere-1" },
    });
    expect(target.status, target.text).toBe(200);
    expect((await score(own)).body.sustainability["associated"]!.status).toBe("met");
    expect(
      (await server.request("DELETE", "/dataset/ark:99999/elsewhere-1", { token: bob.token }))
        .status,
    ).toBe(200);
    expect((await score(own)).body.sustainability["associated"]!.status).toBe("partly");
  });

  it("counts sub-crates that were uploaded by themselves, and changes with them", async () => {
    const inner = await upload("Inner");
    const outer = await upload("Outer", [
      { "@id": "#both", "@type": "Dataset", name: "Both", hasPart: { "@id": inner } },
    ]);
    expect((await score(outer)).body.pre_model_explainability["verifiable"]!.details).toMatch(
      /^2 of 2 files/,
    );
    expect(
      (await server.request("DELETE", `/${inner}/cells.csv`, { token: ada.token })).status,
    ).toBe(200);
    // Its content goes, its description stays.
    expect((await score(outer)).body.pre_model_explainability["verifiable"]!.details).toMatch(
      /^1 of 2 files/,
    );
  });

  it("is computed once for many concurrent requests", async () => {
    const own = await upload("Popular");
    const answers = await Promise.all(Array.from({ length: 20 }, () => score(own)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.computedAt}`)).size).toBe(1);
  });
});

describe("POST …/rescore", () => {
  it("is for callers who may change the crate", async () => {
    expect(await rescore(id)).toMatchObject({ status: 401, body: { code: "NOT_AUTHENTICATED" } });
    expect(await rescore(id, bob.token)).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN" },
    });
    expect(await rescore("ark:99999/nobody", ada.token)).toMatchObject({ status: 404 });
  });

  it("runs in the background, and validates the tables of the crate against their schemas", async () => {
    const before = (await score()).body;
    expect(before.characterization["data_quality"]!.status).toBe("not_met");
    const asked = await rescore(id, ada.token);
    expect(asked).toMatchObject({
      status: 200,
      body: { status: "queued", rocrateIdentifier: null, scoredCrateIdentifier: id },
    });
    expect(await ended(asked.body.submissionUUID)).toMatchObject({
      success: true,
      scoredCrateIdentifier: id,
      rocrateIdentifier: null,
      identifiersMinted: 0,
    });
    const after = (await score()).body;
    expect(after.characterization["data_quality"]).toMatchObject({
      status: "met",
      details: "1 of 1 tables that were checked conform to their schema.",
      evidence: [expect.stringContaining(`${id}/cells.csv#/`)],
    });
    expect(Date.parse(after.computedAt)).toBeGreaterThan(Date.parse(before.computedAt));
    expect(after.revision).toBe(1);
    // Somebody else's is not shown.
    expect(
      await server.request("GET", `/rocrate/ai-ready-score/status/${asked.body.submissionUUID}`, {
        token: bob.token,
      }),
    ).toMatchObject({ status: 404 });
  });

  it("reports tables that do not conform", async () => {
    const wrong = await upload("Wrong", [], "image,cells\n1,many\n");
    await ended((await rescore(wrong, ada.token)).body.submissionUUID);
    expect((await score(wrong)).body.characterization["data_quality"]).toMatchObject({
      status: "not_met",
      details: "0 of 1 tables that were checked conform to their schema.",
    });
  });
});

describe("the page of a crate", () => {
  it("links to a score that was not requested yet, and shows a stored one", async () => {
    const own = await upload("<b>Shown</b>");
    const page = async () =>
      (await server.request("GET", `/${own}`, { headers: { Accept: "text/html" } })).text;
    const first = await page();
    expect(first).toContain(`<a href="/score/${own}">`);
    expect(first).not.toContain("Findable");
    const {
      score: { met, total },
    } = (await score(own)).body;
    const second = await page();
    expect(second).toContain(`${met} of ${total} met`);
    const card = second.split('id="score"')[1]!.split("</section>")[0]!;
    expect([card.match(/<meter/g), card.match(/<dt>/g)].map((found) => found?.length)).toEqual([
      7, 28,
    ]);
    expect(second).not.toContain("<b>Shown");
  });
});

describe("GraphQL", () => {
  it("returns the same, typed", async () => {
    const rest = (await score()).body;
    const { body } = await server.graphql<{
      aiReadyScore: {
        categories: { name: string; criteria: Record<string, unknown>[] }[];
      } & Record<string, unknown>;
    }>(
      "query ($id: ID!) { aiReadyScore(id: $id) { name crate { id } revision " +
        "computedAt totals { met partly total } document categories { name criteria { name " +
        "hasContent details status evidence fix legacy } } } }",
      { id },
    );
    const { categories, document, ...top } = body.data.aiReadyScore;
    expect(document).toEqual(rest);
    expect(top).toEqual({
      name: rest.name,
      crate: { id },
      revision: 1,
      computedAt: rest.computedAt,
      totals: rest.score,
    });
    expect(categories.map(({ name }) => name)).toEqual(CATEGORY_NAMES);
    expect(categories[0]!.criteria[0]).toMatchObject({
      name: "findable",
      hasContent: true,
      status: "MET",
      fix: null,
      legacy: true,
    });
  });

  it("computes the score again, and refuses as REST does", async () => {
    const mutation =
      "mutation ($id: ID!) { rescoreCrate(input: { id: $id }) { submission { id status task " +
      "record { id } } } }";
    const asked = await server.graphql<{ rescoreCrate: { submission: { id: string } } }>(
      mutation,
      { id },
      ada.token,
    );
    expect(asked.body.data.rescoreCrate).toMatchObject({
      submission: { status: "QUEUED", task: "SCORE", record: { id } },
    });
    expect(await ended(asked.body.data.rescoreCrate.submission.id)).toMatchObject({
      success: true,
    });
    expect((await server.graphql(mutation, { id })).body.errors![0]!.extensions.code).toBe(
      "NOT_AUTHENTICATED",
    );
    expect(
      (await server.graphql(mutation, { id }, bob.token)).body.errors![0]!.extensions.code,
    ).toBe("FORBIDDEN");
    expect(
      (await server.graphql(`{ aiReadyScore(id: "ark:99999/nobody") { name } }`)).body.errors![0]!
        .extensions.code,
    ).toBe("NOT_FOUND");
  });
});
