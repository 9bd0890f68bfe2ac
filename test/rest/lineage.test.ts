import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LiveRegistry } from "../support/live-registry.js";
import type { Answer, Json, User } from "../support/registry-client.js";
import { sharedData } from "../support/shared-data.js";

let registry: LiveRegistry;
let ada: User;
let bob: User;
beforeAll(async () => {
  registry = await LiveRegistry.start({ MAX_LINEAGE_RECORDS: "40" });
  [ada, bob] = await Promise.all([registry.user("Ada"), registry.user("Bob")]);
});
afterAll(() => registry?.stop());

const dataset = (name: string, facets: Json = {}): Json => ({ namespace: "file", name, facets });
const event = (more: Json = {}): Json => ({
  eventType: "COMPLETE",
  eventTime: "2026-11-24T10:00:00Z",
  producer: "https://example.org/scheduler",
  schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
  run: { runId: randomUUID(), facets: {} },
  job: { namespace: "lab", name: "count", facets: {} },
  inputs: [],
  outputs: [],
  ...more,
});
const send = (body: unknown, who: User | null = ada, query = ""): Promise<Answer> =>
  registry.ask(`/api/v1/lineage${query}`, { body, ...(who ? { token: who.token } : {}) });
const runOf = (sent: Json, owner = ada.ark): string => `${owner}/lineage/run/${sent["run"].runId}`;
const read = async (ark: string): Promise<Json> => (await registry.ask(`/${ark}`)).body;
const changes = ({ body }: Answer): string[] =>
  (body["records"] as Json[]).map(({ kind, change }) => `${kind} ${change}`);
const revisions = async (ark: string): Promise<number> =>
  ((await registry.ask(`/${ark}/history`)).body["revisions"] as Json[]).length;

