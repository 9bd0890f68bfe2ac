import { randomUUID } from "node:crypto";
import { Parser } from "n3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  drawEvidence,
  drawNearby,
  evidenceLines,
} from "../../../src/services/evidence/picture/drawing.js";
import { askedArk } from "../../../src/services/records/find.js";
import { metadata, zip } from "../../support/crates.js";
import { LiveRegistry } from "../../support/live-registry.js";
import type { Json, User } from "../../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
let grace: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  [ada, grace] = await Promise.all([registry.user("Ada"), registry.user("Grace")]);
});
afterAll(() => registry.stop());

const made = (name: string) => `ark:99999/${name}-${randomUUID().slice(0, 8)}`;
async function create(kind: string, document: Json, user = ada): Promise<string> {
  const { status, body, text } = await registry.ask(`/${kind}`, {
    token: user.token,
    body: { owner: user.ark, description: "For a test.", name: "Something", ...document },
  });
  expect(status, text).toBe(200);
  return body["@id"] as string;
}
const dataset = (document: Json = {}, user?: User) =>
  create("dataset", { "@type": "evi:Dataset", ...document }, user);
async function get(path: string): Promise<Json> {
  const { status, body, text } = await registry.ask(path);
  expect(status, text).toBe(200);
  return body;
}
const edgesIn = (graph: Json) =>
  (graph["@graph"] as Json[]).flatMap(
    (node) =>
      (node["statements"] as Json[] | undefined)?.map(({ property, object, record, field }) => [
        node["@id"],
        property,
        object,
        record,
        field,
      ]) ?? [],
  );

