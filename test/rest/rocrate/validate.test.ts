import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CratePlan } from "../../../src/services/crates/plan.js";
import { crate, metadata, zip, type Entity } from "../../support/crates.js";
import {
  HALF_DUPLEX,
  startServer,
  type Answer,
  type Person,
  type TestServer,
} from "../../support/server.js";
import { AS_CREATED } from "../../../src/services/records/pages.js";

let server: TestServer;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  server = await startServer({
    MAX_UPLOAD_BYTES: "1M",
    MAX_METADATA_BYTES: "200K",
    PLAN_LIST_LIMIT: "3",
    PLAN_DIFFERENCES: "2",
  });
  [ada, bob] = await Promise.all([server.person("ada"), server.person("bob")]);
});
afterAll(() => server.stop());

const form = (bytes: Uint8Array, field = "file", name = "crate.zip", type = "application/zip") => {
  const body = new FormData();
  body.set(field, new Blob([new Uint8Array(bytes)], { type }), name);
  return body;
};
const validate = (
  body: FormData | string,
  { token = ada.token, type = "application/ld+json" } = {},
): Promise<Answer<CratePlan>> =>
  server.request("POST", "/rocrate/validate", {
    token,
    body,
    ...(typeof body === "string" ? { headers: { "Content-Type": type } } : {}),
  });
