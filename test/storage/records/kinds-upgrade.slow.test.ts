import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { arkKey } from "../../../src/identifiers/ark.js";
import type { JsonObject } from "../../../src/model/field.js";
import type { KindName } from "../../../src/model/kind.js";
import { graphOf } from "../../../src/rdf/graph.js";
import type {
  FeedAnswer,
  RecordStore,
  RecordWrite,
  StoredRecord,
} from "../../../src/storage/records/port.js";
import type { RecordFilter } from "../../../src/storage/records/port.js";
import { openPostgresRecordStore } from "../../../src/storage/records/postgres/index.js";
import { openSqliteRecordStore } from "../../../src/storage/records/sqlite/index.js";
import { Connection } from "../../../src/storage/records/sqlite/statement.js";
import { decode, remove, write } from "../../conformance/records/fixtures.js";
import { hasPostgres, PostgresServer } from "../../support/servers/postgres.js";
import { AS_CREATED } from "../../../src/services/records/pages.js";

const CRATE = "ark:99999/crate";
const CONTEXT = ["https://w3id.org/ro/crate/1.2/context", { evi: "https://w3id.org/EVI#" }];
const at = (name: string): string => `${CRATE}/${name}`;
const ref = (...names: string[]) => names.map((name) => ({ "@id": at(name) }));

/** Entities of a crate, with the kinds that schema 10 and schema 11 give them. */
const ENTITIES: Record<string, [before: KindName, now: KindName, document: JsonObject]> = {
  data: ["dataset", "dataset", { "@type": "Dataset", name: "Cells" }],
  model: [
    "entity",
    "mlmodel",
    {
      "@type": ["prov:Entity", "https://w3id.org/EVI#MLModel"],
      name: "Outline finder",
      keywords: ["Cells", "outlines"],
      "evi:trainedOn": ref("data"),
      generatedBy: ref("run"),
    },
  ],
  bench: [
    "computation",
    "experiment",
    {
      "@type": "https://w3id.org/EVI#Experiment",
      name: "Staining",
      usedSample: ref("plate"),
      usedInstrument: ref("microscope"),
      generated: ref("data"),
      object: ref("plate"),
    },
  ],
  plate: ["entity", "sample", { "@type": ["Thing", "evi:Sample"], name: "Plate" }],
  microscope: [
    "entity",
    "instrument",
    {
      "@context": { Device: "https://w3id.org/EVI#Instrument" },
      "@type": "Device",
      name: "Microscope",
    },
  ],
  notes: ["entity", "annotation", { metadataType: "evi:Annotation", "evi:annotates": ref("data") }],
  run: [
    "computation",
    "computation",
    { "@type": "evi:Computation", name: "Run", description: "After the Experiment" },
  ],
  ada: ["entity", "entity", { "@type": "Person", name: "Ada", jobTitle: "Sample manager" }],
  thrown: ["entity", "sample", { "@type": "evi:Sample", name: "Thrown away" }],
  "ro-crate-metadata.json": ["entity", "entity", { "@type": ["CreativeWork", "evi:Annotation"] }],
  unreadable: ["entity", "entity", { "@type": { "evi:Sample": 1 } }],
};

const documentOf = (name: string): JsonObject => {
  const { "@context": own, ...rest } = ENTITIES[name]![2];
  return { "@context": [...CONTEXT, ...(own ? [own] : [])], "@id": at(name), ...rest };
};
const graphFor = (name: string, kind: KindName) => {
  const document = documentOf(name);
  if (name === "unreadable") document["@type"] = "evi:Broken";
  return graphOf({ ark: at(name), kind, document, fromCrate: true });
};

async function created(name: string): Promise<RecordWrite> {
  const [kind, , { name: title = null, keywords = [] }] = ENTITIES[name]!;
  const { quads, links } = await graphFor(name, kind);
  return {
    op: "create",
    ark: at(name),
    key: arkKey(at(name)),
    crate: CRATE,
    kind,
    name: title as string | null,
    owner: "ark:99999/user-ann",
    document: new TextEncoder().encode(JSON.stringify(documentOf(name))),
    quads,
    links,
    keywords: keywords as string[],
    text: { name: String(title ?? ""), description: "", keywords: "", other: "" },
  };
}