describe("the events of a run", () => {
  const run = { runId: randomUUID(), facets: {} };
  const start = event({
    run,
    eventType: "START",
    eventTime: "2026-11-24T10:00:00+01:00",
    inputs: [dataset("in-1"), dataset("in-2")],
  });
  const running = event({ run, eventType: "RUNNING", eventTime: "2026-11-24T09:30:00Z" });
  const end = event({
    run: {
      ...run,
      facets: { parent: { run: { runId: randomUUID() }, job: {} } },
    },
    eventTime: "2026-11-24T10:05:00.5Z",
    job: {
      namespace: "lab",
      name: "count",
      facets: {
        documentation: { description: "Counts the cells of a plate." },
        sql: { query: "SELECT count(*) FROM cells" },
        sourceCodeLocation: { type: "git", url: "https://example.org/count.git", version: "v2" },
      },
    },
    inputs: [dataset("in-2")],
    outputs: [dataset("out-1")],
  });

  it("become one computation with inputs, outputs, software and times", async () => {
    expect(changes(await send(start))).toEqual([
      "Dataset created",
      "Dataset created",
      "Computation created",
    ]);
    expect(await read(runOf(start))).toMatchObject({
      dateCreated: "2026-11-24T09:00:00.000Z",
      actionStatus: "https://schema.org/ActiveActionStatus",
    });
    await send(running);
    expect(changes(await send(end))).toEqual([
      "Dataset unchanged",
      "Dataset created",
      "Software created",
      "Computation changed",
    ]);
    const computation = await read(runOf(start));
    expect(computation).toMatchObject({
      identifier: `urn:uuid:${run.runId}`,
      dateCreated: "2026-11-24T09:00:00.000Z",
      dateFinished: "2026-11-24T10:05:00.500Z",
      actionStatus: "https://schema.org/CompletedActionStatus",
      command: "SELECT count(*) FROM cells",
      isPartOf: { "@id": runOf(end["run"].facets.parent) },
    });
    expect(computation["usedDataset"]).toHaveLength(2);
    expect(computation["generated"]).toHaveLength(1);
    expect(await read(computation["usedSoftware"][0])).toMatchObject({
      codeRepository: "https://example.org/count.git",
      version: "v2",
    });
  });

  it("change nothing when they come again", async () => {
    const before = await revisions(runOf(start));
    for (const again of [end, start, running, [start, running, end]]) {
      const answer = await send(again);
      expect(answer.status).toBe(200);
      expect(new Set(changes(answer).map((one) => one.split(" ")[1]))).toEqual(
        new Set(["unchanged"]),
      );
    }
    expect(await revisions(runOf(start))).toBe(before);
  });

  it("give the same record in any order", async () => {
    const expected = await read(runOf(start));
    const shown = (document: Json): Json => ({
      ...document,
      "@id": "",
      identifier: "",
      // Whichever event comes first names the run.
      description: "",
      usedDataset: document["usedDataset"].toSorted(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([start, running, end, start, end], { minLength: 5 }),
        async (events) => {
          const runId = randomUUID();
          for (const each of events) await send({ ...each, run: { ...each["run"], runId } });
          const found = await read(`${ada.ark}/lineage/run/${runId}`);
          expect(shown(found)).toEqual(shown(expected));
        },
      ),
      { numRuns: 8 },
    );
  });

  it("that failed says why", async () => {
    const failed = event({
      eventType: "FAIL",
      run: { runId: randomUUID(), facets: { errorMessage: { message: "disk full" } } },
    });
    await send(failed);
    expect(await read(runOf(failed))).toMatchObject({
      actionStatus: "https://schema.org/FailedActionStatus",
      error: "disk full",
    });
  });

  it("that are sent at the same time lose nothing", async () => {
    const runId = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        send(event({ run: { runId }, inputs: [dataset("shared"), dataset(`many-${at}`)] })),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect((await read(`${ada.ark}/lineage/run/${runId}`))["usedDataset"]).toHaveLength(13);
  });
});

describe("datasets", () => {
  it("of one namespace and name are one record, with its schema and its revisions", async () => {
    const fields = [
      { name: "id", type: "BIGINT" },
      { name: "place", type: "STRUCT", fields: [{ name: "x", type: "DOUBLE" }] },
    ];
    const out = (list: Json[]) =>
      event({
        outputs: [
          dataset("table", {
            schema: { fields: list },
            documentation: { description: "Places of cells." },
            dataSource: { name: "db", uri: "postgres://db:5432" },
          }),
        ],
      });
    const first = await send(out(fields));
    const { generated } = await read(
      first.body["records"].find(({ kind }: Json) => kind === "Computation")["@id"],
    );
    const table = await read(generated[0]);
    expect(table).toMatchObject({
      name: "table",
      description: "Places of cells.",
      url: "postgres://db:5432",
      identifier: "file/table",
    });
    const schema = table["evi:hasSchema"]["@id"] as string;
    expect((await read(schema))["properties"]).toMatchObject({
      id: { type: "integer", index: 0, description: "Type BIGINT." },
      place: { type: "string", index: 1 },
      "place.x": { type: "number", index: 2 },
    });
    expect(changes(await send(out([...fields, { name: "new", type: "text" }])))).toEqual([
      "Schema changed",
      "Dataset unchanged",
      "Computation created",
    ]);
    expect(await revisions(schema)).toBe(2);
  });

  it("may be described without a run, and so may jobs", async () => {
    const alone = {
      eventTime: "2026-11-24T10:00:00Z",
      dataset: dataset("alone", { documentation: { description: "Alone." } }),
    };
    expect(changes(await send(alone))).toEqual(["Dataset created"]);
    const job = {
      eventTime: "2026-11-24T10:00:00Z",
      job: {
        namespace: "lab",
        name: "job",
        facets: { sourceCodeLocation: { type: "git", url: "https://example.org/job.git" } },
      },
      inputs: [dataset("alone")],
    };
    expect(changes(await send(job))).toEqual(["Dataset unchanged", "Software created"]);
  });

  it("whose name is an ARK are that record, which stays as it is", async () => {
    const { body } = await registry.ask("/dataset", {
      token: bob.token,
      body: {
        "@type": "evi:Dataset",
        name: "Bob's",
        description: "A dataset of Bob's.",
        owner: bob.ark,
      },
    });
    const id = body["@id"] as string;
    const sent = event({
      inputs: [dataset(id, { documentation: { description: "Taken over." } })],
    });
    expect(changes(await send(sent))).toEqual(["Computation created"]);
    expect((await read(runOf(sent)))["usedDataset"]).toEqual([id]);
    expect(await read(id)).toMatchObject({ description: "A dataset of Bob's." });
    expect(await revisions(id)).toBe(1);
  });

  it("of others are never changed, whoever sends the same names", async () => {
    const said = (text: string) =>
      event({ outputs: [dataset("same", { documentation: { description: text } })] });
    const [mine, theirs] = [said("Ada's."), said("Bob's.")];
    await send(mine);
    await send(theirs, bob);
    const [one] = (await read(runOf(mine)))["generated"] as [string];
    const [other] = (await read(runOf(theirs, bob.ark)))["generated"] as [string];
    expect(one).not.toBe(other);
    expect((await read(one))["description"]).toBe("Ada's.");
    // Nobody can take an identifier that a later event of hers will have.
    const taken = await registry.ask("/dataset", {
      token: bob.token,
      body: {
        "@id": `${ada.ark}/lineage/run/${randomUUID()}`,
        "@type": "evi:Dataset",
        name: "Taken",
        description: "Taken beforehand.",
        owner: bob.ark,
      },
    });
    expect(taken).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    // A dataset that was given to a group, which she left, is linked and no longer changed.
    const { body: group } = await registry.ask("/group", {
      token: bob.token,
      body: {
        name: "Bob's",
        description: "A group of Bob's.",
        owner: bob.ark,
        members: [ada.ark],
      },
    });
    await registry.ask(`/${one}`, {
      method: "PATCH",
      token: ada.token,
      body: { owner: group["@id"] },
      headers: { "Content-Type": "application/merge-patch+json" },
    });
    await registry.ask(`/group/${group["@id"]}/rmUser?userId=${ada.ark}`, {
      method: "PUT",
      token: bob.token,
    });
    expect((await read(one))["owner"]).toBe(group["@id"]);
    expect(changes(await send(said("Ada's again.")))).toEqual([
      "Dataset linked",
      "Computation created",
    ]);
    expect((await read(one))["description"]).toBe("Ada's.");
  });
});

describe("who may send", () => {
  it("is anyone with a token, and members for their groups", async () => {
    expect(await send(event(), null)).toMatchObject({
      status: 401,
      body: { code: "NOT_AUTHENTICATED" },
    });
    const { body: group } = await registry.ask("/group", {
      token: ada.token,
      body: {
        name: "Lab",
        description: "The people of the lab.",
        owner: ada.ark,
        members: [bob.ark],
      },
    });
    const owner = group["@id"] as string;
    const query = `?owner=${encodeURIComponent(owner)}`;
    const sent = event({ outputs: [dataset("shared of the group")] });
    for (const who of [bob, ada]) expect((await send(sent, who, query)).status).toBe(200);
    expect((await read(runOf(sent, owner)))["owner"]).toBe(owner);
    expect(await send(sent, await registry.user("Eve"), query)).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN" },
    });
  });

  it("does not write a run that was deleted, and links datasets that were", async () => {
    const sent = event({ inputs: [dataset("gone")] });
    await send(sent);
    const [gone] = (await read(runOf(sent)))["usedDataset"] as [string];
    for (const ark of [gone, runOf(sent)])
      await registry.ask(`/${ark}`, { method: "DELETE", token: ada.token });
    expect(await send(sent)).toMatchObject({ status: 410, body: { code: "GONE" } });
    expect(changes(await send(event({ inputs: [dataset("gone")] })))).toEqual([
      "Dataset linked",
      "Computation created",
    ]);
  });

  it("is limited by WRITE_RATE", async () => {
    const limited = await LiveRegistry.start({ WRITE_RATE: "2" });
    try {
      const eve = await limited.user("Eve");
      const statuses = [];
      for (let each = 0; each < 4; each++)
        statuses.push(
          (await limited.ask("/api/v1/lineage", { token: eve.token, body: event() })).status,
        );
      expect(statuses).toContain(429);
    } finally {
      await limited.stop();
    }
  });
});