const upload = async (archive: Uint8Array, person: Person) => {
  const answer = await server.request<{ "@id": string }>("POST", "/rocrate/upload", {
    token: person.token,
    body: form(archive),
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body["@id"];
};
/**
 * Every file that the registry keeps for objects, staged ones included, and how much is recorded.
 */
const kept = async () => ({
  files: (
    await readdir(join(server.deps.config.DATA_DIR, "objects"), {
      recursive: true,
      withFileTypes: true,
    })
  ).filter((entry) => entry.isFile()).length,
  records: (await server.deps.records.select({ filter: {}, order: AS_CREATED, limit: 1000 })).items
    .length,
  submissions: (await server.deps.records.submissionsOf(null, { limit: 1000 })).items.length,
});
const codes = (findings: { code: string }[]) => [...new Set(findings.map(({ code }) => code))];

describe("POST /rocrate/validate", () => {
  it("reports what an archive would mint and store, and stores nothing", async () => {
    const before = await kept();
    const answer = await validate(
      form(
        await crate(
          [
            { "@id": "a.csv", "@type": "File", name: "A", description: "Counts" },
            { "@id": "ark:59852/d", "@type": "Dataset", name: "D", description: "Known" },
          ],
          { "a.csv": "1" },
        ),
      ),
    );
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const plan = answer.body;
    const root = plan.rocrateIdentifier!;
    expect(root).toMatch(/^ark:99999\/rocrate-a-crate-/);
    expect(plan).toMatchObject({
      conforms: true,
      counts: { minted: 2, kept: 1, known: 0, conflicting: 0 },
      refused: [],
      conflicting: [],
      records: [
        { kind: "ROCrate", count: 1 },
        { kind: "DataDownload", count: 1 },
        { kind: "Dataset", count: 1 },
      ],
      minted: [
        { entity: "./", identifier: root, kind: "ROCrate" },
        { entity: "a.csv", identifier: `${root}/a.csv`, kind: "DataDownload" },
      ],
      kept: [{ entity: "ark:59852/d", identifier: "ark:59852/d", kind: "Dataset" }],
    });
    expect(plan.warned).toContainEqual(
      expect.objectContaining({
        severity: "RECOMMENDED",
        code: "NOT_PART",
        file: "ro-crate-metadata.json",
        pointer: "/@graph/2",
        fix: expect.stringContaining("hasPart"),
      }),
    );
    expect(await kept()).toEqual(before);
  });

  it("reads a metadata document as body in both media types, and as a file by its type or name", async () => {
    const document = JSON.stringify(metadata([{ "@id": "#a", "@type": "Person", name: "A" }]));
    const plans = await Promise.all([
      validate(document),
      validate(document, { type: "application/json" }),
      validate(form(Buffer.from(document), "crate", "x.bin", "application/ld+json")),
      validate(
        form(Buffer.from(document), "file", "ro-crate-metadata.json", "application/octet-stream"),
      ),
    ]);
    for (const { body } of plans)
      expect(body).toMatchObject({
        conforms: true,
        records: [
          { kind: "ROCrate", count: 1 },
          { kind: "Entity", count: 1 },
        ],
      });
  });

  it("returns the line and column of invalid JSON, with severity, code and fix", async () => {
    const { status, body } = await validate(
      '{"@context": "https://w3id.org/ro/crate/1.1/context",\n  "@graph": [}',
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({
      conforms: false,
      rocrateIdentifier: null,
      records: [],
      refused: [
        {
          file: "ro-crate-metadata.json",
          pointer: "/@graph/0",
          line: 2,
          column: 14,
          severity: "REQUIRED",
          code: "json_invalid",
          fix: expect.stringMatching(/./),
        },
      ],
    });
  });

  it("finds everything at once, where an upload stops at its first stage", async () => {
    await upload(
      await crate([
        {
          "@id": "ark:59852/taken",
          "@type": "Dataset",
          name: "secret name",
          description: "secret text",
        },
      ]),
      bob,
    );
    const before = await kept();
    const { body } = await validate(
      form(
        await crate(
          [
            { "@id": "gone.txt", "@type": "File" },
            { "@id": "../out", "@type": "Dataset" },
            { "@id": "ark:59852/taken", "@type": "Dataset" },
            { "@id": "here.txt", "@type": "File", contentSize: 99 },
            { "@id": "#odd", "@type": [{ no: "type" }] },
            { "@id": "#ctx", "@context": 5, "@type": "Person" },
          ],
          { "here.txt": "x" },
        ),
      ),
    );
    expect(body.conforms).toBe(false);
    expect(codes(body.refused).toSorted()).toEqual([
      "CONTEXT_INVALID",
      "FILE_MISSING",
      "INVALID_ID",
    ]);
    expect(body.conflicting).toMatchObject([
      {
        entity: "ark:59852/taken",
        identifier: "ark:59852/taken",
        kind: "Dataset",
        severity: "REQUIRED",
        code: "IDENTIFIER_TAKEN",
        pointer: "/@graph/4",
        message: expect.stringContaining("a Dataset"),
      },
    ]);
    expect(JSON.stringify(body)).not.toMatch(/secret|bob/);
    expect(codes(body.warned)).toEqual(expect.arrayContaining(["JSONLD_INVALID", "SIZE_MISMATCH"]));
    for (const each of [...body.refused, ...body.warned, ...body.conflicting])
      expect(each.fix.length).toBeGreaterThan(5);
    expect(await kept()).toEqual(before);
  });

  it("knows a record whose statements are the same under another context, as the upload does", async () => {
    const noted = (name: string, context: Entity) =>
      zip({
        "ro-crate-metadata.json": metadata(
          [
            {
              "@id": "ark:59852/plan-noted",
              "@type": "Dataset",
              "@context": { note: "https://example.org/note", ...context },
              note: "n",
            },
          ],
          { "@id": `ark:59852/rocrate-${name}` },
        ),
      });
    await upload(await noted("plan-noted-one", {}), ada);
    const other = await noted("plan-noted-two", { unused: "https://example.org/unused" });
    expect((await validate(form(other))).body).toMatchObject({
      conforms: true,
      conflicting: [],
      known: [{ identifier: "ark:59852/plan-noted" }],
    });
    await upload(other, ada);
  });

  it("recognizes the uploader's own crate, nested crates, and records with the same statements", async () => {
    const tool: Entity = { "@id": "ark:59852/plan-tool", "@type": "evi:Software", name: "Tool" };
    const nested = (name: string, says = "Sub") =>
      zip({
        "ro-crate-metadata.json": metadata([{ "@id": "sub/", "@type": "Dataset" }, tool], {
          "@id": `ark:59852/rocrate-${name}`,
        }),
        "sub/ro-crate-metadata.json": metadata([], {
          "@id": "ark:59852/rocrate-plan-sub",
          name: says,
        }),
      });
    const archive = await nested("plan-one");
    await upload(archive, ada);
    const again = (await validate(form(archive))).body;
    expect(again.conflicting.map(({ code, identifier }) => `${code} ${identifier}`)).toEqual([
      "CRATE_EXISTS ark:59852/rocrate-plan-one",
      "IDENTIFIER_TAKEN ark:59852/rocrate-plan-sub",
    ]);
    expect(again.known).toEqual([
      { entity: "sub/", identifier: "ark:59852/rocrate-plan-one/sub", kind: "Dataset" },
      { entity: "ark:59852/plan-tool", identifier: "ark:59852/plan-tool", kind: "Software" },
    ]);
    const other = await nested("plan-two", "Other");
    const reused = (await validate(form(other))).body;
    expect(reused.conflicting).toMatchObject([
      {
        identifier: "ark:59852/rocrate-plan-sub",
        kind: "ROCrate",
        message: expect.stringMatching(
          /ark:59852\/rocrate-plan-sub is a crate of yours already and its content differs.*update=true/,
        ),
      },
    ]);
    // The upload says the same.
    const refused = await server.request("POST", "/rocrate/upload", {
      token: ada.token,
      body: form(other),
    });
    expect(refused).toMatchObject({
      status: 409,
      body: { code: "IDENTIFIER_TAKEN", detail: reused.conflicting[0]!.message },
    });
    expect((await validate(form(await nested("plan-two")))).body).toMatchObject({
      conforms: true,
      conflicting: [],
      known: [{ identifier: "ark:59852/plan-tool" }, { identifier: "ark:59852/rocrate-plan-sub" }],
    });
    const changed = (
      await validate(
        form(
          await zip({
            "ro-crate-metadata.json": metadata([{ ...tool, name: "Another" }], {
              "@id": "ark:59852/rocrate-plan-three",
            }),
          }),
        ),
      )
    ).body;
    expect(changed).toMatchObject({
      conforms: false,
      records: [],
      conflicting: [
        {
          identifier: "ark:59852/plan-tool",
          kind: "Software",
          pointer: "/@graph/2",
          file: "ro-crate-metadata.json",
        },
      ],
    });
  });

  it("reports old and new values of an update, long ones cut, of the first records only", async () => {
    const root = { "@id": "ark:59852/rocrate-plan-values", name: "Values" };
    const part = (at: number) => ({ "@id": `https://example.org/part-${at}` });
    const of = (parts: number[], more: object) =>
      zip({
        "ro-crate-metadata.json": metadata(
          ["a", "b", "c"].map((name) => ({
            "@id": `ark:59852/plan-value-${name}`,
            "@type": "Dataset",
            name,
            hasPart: parts.map(part),
            ...more,
          })),
          root,
        ),
      });
    const many = Array.from({ length: 200 }, (_, at) => at);
    const many2 = Object.fromEntries(many.slice(0, 30).map((at) => [`term${at}`, at]));
    const send = (path: string, archive: Uint8Array) =>
      server.request<CratePlan>("POST", `/rocrate/${path}?update=true`, {
        token: ada.token,
        body: form(archive),
      });
    const stored = await of(many, { description: "x".repeat(5000), version: 1 });
    expect((await send("upload", stored)).status).toBe(200);
    const next = await of([...many.slice(1), 500], { description: "short", url: "u", ...many2 });
    const { body } = await send("validate", next);
    const { counts, changed } = body.changes!;
    // With the root, whose archive is another one.
    expect([counts.changed, changed.length]).toEqual([4, 3]);
    expect(changed.map(({ differences }) => differences !== null)).toEqual([true, true, false]);
    const first = changed.find(({ identifier }) => identifier.endsWith("-value-a"));
    expect(first!.differences).toHaveLength(20);
    expect(first!.furtherDifferences).toBe(14);
    const at = (pointer: string) => first!.differences!.find((each) => each.pointer === pointer);
    expect(at("/hasPart")).toEqual({
      pointer: "/hasPart",
      kind: "CHANGED",
      before: [part(0)],
      after: [part(500)],
      shortened: true,
    });
    expect(at("/description")).toEqual({
      pointer: "/description",
      kind: "CHANGED",
      before: `${"x".repeat(1000)}…`,
      after: "short",
      shortened: true,
    });
    expect(at("/version")).toMatchObject({ kind: "REMOVED", before: 1, after: null });
  });

  it("reports what an update would do to each record, and the update then does it", async () => {
    const root = { "@id": "ark:59852/rocrate-plan-update", name: "Update" };
    const thing = (id: string, name: string): Entity => ({ "@id": id, "@type": "Dataset", name });
    const of = (entities: Entity[]) => zip({ "ro-crate-metadata.json": metadata(entities, root) });
    const dry = async (archive: Uint8Array, person = ada) =>
      (
        await server.request<CratePlan>("POST", "/rocrate/validate?update=true", {
          token: person.token,
          body: form(archive),
        })
      ).body;
    const update = async (archive: Uint8Array) => {
      const answer = await server.request("POST", "/rocrate/upload?update=true", {
        token: ada.token,
        body: form(archive),
      });
      expect(answer.status, answer.text).toBe(200);
    };
    const stay = thing("ark:59852/plan-stay", "Stays");
    const first = await of([
      stay,
      thing("ark:59852/plan-edit", "Before"),
      thing("ark:59852/plan-go", "Goes"),
    ]);
    expect(await dry(first)).toMatchObject({
      conforms: true,
      counts: { kept: 4, known: 0 },
      changes: { counts: { created: 4, changed: 0, unchanged: 0, removed: 0, revived: 0 } },
    });
    await update(first);
    expect(await dry(first)).toMatchObject({
      conforms: true,
      records: [],
      counts: { known: 4, conflicting: 0 },
      changes: { counts: { created: 0, changed: 0, unchanged: 4, removed: 0, revived: 0 } },
    });

    const before = await kept();
    const second = await of([
      stay,
      thing("ark:59852/plan-edit", "After"),
      thing("ark:59852/plan-new", "New"),
    ]);
    const plan = await dry(second);
    expect(plan).toMatchObject({
      conforms: true,
      records: [{ kind: "Dataset", count: 1 }],
      conflicting: [],
      changes: {
        counts: { created: 1, changed: 2, unchanged: 1, removed: 1, revived: 0 },
        created: [
          { entity: "ark:59852/plan-new", identifier: "ark:59852/plan-new", kind: "Dataset" },
        ],
        unchanged: [{ identifier: "ark:59852/plan-stay" }],
        removed: [{ identifier: "ark:59852/plan-go", kind: "Dataset" }],
        revived: [],
      },
    });
    expect(plan.changes!.changed.map(({ identifier }) => identifier).toSorted()).toEqual([
      "ark:59852/plan-edit",
      root["@id"],
    ]);
    expect(
      plan.changes!.changed.find(({ identifier }) => identifier === "ark:59852/plan-edit"),
    ).toMatchObject({
      name: "After",
      differences: [
        { pointer: "/name", kind: "CHANGED", before: "Before", after: "After", shortened: false },
      ],
      furtherDifferences: 0,
    });
    expect(await kept()).toEqual(before);
    const state = async () =>
      Object.fromEntries(
        (
          await server.deps.records.findMany(
            ["stay", "edit", "go", "new"].map((name) => `ark:59852/plan-${name}`),
          )
        ).map((record) => [
          record!.ark.slice(15),
          `${record!.revision}${record!.tombstone ? " gone" : ""}`,
        ]),
      );
    await update(second);
    expect(await state()).toEqual({ stay: "1", edit: "2", go: "2 gone", new: "1" });

    expect(await dry(first)).toMatchObject({
      conforms: true,
      changes: {
        counts: { created: 0, changed: 2, unchanged: 1, removed: 1, revived: 1 },
        revived: [{ identifier: "ark:59852/plan-go" }],
        removed: [{ identifier: "ark:59852/plan-new" }],
      },
    });
    await update(first);
    expect(await state()).toEqual({ stay: "1", edit: "3", go: "3", new: "2 gone" });

    // What is another's, or belongs to another crate and says something else, conflicts and is in
    // no other list.
    await upload(
      await zip({
        "ro-crate-metadata.json": metadata([thing("ark:59852/plan-other", "Of another crate")], {
          "@id": "ark:59852/rocrate-plan-holder",
        }),
      }),
      ada,
    );
    const clash = await dry(
      await of([
        stay,
        thing("ark:59852/plan-edit", "Before"),
        thing("ark:59852/plan-go", "Goes"),
        thing("ark:59852/plan-other", "Something else"),
      ]),
    );
    expect(clash).toMatchObject({
      conforms: false,
      records: [],
      conflicting: [
        { identifier: "ark:59852/plan-other", code: "IDENTIFIER_TAKEN", pointer: "/@graph/5" },
      ], // The archive alone makes no revision of the crate.
      changes: { counts: { created: 0, removed: 0, unchanged: 4 } },
    });
    const others = await dry(first, bob);
    expect(others).toMatchObject({
      conforms: false,
      counts: { conflicting: 4 },
      changes: { counts: { created: 0, changed: 0, unchanged: 0, removed: 0, revived: 0 } },
    });
    expect(JSON.stringify(others)).not.toContain(ada.id);
    // Without every entity nothing can be told of what is missing.
    expect(await dry(await of([{ ...stay, "@context": 5 }]))).toMatchObject({ conforms: false });
    expect(await dry(Buffer.from("no zip"))).toMatchObject({ conforms: false, changes: null });
    expect((await validate(form(first))).body.changes).toBeNull();
  });

  it("lists a limited number of identifiers and counts all", async () => {
    const { body } = await validate(
      JSON.stringify(
        metadata(Array.from({ length: 8 }, (_, n) => ({ "@id": `#p${n}`, "@type": "Person" }))),
      ),
    );
    expect(body.minted).toHaveLength(3);
    expect(body.counts.minted).toBe(9);
    expect(body.records).toContainEqual({ kind: "Entity", count: 8 });
  });

  it("refuses an invalid request: no token, no body, another media type, too much", async () => {
    const before = await kept();
    expect(
      await server.request("POST", "/rocrate/validate", { body: form(Buffer.from("x")) }),
    ).toMatchObject({ status: 401, body: { code: "NOT_AUTHENTICATED" } });
    expect(await server.request("POST", "/rocrate/validate", { token: ada.token })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body"], type: "missing" }] },
    });
    const empty = new FormData();
    empty.set("other", "text");
    expect(await validate(empty)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "file"], type: "missing" }] },
    });
    expect(await validate("x", { type: "text/plain" })).toMatchObject({ status: 415 });
    expect(await validate(form(Buffer.alloc(1_100_000)))).toMatchObject({
      status: 413,
      body: { code: "TOO_LARGE", detail: expect.stringContaining("MAX_UPLOAD_BYTES") },
    });
    expect(await validate(" ".repeat(300_000))).toMatchObject({
      status: 413,
      body: { detail: expect.stringContaining("MAX_METADATA_BYTES") },
    });
    // Without a length nothing is known before the bytes come.
    const chunked = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(100_000)),
    });
    const answer = await fetch(`${server.url}/rocrate/validate`, {
      method: "POST",
      headers: { Authorization: `Bearer ${ada.token}`, "Content-Type": "application/json" },
      body: chunked,
      ...HALF_DUPLEX,
    });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      413,
      "TOO_LARGE",
    ]);
    expect(await validate(form(Buffer.from("no zip")))).toMatchObject({
      status: 200,
      body: { conforms: false, refused: [{ code: "NOT_A_ZIP", file: null }] },
    });
    expect(await kept()).toEqual(before);
    expect(server.faults).toEqual([]);
  });

  it("leaves nothing behind when the client disconnects, while it sends and while it waits", async () => {
    const before = await kept();
    const { hostname, port } = new URL(server.url);
    const large = JSON.stringify(
      metadata(
        Array.from({ length: 1500 }, (_, n) => ({
          "@id": `#p${n}`,
          "@type": "Person",
          name: `P ${n}`,
        })),
      ),
    );
    for (const body of ['{"@context":', large]) {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined);
      socket.write(
        `POST /rocrate/validate HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ` +
          `${ada.token}\r\nContent-Type: application/json\r\nContent-Length: ` +
          `${body === large ? Buffer.byteLength(large) : 5000}\r\n\r\n${body}`,
      );
      for (let look = 0; look < 200 && (await kept()).files === before.files; look++)
        await sleep(5);
      socket.destroy();
      await expect.poll(kept).toEqual(before);
    }
    expect((await validate(JSON.stringify(metadata()))).body.conforms).toBe(true);
    expect(server.faults).toEqual([]);
  });
});