describe("each edge is traced to the field that states it", () => {
  const EVI = "https://w3id.org/EVI#";
  const PROV = "http://www.w3.org/ns/prov#";
  /** Field and its value → the name of the edge. */
  const FORMS: [string, (ark: string) => unknown, string][] = [
    ["generatedBy", (ark) => ark, "generatedBy"],
    ["generatedBy", (ark) => ({ "@id": ark }), "generatedBy"],
    ["generatedBy", (ark) => [ark, { "@id": ark }], "generatedBy"],
    ["generatedBy", (ark) => ark.replace("ark:", "ark:/"), "generatedBy"],
    ["generatedBy", (ark) => `https://n2t.net/${ark}`, "generatedBy"],
    ["evi:generatedBy", (ark) => ark, "generatedBy"],
    [`${EVI}generatedBy`, (ark) => ({ "@id": ark }), "generatedBy"],
    [`${PROV}wasGeneratedBy`, (ark) => ({ "@id": ark }), "generatedBy"],
    ["evi:derivedFrom", (ark) => [ark], "derivedFrom"],
    ["isBasedOn", (ark) => ({ "@id": ark }), "derivedFrom"],
    [`${PROV}wasDerivedFrom`, (ark) => ark, "derivedFrom"],
    ["usedBy", (ark) => [ark], "usedBy"],
    ["evi:derivedTo", (ark) => ark, "derivedTo"],
    [`${PROV}wasAttributedTo`, (ark) => ({ "@id": ark }), "createdBy"],
  ];

  it.each(FORMS)("%s, %s", async (field, written, property) => {
    const it_ = made("it");
    const id = await dataset({ [field]: written(it_) });
    const graph = await get(`/evidencegraph/query/${id}?direction=both&statements=true`);
    expect(edgesIn(graph)).toEqual([[id, property, it_, id, field]]);
    const { body } = await registry.graphql(
      "query ($id: ID!) { evidence(id: $id, direction: BOTH) { edges { " +
        "source { id record { __typename } } name target { id text record { id } } " +
        "statedBy { record { id } field } } } }",
      { id },
    );
    expect(body["data"].evidence.edges).toEqual([
      {
        source: { id, record: { __typename: "Dataset" } },
        name: property,
        target: { id: it_, text: it_, record: null },
        statedBy: [{ record: { id }, field }],
      },
    ]);
  });

  it(
    "in a crate, whose actions use schema.org and one of three generations of input and " +
      "output",
    async () => {
      for (const version of ["1.1", "1.2", "1.3"]) {
        const context = `https://w3id.org/ro/crate/${version}/context`;
        const archive = await zip({
          "in.txt": version,
          "out.txt": version,
          "ro-crate-metadata.json": metadata(
            [
              {
                "@id": "#run",
                "@type": "CreateAction",
                name: "Run",
                object: [{ "@id": "in.txt" }],
                result: { "@id": "out.txt" },
                instrument: { "@id": "#tool" },
                input: { "@id": "#tool" },
              },
              { "@id": "#tool", "@type": "SoftwareApplication", name: "Tool" },
              { "@id": "in.txt", "@type": "File" },
              { "@id": "out.txt", "@type": "File" },
            ],
            { hasPart: [{ "@id": "in.txt" }, { "@id": "out.txt" }] },
            context,
          ),
        });
        const { rocrateIdentifier: root } = await registry.take(archive, ada.token);
        const graph = await get(`/evidencegraph/query/${root}?statements=true`);
        const run = (graph["@graph"] as Json[]).find((node) => node["name"] === "Run")!;
        const tool = (graph["@graph"] as Json[]).find((node) => node["name"] === "Tool")!;
        const stated = (run["statements"] as Json[]).map(({ property, object, record, field }) => [
          property,
          object,
          record === run["@id"],
          field,
        ]);
        expect(new Set(stated)).toEqual(
          new Set([
            ["generated", `${root}/out.txt`, true, "result"],
            ["usedDataset", `${root}/in.txt`, true, "object"],
            ["usedDataset", tool["@id"], true, "input"],
            ["usedSoftware", tool["@id"], true, "instrument"],
          ]),
        );
      }
    },
  );

  it("both, where two fields or two records state the same", async () => {
    const output = made("out");
    const run = await create("computation", {
      "@type": "evi:Computation",
      author: "Ada",
      dateCreated: "2024-05-03",
      dateFinished: "2024-05-03",
      sourceOrganization: "ark:99999/o",
      sourceProject: "ark:99999/p",
      container: "c",
      command: "x",
      usedSoftware: "t",
      usedDataset: made("in"),
      containerId: null,
      generated: [output],
      "evi:generated": [output],
    });
    await dataset({ "@id": output, generatedBy: run });
    const { body } = await registry.graphql(
      "query ($id: ID!) { evidence(id: $id, depth: 1) { edges { name statedBy { record { id } " +
        "field } } } }",
      { id: output },
    );
    expect(body["data"].evidence.edges).toEqual([
      { name: "generatedBy", statedBy: [{ record: { id: output }, field: "generatedBy" }] },
      {
        name: "generated",
        statedBy: [
          { record: { id: run }, field: "generated" },
          { record: { id: run }, field: "evi:generated" },
        ],
      },
    ]);
    expect(
      (await get(`/evidencegraph/query/${output}?depth=1`))["@graph"][0]!.statements![0],
    ).not.toHaveProperty("field");
    // Its software is told in words, which are no node.
    for (const depth of ["", "?depth=5"]) {
      const whole = await get(`/evidencegraph/query/${output}${depth}`);
      expect((whole["@graph"] as Json[]).map((node) => node["@id"])).toEqual([output, run]);
      expect(whole["dangling"]).toHaveLength(1);
      expect(whole["@graph"][1]).not.toHaveProperty("usedSoftware");
    }
  });
});