describe("what is wrong", () => {
  it("is said with its place, all of it at once, and nothing is stored", async () => {
    const good = event();
    const answer = await send([
      good,
      event({ run: { runId: "1" }, eventTime: "yesterday" }),
      event({ job: { namespace: "", name: 4 }, inputs: [{ namespace: "n" }], outputs: "x" }),
      "text",
    ]);
    expect(answer.status).toBe(422);
    expect(answer.body["detail"].map(({ loc }: Json) => loc.join("."))).toEqual([
      "body.1.eventTime",
      "body.1.run.runId",
      "body.2.inputs.0.name",
      "body.2.outputs",
      "body.2.job.namespace",
      "body.2.job.name",
      "body.3",
    ]);
    expect((await registry.ask(`/${runOf(good)}`)).status).toBe(404);
    for (const body of [[], {}, "null", "{"]) expect((await send(body)).status).toBe(422);
  });

  it("includes two fields of one name", async () => {
    const fields = [{ name: "a" }, { name: "a" }];
    expect(
      await send(event({ outputs: [dataset("twice", { schema: { fields } })] })),
    ).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "outputs", 0, "facets", "schema", "fields"] }] },
    });
  });

  it("includes more records than MAX_LINEAGE_RECORDS, and deep or large bodies", async () => {
    const many = event({ inputs: Array.from({ length: 50 }, (_, at) => dataset(`d-${at}`)) });
    expect(await send(many)).toMatchObject({
      status: 413,
      body: { detail: expect.stringContaining("MAX_LINEAGE_RECORDS=40") },
    });
    const deep = `{"eventTime":"2026-11-24T10:00:00Z","run":${"[".repeat(5000)}`;
    expect((await send(deep)).status).toBe(422);
    const cells = Array.from({ length: 10_000 }, (_, at) => ({ name: `c${at}`, type: "int" }));
    const wide = await send(event({ outputs: [dataset("wide", { schema: { fields: cells } })] }));
    expect(wide).toMatchObject({
      status: 413,
      body: { detail: expect.stringContaining("MAX_JSON_VALUES") },
    });
    expect(
      (await send(event({ job: { namespace: "x".repeat(3_000_000), name: "n" } }))).status,
    ).toBe(413);
  });

  it("never ends in a fault, whatever the facets are", async () => {
    const facets = fc.dictionary(
      fc.constantFrom(
        "schema",
        "documentation",
        "dataSource",
        "sql",
        "sourceCodeLocation",
        "parent",
        "errorMessage",
        "__proto__",
      ),
      fc.oneof(
        fc.jsonValue(),
        fc.record({ fields: fc.jsonValue(), url: fc.jsonValue(), run: fc.jsonValue() }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(facets, facets, facets, async (run, job, data) => {
        const { status, text } = await send(
          JSON.stringify(
            event({
              run: { runId: randomUUID(), facets: run },
              job: { namespace: "n", name: "j", facets: job },
              outputs: [dataset("fuzz", data)],
            }),
          ),
        );
        expect([200, 422], text).toContain(status);
      }),
      { numRuns: 60 },
    );
  });
});