describe("planCrate over GraphQL", () => {
  const plan = async (fields: string, argument: string) =>
    (
      await server.graphql<{ planCrate: { plan: Partial<CratePlan> } }>(
        `mutation ($metadata: JSON!) { planCrate(input: { ${argument} }) { plan { ${fields} } } }`,
        { metadata: metadata([{ "@id": "#a" }]) },
        ada.token,
      )
    ).body;
  it("returns the same for a metadata document", async () => {
    const { data } = await plan(
      "conforms records { kind count } counts { minted } minted { entity kind } warned { " +
        "code severity pointer line fix } refused { code }",
      "source: { metadata: $metadata }",
    );
    expect(data.planCrate.plan).toMatchObject({
      conforms: true,
      records: [
        { kind: "RO_CRATE", count: 1 },
        { kind: "ENTITY", count: 1 },
      ],
      counts: { minted: 2 },
      minted: [
        { entity: "./", kind: "RO_CRATE" },
        { entity: "#a", kind: "ENTITY" },
      ],
      refused: [],
    });
    expect(data.planCrate.plan.warned).toContainEqual(
      expect.objectContaining({ code: "TYPE_MISSING", severity: "RECOMMENDED", line: null }),
    );
  });
  it("returns the same for an archive", async () => {
    const body = new FormData();
    body.set(
      "operations",
      JSON.stringify({
        query:
          "mutation ($file: Upload!) { planCrate(input: { source: { archive: $file } }) { plan { conforms refused { code file } } } }",
        variables: { file: null },
      }),
    );
    body.set("map", JSON.stringify({ 0: ["variables.file"] }));
    body.set(
      "0",
      new Blob([new Uint8Array(await crate([{ "@id": "gone", "@type": "File" }]))]),
      "crate.eln",
    );
    const answer = await server.request("POST", "/graphql", {
      token: ada.token,
      body,
      headers: { "apollo-require-preflight": "true" },
    });
    expect(answer.body).toMatchObject({
      data: {
        planCrate: {
          plan: {
            conforms: false,
            refused: [{ code: "FILE_MISSING", file: "ro-crate-metadata.json" }],
          },
        },
      },
    });
  });
  it("reports what an update would do", async () => {
    const { data } = await plan(
      "conforms changes { counts { created changed removed } created { entity kind } " +
        "changed { identifier name differences { pointer kind before after shortened } " +
        "furtherDifferences } removed { identifier } }",
      "source: { metadata: $metadata }, update: true",
    );
    expect(data.planCrate.plan).toMatchObject({
      conforms: true,
      changes: {
        counts: { created: 2, changed: 0, removed: 0 },
        created: [
          { entity: "./", kind: "RO_CRATE" },
          { entity: "#a", kind: "ENTITY" },
        ],
        removed: [],
      },
    });
  });
  it("requires exactly one of both, and a token", async () => {
    const ask = (source: string, token?: string) =>
      server.graphql(
        `mutation { planCrate(input: { source: { ${source} } }) { plan { conforms } } }`,
        {},
        token,
      );
    for (const none of ["", "metadata: null", "archive: null", 'metadata: {}, archive: "x"'])
      expect((await ask(none, ada.token)).body.errors?.[0], none).toMatchObject({
        extensions: { code: "GRAPHQL_VALIDATION_FAILED" },
      });
    const open = await ask("metadata: {}");
    expect(open.body.errors).toMatchObject([{ extensions: { code: "NOT_AUTHENTICATED" } }]);
  });
});
