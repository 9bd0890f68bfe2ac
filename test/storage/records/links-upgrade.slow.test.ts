import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { arkKey } from "../../../src/identifiers/ark.js";
import type { RecordStore } from "../../../src/storage/records/port.js";
import { openPostgresRecordStore } from "../../../src/storage/records/postgres/index.js";
import { openSqliteRecordStore } from "../../../src/storage/records/sqlite/index.js";
import { Connection } from "../../../src/storage/records/sqlite/statement.js";
import { create, linkTo, write } from "../../conformance/records/fixtures.js";
import { hasPostgres, PostgresServer } from "../../support/servers/postgres.js";

const INPUT = "https://bioschemas.org/input";
const FORMER = "https://bioschemas.org/properties/input";
const TARGET = "ark:99999/parameter";

/** One database, and how its schema becomes the one before links had one spelling. */
interface Place {
  open(): Promise<RecordStore>;
  asSchema12(): Promise<void>;
  remove(): Promise<void>;
}

function upgrades(place: () => Promise<Place>): void {
  let here: Place;
  let store: RecordStore;
  beforeAll(async () => {
    here = await place();
    store = await here.open();
    // Quads are read in the spelling of now, whenever they were stored: only links differ.
    const stating = (name: string, predicate: string) =>
      create(`ark:99999/${name}`, {}, { links: [linkTo(TARGET, predicate)] });
    await write(
      store,
      stating("old", FORMER),
      stating("new", INPUT),
      stating("other", "schema:about"),
    );
    await store.close();
    await here.asSchema12();
    store = await here.open();
  });
  afterAll(async () => {
    await store?.close();
    await here?.remove();
  });
  const sources = async (...predicates: string[]) =>
    (await store.linksTo([arkKey(TARGET)], { predicates, limit: 9 }))[0]!.items.map(
      ({ source }) => source,
    );

  test("links of old and new records are found by the predicate that the graph has", async () => {
    expect((await sources(INPUT)).sort()).toEqual(["ark:99999/new", "ark:99999/old"]);
    expect(await sources(FORMER)).toEqual([]);
    expect(await sources("schema:about")).toEqual(["ark:99999/other"]);
    const [stated] = await store.linksFrom(["ark:99999/old"], { limit: 9 });
    expect(stated!.items.map(({ predicate }) => predicate)).toEqual([INPUT]);
  });

  test("links that are written afterwards stand beside them", async () => {
    await write(store, create("ark:99999/later", {}, { links: [linkTo(TARGET, INPUT)] }));
    expect(await sources(INPUT)).toHaveLength(3);
  });
}

describe("the first start on SQLite with one spelling of links", () => {
  upgrades(async () => {
    const folder = mkdtempSync(join(tmpdir(), "arkgraph-links-"));
    const file = join(folder, "records.db");
    return {
      open: () => openSqliteRecordStore({ file }),
      asSchema12: async () => {
        const connection = new Connection(file);
        connection.pragma("user_version = 12");
        connection.close();
      },
      remove: async () => rmSync(folder, { recursive: true }),
    };
  });
});

describe.skipIf(!hasPostgres)("the first start on PostgreSQL with one spelling of links", () => {
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
      asSchema12: async () => {
        await server.sql(
          "UPDATE arkgraph_schema SET version = 12; UPDATE schema_needs SET version = 12",
          url,
        );
      },
      remove: () => Promise.resolve(),
    };
  });
});