describe("the mutation recordLineage", () => {
  const RECORD =
    "mutation ($e: JSON!) { recordLineage(input: { events: $e }) { events changes { record { id kind } change } } }";

  it("does what the request over REST does", async () => {
    const sent = event({ outputs: [dataset("by graphql")] });
    const { body } = await registry.graphql(RECORD, { e: sent }, ada.token);
    expect(body["data"].recordLineage).toMatchObject({
      events: 1,
      changes: [
        { record: { kind: "DATASET" }, change: "CREATED" },
        { record: { id: runOf(sent), kind: "COMPUTATION" }, change: "CREATED" },
      ],
    });
    expect(changes(await send(sent))).toEqual(["Dataset unchanged", "Computation unchanged"]);
  });

  it("says where in the argument something is wrong", async () => {
    const { body } = await registry.graphql(RECORD, { e: [{}] }, ada.token);
    expect(JSON.stringify(body["errors"])).toContain('["input","events",0,"eventTime"]');
  });
});

describe("two names of one dataset", () => {
  const job = (name: string, inputs: Json[], outputs: Json[], more: Json = {}) =>
    event({ job: { namespace: "lab", name, facets: {} }, inputs, outputs, ...more });
  const symlinks = (...names: string[]) => ({
    symlinks: { identifiers: names.map((name) => ({ namespace: "file", name, type: "TABLE" })) },
  });
  const renamed = (from: string) => ({
    lifecycleStateChange: {
      lifecycleStateChange: "RENAME",
      previousIdentifier: { namespace: "file", name: from },
    },
  });
  const evidenceOf = async (sent: Json): Promise<string[]> => {
    const [result] = (await read(runOf(sent)))["generated"] as string[];
    const { body } = await registry.ask(`/evidencegraph/query/${result}`);
    return (body["@graph"] as Json[]).map(({ name }) => String(name)).toSorted();
  };

  it.each([
    [
      "symlinks of an output",
      (a: string, b: string) => [
        job("write", [], [dataset(a, symlinks(b))]),
        job("read", [dataset(b)], [dataset(`${a}-report`)]),
      ],
    ],
    [
      "symlinks of an input",
      (a: string, b: string) => [
        job("write", [], [dataset(a)]),
        job("read", [dataset(b, symlinks(a))], [dataset(`${a}-report`)]),
      ],
    ],
    [
      "symlinks of what was written under the other name",
      (a: string, b: string) => [
        job("write", [], [dataset(a)]),
        job("read", [dataset(b)], [dataset(`${a}-report`)]),
        event({ run: undefined, job: undefined, dataset: dataset(b, symlinks(a)) }),
      ],
    ],
    [
      "a rename",
      (a: string, b: string) => [
        job("write", [], [dataset(a)]),
        job("rename", [], [dataset(b, renamed(a))]),
        job("read", [dataset(b)], [dataset(`${a}-report`)]),
      ],
    ],
  ])("lead evidence across by %s, in any order of events", async (_, eventsOf) => {
    for (const order of ["sent", "reversed", "one by one"]) {
      const [a, b] = [randomUUID(), randomUUID()];
      const events = eventsOf(a, b);
      if (order === "one by one") for (const one of events) await send(one);
      else await send(order === "sent" ? events : events.toReversed());
      const reader = events.find(({ job }) => job?.["name"] === "read")!;
      expect(await evidenceOf(reader)).toEqual(
        [a, b, `${a}-report`, ...events.flatMap(({ job }) => job?.["name"] ?? [])].toSorted(),
      );
      expect(new Set(changes(await send(events)).map((change) => change.split(" ")[1]))).toEqual(
        new Set(["unchanged"]),
      );
    }
  });

  it("change nothing of a record that somebody else owns", async () => {
    const theirs = (await send(job("theirs", [], [dataset("shared")]), bob)).body["records"][0][
      "@id"
    ];
    const before = (await registry.ask(`/${theirs}`)).body;
    for (const facets of [symlinks(theirs), renamed(theirs)]) {
      const sent = await send(job("claim", [], [dataset("claimed", facets)]));
      expect(sent.status).toBe(200);
      expect((sent.body["records"] as Json[]).map(({ "@id": ark }) => ark)).not.toContain(theirs);
    }
    // Events about their record, too.
    await send(job("claim", [{ namespace: "file", name: theirs, facets: symlinks("mine") }], []));
    // Back-links are no part of it.
    const { usedBy: _usedBy, ...now } = (await registry.ask(`/${theirs}`)).body;
    expect(now).toEqual(before);
    const { body: evidence } = await registry.ask(`/evidencegraph/query/${theirs}`);
    expect((evidence["@graph"] as Json[]).map(({ name }) => name as string).toSorted()).toEqual([
      "shared",
      "theirs",
    ]);
    expect(await revisions(theirs)).toBe(1);
    // The same names of another owner are other records.
    await send(job("claim", [], [dataset("shared", symlinks("other"))]));
    expect(await revisions(theirs)).toBe(1);
  });

  it("are none where a facet does not say both parts of a name, or names the dataset itself", async () => {
    const facets = {
      symlinks: {
        identifiers: [null, 5, {}, { namespace: "file" }, { namespace: "file", name: "plain" }],
      },
      lifecycleStateChange: {
        lifecycleStateChange: "DROP",
        previousIdentifier: { namespace: "file", name: "dropped" },
      },
    };
    const { body } = await send(job("plain", [], [dataset("plain", facets)]));
    expect((body["records"] as Json[]).map(({ kind }) => kind)).toEqual(["Dataset", "Computation"]);
    expect(await read(body["records"][0]["@id"])).not.toHaveProperty("derivedFrom");
  });
});

const CASE = sharedData("cases/public/43-lineage-out-of-order-and-symlinks");
describe.skipIf(!CASE)("a table that is written by its path and read by its name", () => {
  it("leads from the report to both loads; a run without START has its end only", async () => {
    const events = JSON.parse(readFileSync(join(CASE!, "events.json"), "utf8")) as Json[];
    expect((await send(events, bob)).status).toBe(200);
    const runs = new Set(events.map((one) => runOf(one, bob.ark)));
    expect(runs.size).toBe(3);
    const [load, report] = await Promise.all([...runs].slice(0, 2).map(read));
    expect(load).toMatchObject({ name: "load", dateFinished: "2026-01-15T10:05:00.000Z" });
    expect(load).not.toHaveProperty("dateCreated");
    const { body } = await registry.ask(`/evidencegraph/query/${report!["generated"][0]}`);
    const found = (body["@graph"] as Json[]).map(({ "@id": ark }) => ark);
    expect(found).toEqual(expect.arrayContaining([...runs]));
  });
});