/** The store of one database, closed and opened with the schema that it has by then. */
interface Place {
  open(): Promise<RecordStore>;
  /** Marks the closed database as one of schema 10, of which 11 differs in its rows only. */
  asSchema10(): Promise<void>;
  remove(): Promise<void>;
}

const changedSince = async (store: RecordStore, sequence: number): Promise<FeedAnswer> => {
  const port = store.openFeed();
  const answer = await new Promise<FeedAnswer>((resolve) => {
    port.once("message", resolve);
    port.postMessage({ id: 1, since: { sequence, limit: 1000 } });
  });
  port.close();
  return answer;
};

function upgrades(place: () => Promise<Place>): void {
  let here: Place;
  let store: RecordStore;
  let sequence: number;
  // One upgrade for all: only the last test writes.
  beforeAll(async () => {
    here = await place();
    store = await here.open();
    for (const name of Object.keys(ENTITIES)) await write(store, await created(name));
    await write(store, remove(at("thrown"), 1));
    await write(store, {
      op: "publish",
      ark: at("model"),
      status: "PUBLISHED",
      embargoedUntil: null,
    });
    const { to } = await store.changedTexts("m", "", 99);
    await store.storeVectors("m", {
      after: "",
      to: to!,
      vectors: ["model", "ada"].map((name) => ({
        ark: at(name),
        digest: new Uint8Array(1),
        vector: Float32Array.of(1),
      })),
    });
    sequence = await store.sequence();
    await store.close();
    await here.asSchema10();
    store = await here.open();
  });
  afterAll(async () => {
    await store?.close();
    await here?.remove();
  });
  const record = async (name: string): Promise<StoredRecord> => {
    const [found] = await store.findMany([at(name)]);
    return found!;
  };
  const MOVED = Object.entries(ENTITIES).filter(
    ([name, [before, now]]) => before !== now && name !== "thrown",
  );

  test("gives records their kinds, and changes no document, revision or time", async () => {
    for (const [name, [, now]] of Object.entries(ENTITIES)) {
      const { kind, document, revision, tombstone } = await record(name);
      expect(kind, name).toBe(now);
      expect(decode(document)).toEqual(documentOf(name));
      expect(revision, name).toBe(["model", "thrown"].includes(name) ? 2 : 1);
      expect(tombstone !== null, name).toBe(name === "thrown");
      expect(await store.history(at(name), { limit: 9 })).toHaveLength(revision);
    }
  });

  test("states in the graph what a new upload would state", async () => {
    for (const [name, [, now]] of Object.entries(ENTITIES)) {
      if (name === "thrown") continue;
      expect(await store.quads(at(name)), name).toBe((await graphFor(name, now)).quads);
    }
  });

  test("lists, counts, finds and follows them by their kinds", async () => {
    const named = async (filter: RecordFilter) =>
      (await store.select({ filter, order: AS_CREATED, limit: 99 })).items.map(({ ark }) => ark);
    for (const [name, [, now]] of MOVED) {
      expect(await named({ kinds: [now] }), now).toEqual([at(name)]);
      expect(await store.countSelected({ filter: { kinds: [now] } })).toBe(1);
    }
    expect(await store.countSelected({ filter: { kinds: ["entity"] } })).toBe(3);
    expect(await store.countSelected({ filter: { kinds: ["computation"] } })).toBe(1);
    expect(await store.countSelected({ filter: {} })).toBe(Object.keys(ENTITIES).length - 1);
    expect(await named({ kinds: ["mlmodel"], keywords: ["cells"] })).toEqual([at("model")]);
    expect(
      await store.countSelected({ filter: { kinds: ["mlmodel"], keywords: ["outlines"] } }),
    ).toBe(1);
    expect(await named({ kinds: ["entity"], keywords: ["cells"] })).toEqual([]);
    const page = { offset: 0, limit: 9 };
    const search = async (kind: KindName, text: string) =>
      (await store.search({ text, filter: { kinds: [kind] }, match: "all", ...page })).hits.map(
        ({ ark }) => ark,
      );
    expect(await search("mlmodel", "outline")).toEqual([at("model")]);
    expect(await search("entity", "outline")).toEqual([]);
    const near = { model: "m", vector: Float32Array.of(1) };
    expect(
      await store.search({
        text: "",
        filter: { kinds: ["mlmodel"] },
        match: "related",
        near,
        ...page,
      }),
    ).toMatchObject({ total: 1 });
    const [using] = await store.linksTo([arkKey(at("plate"))], { kinds: ["experiment"], limit: 9 });
    expect(using!.items.map(({ predicate }) => predicate)).toContain("evi:usedSample");
    const [stale] = await store.linksTo([arkKey(at("plate"))], {
      kinds: ["computation"],
      limit: 9,
    });
    expect(stale!.items).toEqual([]);
    const [stated] = await store.linksFrom([at("bench")], { limit: 99 });
    expect(stated!.items.map(({ sourceKind }) => sourceKind)).toEqual(
      stated!.items.map(() => "experiment"),
    );
    expect(stated!.items.length).toBe((await graphFor("bench", "experiment")).links.length);
  });

  test("puts them into the change log once, and changes their ETags", async () => {
    expect(await store.sequence()).toBe(sequence + 1);
    const { changes } = await store.changes({ sequence: sequence + 1, record: 0 }, 99);
    expect(changes.map(({ ark, kind }) => [ark, kind]).sort()).toEqual(
      MOVED.map(([name, [, now]]) => [at(name), now]).sort(),
    );
    const { graphs } = await changedSince(store, sequence);
    for (const { ark, nquads } of graphs) expect(nquads).toBe(await store.quads(ark));
    expect(graphs).toHaveLength(MOVED.length);
    for (const [name] of MOVED)
      expect((await record(name)).newestBacklink, name).toBe(sequence + 1);
    expect((await record("ada")).newestBacklink).toBe(0);
  });

  test("accepts writes afterwards, and finds nothing to do a second time", async () => {
    await write(store, remove(at("plate"), 1));
    expect(await store.countSelected({ filter: { kinds: ["sample"] } })).toBe(0);
    const after = await store.sequence();
    await store.close();
    await here.asSchema10();
    store = await here.open();
    expect(await store.sequence()).toBe(after);
    expect(await store.countSelected({ filter: { kinds: ["mlmodel"] } })).toBe(1);
  });
}

describe("the first start on SQLite with kinds for models, samples and experiments", () => {
  upgrades(async () => {
    const folder = mkdtempSync(join(tmpdir(), "arkgraph-kinds-"));
    const file = join(folder, "records.db");
    return {
      open: () => openSqliteRecordStore({ file }),
      asSchema10: () => {
        const connection = new Connection(file);
        connection.pragma("user_version = 10");
        connection.close();
        return Promise.resolve();
      },
      remove: () => Promise.resolve(rmSync(folder, { recursive: true })),
    };
  });
});

describe.skipIf(!hasPostgres)(
  "the first start on PostgreSQL with kinds for models, samples and experiments",
  () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await PostgresServer.start(["fsync=off"]);
    });
    afterAll(() => server?.stop());

    upgrades(async () => {
      const url = await server.schema();
      const options = { url, pool: 4, timeout: 20_000, connectTimeout: 5_000, poll: 100 };
      return {
        open: () => openPostgresRecordStore(options),
        asSchema10: async () => {
          await server.sql(
            "UPDATE arkgraph_schema SET version = 10; UPDATE schema_needs SET version = 10",
            url,
          );
        },
        remove: () => Promise.resolve(),
      };
    });
  },
);
