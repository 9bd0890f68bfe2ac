import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asStoreError, StatementError } from "../../../src/storage/records/postgres/statement.js";
import { fill, move, recordsTransferConformance } from "../../conformance/records-transfer.js";
import { hasPostgres, PostgresServer } from "../../support/servers/postgres.js";
import { databasePlace, filePlace } from "../../support/transfer-places.js";

recordsTransferConformance("a file into a file", filePlace, filePlace);

describe("a record store in a file", () => {
  test("is not changed by being read, and is refused while another process has it open", async () => {
    const [from, to] = [await filePlace(), await filePlace()];
    await fill(from);
    const digest = async () =>
      createHash("sha256")
        .update(await readFile(from.file))
        .digest("hex");
    const before = await digest();
    await move(from, to);
    expect(await digest()).toBe(before);
    const store = await from.store();
    await expect(from.transfer({ make: false })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("is in use") as string,
    });
    await store.close();
    await from.destroy();
    await to.destroy();
  });

  test("is validated before it is read", async () => {
    const place = await filePlace();
    await expect(place.transfer({ make: false })).rejects.toThrow(/is not there/);
    await writeFile(
      place.file,
      "no database, but long enough to be looked at as one by whoever reads a header",
    );
    await expect(place.transfer({ make: false })).rejects.toThrow(/is not a database/);
    await place.destroy();
  });
});

describe.skipIf(!hasPostgres)("with a PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start(["fsync=off", "full_page_writes=off"]);
  });
  afterAll(() => server?.stop());
  const database = () => databasePlace(server);

  recordsTransferConformance("a file into PostgreSQL", filePlace, database);
  recordsTransferConformance("PostgreSQL into a file", database, filePlace);

  test("a database without a registry is reported, and not changed", async () => {
    const place = await database();
    await expect(place.transfer({ make: false })).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("holds no registry") as string,
    });
    expect(
      await server.sql(
        "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema()",
        place.url,
      ),
    ).toBe("0");
  });

  test(
    "damage in a database is reported with its record, and a damaged page of it is " +
      "STORE_DAMAGED",
    async () => {
      const place = await database();
      await fill(place);
      const found = async () => {
        const transfer = await place.transfer({ make: false });
        const all = [];
        for await (const damage of transfer.damage()) all.push(damage);
        await transfer.close();
        return all;
      };
      expect(await found()).toEqual([]);
      const [ark, state] = (
        await server.sql("SELECT ark || ' ' || state FROM record ORDER BY id LIMIT 1", place.url)
      ).split(" ") as [string, string];
      await server.sql(
        `UPDATE state SET document = 'no JSON', quads = quads WHERE id = ${state}`,
        place.url,
      );
      expect(await found()).toEqual([
        {
          where: expect.stringContaining(`record ${ark}, revision `) as string,
          what: "the document is not JSON",
        },
      ]);
      // As the server reports a page whose checksum is wrong, or an index that does not fit its
      // table.
      for (const code of ["XX001", "XX002"])
        expect(
          asStoreError(
            new StatementError(code, "invalid page in block 3 of relation base/5/16384"),
          ),
        ).toMatchObject({ code: "STORE_DAMAGED", status: 503 });
      expect(asStoreError(new StatementError("XX000", "cache lookup failed"))).toMatchObject({
        code: "STORE_UNAVAILABLE",
      });
    },
  );

  test("remains of a refused commit are not moved", async () => {
    const [from, to] = [await database(), await filePlace()];
    await fill(from);
    await server.sql("INSERT INTO state (id, document, quads) VALUES (999999, 'x', 'y')", from.url);
    await move(from, to);
    const transfer = await to.transfer({ make: false });
    const states: unknown[] = [];
    for await (const chunk of transfer.export())
      if ("table" in chunk && chunk.table === "state") states.push(...chunk.rows.map(([id]) => id));
    expect(states).not.toEqual([]);
    expect(states).not.toContain(999999);
    await transfer.close();
    await to.destroy();
  });
});