describe("a stored evidence graph", () => {
  const build = async (ark: string, user = ada, query = ""): Promise<Json> => {
    const { status, body, text } = await registry.ask(`/evidencegraph/build/${ark}${query}`, {
      method: "POST",
      token: user.token,
    });
    expect(status, text).toBe(200);
    expect(body).toMatchObject({
      submissionUUID: expect.any(String) as string,
      guid: body["submissionUUID"] as string,
      rocrateIdentifier: null,
    });
    for (;;) {
      const answer = await registry.ask(`/evidencegraph/build/status/${body["submissionUUID"]}`, {
        token: user.token,
      });
      expect(answer.status, answer.text).toBe(200);
      if (answer.body["completed"]) return answer.body;
    }
  };
  const nodes = (graph: Json) => (graph["@graph"] as Json[]).map((node) => node["@id"] as string);

  it("is built in the background, belongs to its requester, and is a record like others", async () => {
    const input = await dataset();
    const output = await dataset({ derivedFrom: [input], name: "Result" }, grace);
    const status = await build(output);
    expect(status).toMatchObject({
      status: "finished",
      success: true,
      error: null,
      identifiersMinted: 1,
      evidenceGraphIdentifier: expect.stringMatching(/^ark:99999\/evidence-graph-/) as string,
    });
    const id = status["evidenceGraphIdentifier"] as string;
    const stored = await get(`/evidencegraph/${id}`);
    expect(stored).toMatchObject({
      "@id": id,
      "@type": "evi:EvidenceGraph",
      name: `Evidence graph of ${output}`,
      owner: ada.ark,
      about: output,
      direction: "upstream",
      depth: null,
      dangling: [],
      truncated: false,
    });
    expect(nodes(stored)).toEqual([output, input]);
    expect(await get(`/${id}`)).toEqual(stored);
    expect((await registry.ask("/evidencegraph")).body).toEqual(
      expect.arrayContaining([expect.objectContaining({ "@id": id })]),
    );
  });

  it("is one for each record, direction, depth and owner", async () => {
    const id = await dataset({ derivedFrom: [await dataset()] });
    const built = await Promise.all([
      build(id),
      build(id, grace),
      build(id, ada, "?direction=downstream"),
      build(id, ada, "?depth=3"),
    ]);
    expect(new Set(built.map((status) => status["evidenceGraphIdentifier"] as string)).size).toBe(
      4,
    );
    const again = await build(id);
    expect(again).toMatchObject({
      success: true,
      identifiersMinted: 0,
      evidenceGraphIdentifier: built[0]["evidenceGraphIdentifier"] as string,
    });
    const history = await get(`/evidencegraph/${again["evidenceGraphIdentifier"]}/history`);
    expect(history["revisions"]).toHaveLength(1);
  });

  it("is never stale: a change of an input is visible at the next read, over every interface", async () => {
    const [first, second] = [await dataset(), await dataset()];
    const body = {
      "@type": "evi:Dataset",
      owner: ada.ark,
      name: "Result",
      description: "For a test.",
    };
    const output = await dataset({ derivedFrom: [first] });
    const id = (await build(output))["evidenceGraphIdentifier"] as string;
    const change = async (derivedFrom: string[]) =>
      expect(
        (
          await registry.ask("/dataset", {
            method: "PUT",
            token: ada.token,
            body: { ...body, "@id": output, derivedFrom },
          })
        ).status,
      ).toBe(200);

    await change([second]);
    expect(nodes(await get(`/evidencegraph/${id}`))).toEqual([output, second]);
    await change([first, second]);
    const { body: answer } = await registry.graphql(
      "query ($id: ID!) { record(id: $id) { document revisions { nodes { by { id } action } } } }",
      { id },
    );
    expect(nodes(answer["data"].record.document).sort()).toEqual([output, first, second].sort());
    await change([]);
    const last = await get(`/${id}`);
    expect(nodes(last)).toEqual([output]);
    expect(await get(`/${id}`)).toEqual(last);
    const history = await get(`/evidencegraph/${id}/history`);
    expect((history["revisions"] as Json[]).map(({ action, by }) => [action, by])).toEqual([
      ["update", null],
      ["update", null],
      ["update", null],
      ["create", ada.ark],
    ]);
    // What it told of the inputs is no statement of its own: nothing supports the output any
    // more.
    expect((await get(`/evidencegraph/query/${output}`))["@graph"]).toHaveLength(1);
  });

  it("preserves its owner's name for it, and is unchanged when its record is deleted", async () => {
    const output = await dataset({ derivedFrom: [made("missing")] });
    const id = (await build(output))["evidenceGraphIdentifier"] as string;
    const stored = await get(`/evidencegraph/${id}`);
    expect(
      (
        await registry.ask("/evidencegraph", {
          method: "PUT",
          token: ada.token,
          body: { ...stored, name: "Mine" },
        })
      ).status,
    ).toBe(200);
    expect((await build(output))["success"]).toBe(true);
    expect(await get(`/evidencegraph/${id}`)).toEqual({ ...stored, name: "Mine" });
    expect(
      (await registry.ask(`/dataset/${output}`, { method: "DELETE", token: ada.token })).status,
    ).toBe(200);
    // But for the name and description of the record, which went with it.
    const [{ name: _name, description: _description, ...node }] = stored["@graph"] as [Json];
    expect(await get(`/evidencegraph/${id}`)).toEqual({
      ...stored,
      name: "Mine",
      "@graph": [node],
    });
    expect(
      (await registry.ask(`/evidencegraph/build/${output}`, { method: "POST", token: ada.token }))
        .status,
    ).toBe(410);
  });

  it("contains nothing of a deleted record, in no revision and over no interface", async () => {
    const [secret, described] = ["Marked-name-91c2", "Marked-description-91c2"];
    const input = await dataset({ name: secret, description: described });
    const output = await dataset(
      { derivedFrom: [input], name: secret, description: described },
      grace,
    );
    const id = (await build(output))["evidenceGraphIdentifier"] as string;
    // As graphs were named before.
    const stored = await get(`/evidencegraph/${id}`);
    expect(
      (
        await registry.ask("/evidencegraph", {
          method: "PUT",
          token: ada.token,
          body: { ...stored, name: `Evidence graph of ${secret}` },
        })
      ).status,
    ).toBe(200);
    const others = await dataset({ derivedFrom: [input], name: "Alive" });
    const of = (await build(others))["evidenceGraphIdentifier"] as string;
    const answers = async (token?: string) => {
      const texts = await Promise.all(
        [id, of]
          .flatMap((ark) => [
            ...["", "?revision=1", "?revision=2", "?format=html", "/history"].map(
              (end) => `/evidencegraph/${ark}${end}`,
            ),
            `/${ark}`,
            `/${ark}?revision=1`,
            `/${ark}?format=turtle`,
            `/${ark}?revision=1&format=n-quads`,
            `/${ark}?info`,
          ])
          .concat("/evidencegraph", "/evidencegraph?limit=1000")
          .map(async (path) => (await registry.ask(path, { token })).text),
      );
      const fields =
        "name description document additionalProperties revisions { nodes { changed } }";
      const query =
        `query ($id: ID!, $of: ID!) { record(id: $id) { ${fields} } evidenceGraph(id: ` +
        `$of) { ${fields} } evidenceGraphs(first: 100) { nodes { ${fields} } } }`;
      texts.push((await registry.graphql(query, { id, of }, token)).text);
      return texts.join("\n");
    };
    expect(await answers()).toContain(secret);
    for (const [ark, user] of [
      [input, ada],
      [output, grace],
    ] as const)
      expect(
        (await registry.ask(`/dataset/${ark}`, { method: "DELETE", token: user.token })).status,
      ).toBe(200);
    for (const token of [undefined, grace.token, ada.token]) {
      const logged = await answers(token);
      expect(logged).not.toContain(secret);
      expect(logged).not.toContain(described);
    }
    const published = await registry.graphql(
      "mutation ($id: ID!) { publishRecord(input: { id: $id, publicationStatus: PUBLISHED }) { " +
        "record { id name additionalProperties document } } }",
      { id: of },
      ada.token,
    );
    expect(published.body["data"].publishRecord.record.id).toBe(of);
    expect(published.text).not.toContain(secret);
    expect((await get(`/evidencegraph/${of}?revision=1`))["@graph"]).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ "@id": others, name: "Alive" }),
        { "@id": input, "@type": ["evi:Dataset"] },
      ]),
    );
    const deleted = await registry.ask(`/evidencegraph/${of}`, {
      method: "DELETE",
      token: ada.token,
    });
    expect([deleted.status, deleted.text.includes(secret)]).toEqual([200, false]);
    expect(
      (await registry.ask(`/evidencegraph/${of}?revision=1`, { token: ada.token })).text,
    ).not.toContain(secret);
  });

  it("has its earlier identifier when it was deleted and is built again", async () => {
    const output = await dataset();
    const id = (await build(output))["evidenceGraphIdentifier"] as string;
    expect(
      (await registry.ask(`/evidencegraph/${id}`, { method: "DELETE", token: ada.token })).status,
    ).toBe(200);
    expect((await registry.ask(`/${id}`)).status).toBe(410);
    expect((await build(output))["evidenceGraphIdentifier"]).toBe(id);
    expect(nodes(await get(`/${id}`))).toEqual([output]);
  });

  it("that a client created is left unchanged", async () => {
    const id = await create("evidencegraph", {
      "@id": made("own"),
      about: await dataset(),
      direction: "upstream",
      "@graph": [],
    });
    expect(await get(`/evidencegraph/${id}`)).toMatchObject({ "@graph": [] });
  });

  it("is refused without a token, for a missing record, and for an invalid depth", async () => {
    const output = await dataset();
    expect((await registry.ask(`/evidencegraph/build/${output}`, { method: "POST" })).status).toBe(
      401,
    );
    expect(
      (
        await registry.ask("/evidencegraph/build/ark:99999/nothing-here", {
          method: "POST",
          token: ada.token,
        })
      ).body,
    ).toMatchObject({ code: "NOT_FOUND" });
    const { status, body } = await registry.ask(
      `/evidencegraph/build/${output}?depth=0&direction=up`,
      { method: "POST", token: ada.token },
    );
    expect([status, body["detail"][0].loc]).toEqual([422, ["query", "direction"]]);
    const { submissionUUID } = (
      await registry.ask(`/evidencegraph/build/${output}`, { method: "POST", token: ada.token })
    ).body;
    expect(
      (await registry.ask(`/evidencegraph/build/status/${submissionUUID}`, { token: grace.token }))
        .status,
    ).toBe(404);
    const { body: built } = await registry.graphql(
      "mutation ($id: ID!) { buildEvidenceGraph(input: { id: $id, direction: BOTH, depth: 2 }) { " +
        "submission { id task } } }",
      { id: output },
      ada.token,
    );
    expect(built["data"].buildEvidenceGraph.submission.id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("evidence over HTTP", () => {
  let end: string;
  let inputs: string[];
  beforeAll(async () => {
    inputs = await Promise.all(Array.from({ length: 12 }, () => dataset({}, grace)));
    end = await dataset({ name: 'A "quoted" <result>', derivedFrom: inputs });
  });

  it("is returned in the requested form", async () => {
    for (const [format, type] of [
      ["prov-json", "application/json"],
      ["turtle", "text/turtle; charset=utf-8"],
      ["dot", "text/vnd.graphviz; charset=utf-8"],
      ["mermaid", "text/vnd.mermaid; charset=utf-8"],
      ["jsonld", "application/ld+json"],
      ["json", "application/json"],
    ] as const) {
      const answer = await registry.ask(`/evidencegraph/query/${end}?format=${format}`);
      expect([answer.status, answer.headers.get("content-type")], format).toEqual([200, type]);
      if (type.startsWith("text/"))
        expect(
          (await registry.ask(`/evidencegraph/query/${end}`, { headers: { Accept: type } })).text,
        ).toBe(answer.text);
    }
    const turtle = await registry.ask(`/evidencegraph/query/${end}?format=turtle`);
    expect(
      new Parser()
        .parse(turtle.text)
        .filter(({ predicate }) => predicate.value.endsWith("wasDerivedFrom")),
    ).toHaveLength(12);
    expect(
      (await registry.ask(`/evidencegraph/query/${end}`, { headers: { Accept: "image/gif" } }))
        .status,
    ).toBe(406);
    expect(
      (await registry.ask(`/evidencegraph/query/${end}?format=gif`)).body["detail"][0],
    ).toMatchObject({ loc: ["query", "format"], type: "literal_error" });
    const { body } = await registry.graphql(
      "query ($id: ID!) { evidence(id: $id) { as(format: DOT) } }",
      { id: end },
    );
    expect(body["data"].evidence.as).toBe(
      (await registry.ask(`/evidencegraph/query/${end}?format=dot`)).text,
    );
  });

  it("is drawn as SVG, alike over both interfaces, under a policy that runs nothing", async () => {
    const file = await registry.ask(`/evidencegraph/query/${end}?format=svg`);
    expect([file.status, file.headers.get("content-type")]).toEqual([
      200,
      "image/svg+xml; charset=utf-8",
    ]);
    expect(file.headers.get("content-security-policy")!.split("; ")).toEqual([
      "default-src 'none'",
      expect.stringMatching(/^style-src 'sha256-[^']+'$/),
      "sandbox allow-top-navigation-by-user-activation",
      "frame-ancestors 'self'",
    ]);
    expect(file.headers.get("x-content-type-options")).toBe("nosniff");
    const image = { headers: { Accept: "image/avif,image/svg+xml,image/*,*/*;q=0.8" } };
    expect((await registry.ask(`/evidencegraph/query/${end}`, image)).text).toBe(file.text);
    expect(file.text.match(/data-id=/g)).toHaveLength(13);

    const { body } = await registry.graphql(
      "query ($id: ID!) { evidence(id: $id) { as(format: SVG) } }",
      { id: end },
    );
    expect(body["data"].evidence.as).toBe(file.text);
    const { drawn, graph } = await drawEvidence(
      registry.deps,
      { ark: askedArk(end), direction: "upstream", collapse: 2 },
      { form: "page", base: "", groupLink: "?expand=" },
    );
    expect([drawn.nodes.length, drawn.edges.length, drawn.left]).toEqual([2, 1, []]);
    expect(drawn.svg).toMatch(/<a href="\?expand=\w+"[^>]*><title>12 datasets/);
    expect(evidenceLines(graph, false)).toMatchObject([
      { depth: 0, property: null, count: null, thirdParty: false, owners: [] },
      {
        depth: 1,
        name: expect.stringMatching(/^12 alike/) as string,
        property: "derivedFrom",
        count: 12,
        thirdParty: false,
        owners: [expect.stringMatching(/^ark:/) as string],
      },
    ]);
    const nearby = await drawNearby(registry.deps, askedArk(end), { form: "page", base: "" });
    expect(evidenceLines(nearby.graph, false)).toMatchObject([
      { depth: 0, count: null },
      { depth: 1, count: 12 },
    ]);

    // A record at the edge of the depth is expanded by one step, alike over both interfaces.
    const mid = await dataset({ name: "Middle", derivedFrom: [await dataset()] });
    const root = await dataset({ derivedFrom: [mid] });
    const near = await drawEvidence(
      registry.deps,
      { ark: askedArk(root), direction: "upstream", depth: 1 },
      { form: "page", base: "", groupLink: "?expand=" },
    );
    const stepped = await registry.graphql(
      `query ($id: ID!, $expand: [String!]) {
        near: evidence(id: $id, depth: 1) { document }
        more: evidence(id: $id, depth: 1, expand: $expand) { document as(format: SVG) }
      }`,
      { id: root, expand: [mid] },
    );
    const tooMany = Array.from({ length: 51 }, (_, i) => `ark:99999/none-${i}`);
    const refused = await registry.graphql(
      `query ($id: ID!, $expand: [String!]) { evidence(id: $id, expand: $expand) { asOf } }`,
      { id: root, expand: tooMany },
    );
    expect(refused.body["errors"][0].message).toContain("at most 50 records can be expanded");
    expect(near.drawn.svg).toContain(`href="?expand=${encodeURIComponent(mid)}"`);
    expect(evidenceLines(near.graph, false)).toMatchObject([
      { id: root, further: 0 },
      { id: mid, further: 1 },
    ]);
    const shown = stepped.body["data"] as Record<string, Json>;
    expect(shown["near"]!["document"]).toEqual(await get(`/evidencegraph/query/${root}?depth=1`));
    const asked = `depth=1&expand=${encodeURIComponent(mid)}`;
    const picture = await registry.ask(`/evidencegraph/query/${root}?format=svg&${asked}`);
    expect(picture.text.match(/data-id=/g)).toHaveLength(near.drawn.nodes.length + 1);
    expect(shown["more"]!["as"]).toBe(picture.text);
    expect(shown["more"]!["document"]).toEqual(await get(`/evidencegraph/query/${root}?${asked}`));

    const part = await registry.ask(`/evidencegraph/query/${end}?format=svg&limit=1`);
    expect(part.headers.get("x-truncated")).toBe("true");
  });

  it("reports that a form is truncated, and where the rest is", async () => {
    const { headers } = await registry.ask(`/evidencegraph/query/${end}?format=mermaid&limit=5`);
    expect(headers.get("x-truncated")).toBe("true");
    const next = /<([^>]+)>; rel="next"/.exec(headers.get("link")!)![1]!;
    expect((await registry.ask(next)).text).toContain("Not shown: 4 on later pages");
    expect(
      (await registry.ask(`/evidencegraph/query/${end}?format=mermaid`)).headers.get("x-truncated"),
    ).toBeNull();
  });

  it("is collapsed and filtered alike over both interfaces", async () => {
    const graph = await get(`/evidencegraph/query/${end}?collapse=true`);
    expect(graph).toMatchObject({
      hidden: { collapsed: 12 },
      "@graph": [{ "@id": end }, { count: 12 }],
    });
    const { group } = graph["@graph"][1] as { group: string };
    expect(
      (await get(`/evidencegraph/query/${end}?collapse=5&expand=${group}`))["@graph"],
    ).toHaveLength(13);
    const { body } = await registry.graphql(
      "query ($id: ID!) { evidence(id: $id, collapse: 10, kinds: [DATASET]) { nodes { " +
        "id } groups { id count group types } hidden { collapsed kind } edges { target { id } } } }",
      { id: end },
    );
    expect(body["data"].evidence).toEqual({
      nodes: [{ id: end }],
      groups: [{ id: graph["@graph"][1]["@id"], count: 12, group, types: ["evi:Dataset"] }],
      hidden: { collapsed: 12, kind: 0 },
      edges: [{ target: { id: graph["@graph"][1]["@id"] } }],
    });
    expect((await get(`/evidencegraph/query/${end}?kind=software,computation`)).hidden).toEqual({
      kind: 12,
    });
    const wrong = await registry.ask(
      `/evidencegraph/query/${end}?kind=datasets&collapse=some&statements=maybe`,
    );
    expect([wrong.status, wrong.body["detail"].map(({ loc }: Json) => loc[1] as string)]).toEqual([
      422,
      ["statements", "kind", "collapse"],
    ]);
  });

  it("counts impact and finds paths alike over both interfaces", async () => {
    const impact = await get(`/evidencegraph/impact/${inputs[0]}`);
    expect(impact).toMatchObject({
      total: 1,
      direct: 1,
      furthest: 1,
      byKind: [{ kind: "dataset", count: 1 }],
      byOwner: [{ owner: ada.ark, name: "Ada", count: 1 }],
      unresolved: 0,
    });
    const path = await get(`/evidencegraph/path/${end}?to=${inputs[3]}`);
    expect(path).toMatchObject({
      direction: "upstream",
      length: 1,
      edges: [{ name: "derivedFrom", statedBy: [{ record: end, field: "derivedFrom" }] }],
    });
    const { body } = await registry.graphql(
      `query ($from: ID!, $to: ID!, $other: ID!) {
      impact(id: $to) { id total byKind { kind count } byOwner { owner { id } name count kinds { kind ` +
        `count } } }
      supportPath(from: $from, to: $to) { direction length nodes { id name } edges { source { id } ` +
        `name target { id } statedBy { record { id } field owner { id } ownsSource ownsTarget } } }
      none: supportPath(from: $to, to: $other) { length }
    }`,
      { from: end, to: inputs[3], other: inputs[4] },
    );
    expect(body["data"]).toEqual({
      impact: {
        id: inputs[3],
        total: 1,
        byKind: [{ kind: "DATASET", count: 1 }],
        byOwner: [
          { owner: { id: ada.ark }, name: "Ada", count: 1, kinds: [{ kind: "DATASET", count: 1 }] },
        ],
      },
      supportPath: {
        direction: "UPSTREAM",
        length: 1,
        nodes: [
          { id: end, name: 'A "quoted" <result>' },
          { id: inputs[3], name: "Something" },
        ],
        edges: path["edges"].map(({ source, name, target, statedBy }: Json) => ({
          source: { id: source },
          name,
          target: { id: target },
          statedBy: statedBy.map(({ record, owner, ...rights }: Json) => ({
            ...rights,
            record: { id: record },
            owner: { id: owner },
          })),
        })),
      },
      none: null,
    });
    expect((await registry.ask(`/evidencegraph/path/${end}`)).body["detail"]).toEqual([
      { loc: ["query", "to"], msg: "Field required", type: "missing" },
    ]);
    expect((await registry.ask(`/evidencegraph/path/${end}?to=ark:99999/nowhere`)).status).toBe(
      404,
    );
    expect((await registry.ask("/evidencegraph/impact/ark:99999/nowhere")).status).toBe(404);
  });

  it("never shows more of a user than anyone may see", async () => {
    const id = await dataset({ createdBy: { "@id": ada.ark } });
    const impact = await get(`/evidencegraph/impact/${ada.ark}`);
    const answers = [
      await get(`/evidencegraph/query/${id}?statements=true`),
      await get(`/evidencegraph/path/${id}?to=${ada.ark}`),
      impact,
      await get(`/evidencegraph/query/${id}?format=prov-json`),
    ];
    expect(impact["total"]).toBeGreaterThan(0);
    for (const answer of answers) expect(JSON.stringify(answer)).not.toContain(ada.email);
  });
});

it("answers a badge as SVG, which other sites may show", async () => {
  const source = await dataset({ name: "Source" });
  const result = await dataset({ name: "Result", derivedFrom: [source] });
  const { status, text, headers } = await registry.ask(
    `/evidencegraph/query/${result}?format=badge`,
  );
  expect([status, headers.get("content-type")]).toEqual([200, "image/svg+xml; charset=utf-8"]);
  expect(text).toContain("provenance: 1 record");
  expect((await registry.ask("/evidencegraph/query/ark:99999/none?format=badge")).status).toBe(404);
});
