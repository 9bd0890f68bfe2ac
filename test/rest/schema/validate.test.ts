import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SchemaResolver } from "../../../src/graphql/resolvers/validation-resolver.js";
import { contextOf } from "../../../src/graphql/resolvers/context.js";
import type { TableCheckAnswer } from "../../../src/services/schemas/check-table.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";
import { arkFrom } from "../../support/arks.js";
import { check, schemaWith } from "../../tabular/tables.js";

const EXAMPLE = "ark:99999/schema-example";
const ROWS =
  "APMS_1,RRS1,1.5,2\nAPMS_2,x y,1,2\nB,RRS1,1,2\nAPMS_4,RRS1,,2\nAPMS_5,RRS1,text,1,2\n";
let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer({
    TABLE_MAX_ERRORS: "20",
    MAX_TABLE_BYTES: "4M",
    TABLE_MAX_TEXT: "8M",
    TABLE_MAX_CELL: "64K",
    TABLE_CONCURRENCY: "2",
    TABLE_TIMEOUT: "20s",
  });
  ada = await server.person("ada");
  const make = (id: string, schema: object) =>
    server.request("POST", "/schema", {
      token: ada.token,
      json: {
        "@id": id,
        name: "A table",
        description: "For a test",
        owner: ada.id,
        header: false,
        seperator: ",",
        ...schema,
      },
    });
  const text = (index: number, more: object = {}) => ({
    description: "d",
    index,
    type: "string",
    ...more,
  });
  for (const { status, text: answered } of await Promise.all([
    make(EXAMPLE, {
      properties: {
        id: text(0, { pattern: "^APMS_[0-9]*$" }),
        symbol: text(1, { pattern: "^[A-Z0-9]*$" }),
        embed: { description: "d", index: "2::", type: "array", items: { type: "number" } },
      },
    }),
    make("ark:99999/schema-tabs", {
      seperator: "\\t",
      header: true,
      properties: { n: { description: "d", index: 1, type: "integer", minimum: 2 } },
    }),
    make("ark:99999/schema-bare", { seperator: undefined, properties: { a: text(0) } }),
    make("ark:99999/schema-ahead", { properties: { a: text(0, { pattern: "^(?=x)" }) } }),
    make("ark:99999/schema-free", { properties: {} }),
    make("ark:99999/schema-slow", { properties: { a: text(0, { pattern: "^(a+)+$" }) } }),
  ]))
    if (status !== 200) throw new Error(answered);
});
afterAll(() => server.stop());

function validate(
  table: string | Uint8Array<ArrayBuffer>,
  schema = EXAMPLE,
): ReturnType<
  typeof server.request<
    TableCheckAnswer & { code?: string; detail?: { loc: string[]; msg: string }[] }
  >
> {
  const form = new FormData();
  form.set("file", new Blob([table]), "table.csv");
  return server.request("POST", `/schema/${schema}/validate`, { body: form });
}

describe("POST /schema/ark:…/validate", () => {
  it(
    "returns the contract's table, without a token: parsing errors by row, then " +
      "validation errors by row",
    async () => {
      const { status, body } = await validate(ROWS);
      expect(status).toBe(200);
      expect(body).toEqual({
        conforms: false,
        truncated: false,
        errors: [
          {
            row: 3,
            error_type: "ParsingError",
            failed_keyword: null,
            message: "ValueError: Failed to Parse Attribute embed for Row 3",
          },
          {
            row: 4,
            error_type: "ParsingError",
            failed_keyword: null,
            message: "ValueError: Failed to Parse Attribute embed for Row 4",
          },
          {
            row: 1,
            error_type: "ValidationError",
            failed_keyword: "pattern",
            message: "'x y' does not match '^[A-Z0-9]*$'",
          },
          {
            row: 2,
            error_type: "ValidationError",
            failed_keyword: "pattern",
            message: "'B' does not match '^APMS_[0-9]*$'",
          },
        ],
      });
    },
  );

  it("reads separator and header from the schema, gzip as well, and an empty table", async () => {
    const conforming = { conforms: true, errors: [], truncated: false };
    expect((await validate("a\tb\nx\t2\n", "ark:99999/schema-tabs")).body).toEqual(conforming);
    expect(
      (await validate(new Uint8Array(gzipSync("a\tb\nx\t1\n")), "ark:99999/schema-tabs")).body
        .errors,
    ).toEqual([
      {
        row: 0,
        error_type: "ValidationError",
        failed_keyword: "minimum",
        message: "1 is less than the minimum of 2",
      },
    ]);
    expect((await validate("")).body).toEqual(conforming);
    expect((await validate("a\tb\n", "ark:99999/schema-tabs")).body).toEqual(conforming);
  });

  it("ends with the last error within the limit", async () => {
    const { body } = await validate("B,RRS1,1\n".repeat(21));
    expect([body.errors.length, body.truncated]).toEqual([20, true]);
    const exact = await validate("B,RRS1,1\n".repeat(20));
    expect([exact.body.errors.length, exact.body.truncated]).toEqual([20, false]);
  });

  it("runs patterns in time that grows linearly with the text", async () => {
    // An engine that goes back would be at it until TABLE_TIMEOUT.
    expect(
      (await validate(`${"a".repeat(30_000)}!\n`, "ark:99999/schema-slow")).body.errors,
    ).toMatchObject([{ failed_keyword: "pattern" }]);
  });

  it.each([
    [
      "a schema without separator",
      "a\n",
      "ark:99999/schema-bare",
      "ark:99999/schema-bare cannot be applied to a table: the schema gives no separator, " +
        "so no table can be checked against it.",
    ],
    [
      "a pattern that looks ahead",
      "a\n",
      "ark:99999/schema-ahead",
      /^ark:99999\/schema-ahead cannot be applied to a table: property a: its pattern \^\(\?=x\) uses syntax that the linear-time engine does not support/,
    ],
  ])("refuses %s with 409", async (_what, table, schema, message) => {
    const { status, body } = await validate(table, schema);
    expect([status, body.code]).toEqual([409, "SCHEMA_UNUSABLE"]);
    expect(body.detail).toEqual(
      typeof message === "string" ? message : expect.stringMatching(message),
    );
  });

  it.each([
    ["binary", new Uint8Array([0x89, 0x50, 0, 0, 1, 2, 3]), /it is binary, not a text table/],
    ["UTF-16", new Uint8Array([0xff, 0xfe, 0x41, 0]), /it is UTF-16 text/],
    [
      "Latin-1",
      new Uint8Array(Buffer.from("a,b\n1,Straße\n", "latin1")),
      /: row 1 \(line 2\), column 1: byte 0xDF is not UTF-8: .+ convert the file to UTF-8/,
    ],
    ["cut inside a character", new Uint8Array([0x61, 0x2c, 0xc3]), /column 1: byte 0xC3 is not/],
    [
      "a quoted cell that never closes",
      'a,"b\n',
      /a quoted cell in row 0 \(line 1\) is never closed/,
    ],
    [
      "a cell that is too long",
      `${"x".repeat(70_000)}\n`,
      /column 0 of row 0 \(line 1\) is longer than 64 KiB: raise --max-cell of arkgraph schema validate/,
    ],
    [
      "little that unpacks to much",
      new Uint8Array(gzipSync(Buffer.alloc(9 << 20, "B,RRS1\n"))),
      /its text is longer than 8 MiB \(TABLE_MAX_TEXT\)/,
    ],
  ])("refuses data that are %s with 422 at the file", async (_what, table, message) => {
    const { status, body } = await validate(table, "ark:99999/schema-free");
    expect(status).toBe(422);
    expect(body.detail).toEqual([
      { loc: ["body", "file"], type: "value_error", msg: expect.stringMatching(message) },
    ]);
  });

  it("agrees with a check at the command line, whatever the bytes are", async () => {
    const piece = fc.oneof(
      fc.constantFrom("a", "1", ",", "\n", '"', "é").map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 2 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { minLength: 1, maxLength: 30 }).map((all) => Buffer.concat(all)),
        async (bytes) => {
          const said = await check(bytes, schemaWith({})).then(
            () => undefined,
            (error: Error) => error.message,
          );
          const { status, body } = await validate(Uint8Array.from(bytes), "ark:99999/schema-free");
          if (said === undefined) expect([status, body.conforms]).toEqual([200, true]);
          else
            expect([status, body.detail![0]!.msg.split(": if it is Latin-1")[0]]).toEqual([
              422,
              `Value error, the table cannot be checked: ${said}`.split(": if it is Latin-1")[0],
            ]);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("refuses a table that is too large, and a schema that is unknown or of another kind", async () => {
    const large = await validate(`APMS_1,RRS1,1\n`.repeat(400_000));
    expect([large.status, large.body.code]).toEqual([413, "TOO_LARGE"]);
    expect(String(large.body.detail)).toContain("MAX_TABLE_BYTES");
    expect((await validate("a", "ark:99999/none")).status).toBe(404);
    expect((await validate("a", ada.id)).status).toBe(404);
    expect(
      (await server.request("POST", `/schema/${EXAMPLE}/validate`, { body: new FormData() }))
        .status,
    ).toBe(422);
    expect((await server.request("POST", `/schema/${EXAMPLE}/validate`, { json: {} })).status).toBe(
      415,
    );
  });

  it("ends when its client disconnects, so that queued ones can start", async () => {
    const sockets = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const socket = connect(Number(new URL(server.url).port), "127.0.0.1").on(
          "error",
          () => undefined,
        );
        await once(socket, "connect");
        socket.write(
          `POST /schema/${EXAMPLE}/validate HTTP/1.1\r\nHost: x\r\nContent-Type: ` +
            `multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n--b\r\n` +
            `Content-Disposition: form-data; name="file"; filename="t.csv"\r\n\r\n${ROWS}`,
        );
        return socket;
      }),
    );
    await sleep(200);
    for (const socket of sockets) socket.destroy();
    expect((await validate(ROWS)).status).toBe(200);
    expect(server.faults).toEqual([]);
  });

  const overGraphql = async (table: string | Uint8Array<ArrayBuffer>) => {
    const form = new FormData();
    form.set(
      "operations",
      JSON.stringify({
        query:
          'mutation ($file: Upload!) { validateTable(input: { schema: "ark:99999/schema-example", ' +
          "file: $file }) { conforms truncated errors { row errorType failedKeyword message } " +
          "} }",
        variables: { file: null },
      }),
    );
    form.set("map", JSON.stringify({ 0: ["variables.file"] }));
    form.set("0", new Blob([table]), "table.csv");
    const { body } = await server.request<{
      data: { validateTable: object } | null;
      errors?: { extensions: { code: string; detail: { msg: string }[] } }[];
    }>("POST", "/graphql", {
      token: ada.token,
      headers: { "apollo-require-preflight": "true" },
      body: form,
    });
    return body;
  };

  it("returns the same as GraphQL", async () => {
    expect((await overGraphql(ROWS)).data!.validateTable).toMatchObject({
      conforms: false,
      truncated: false,
      errors: { length: 4, 0: { row: 3, errorType: "PARSING_ERROR", failedKeyword: null } },
    });
    const latin = new Uint8Array(Buffer.from("APMS_1,Straße,1\n", "latin1"));
    const { detail } = (await validate(latin)).body;
    expect((await overGraphql(latin)).errors![0]!.extensions.detail).toMatchObject([
      { msg: detail![0]!.msg },
    ]);
    expect(detail![0]!.msg).toContain("row 0 (line 1), column 1 (symbol): byte 0xDF is not UTF-8");
  });

  it("ends at its time limit", async () => {
    const { deps } = server;
    const hurried = { ...deps, config: { ...deps.config, TABLE_TIMEOUT: 300 } };
    const { PassThrough } = await import("node:stream");
    const stream = new PassThrough();
    stream.write(ROWS);
    await expect(
      new SchemaResolver().check(
        arkFrom(EXAMPLE),
        { stream, name: "t.csv", mediaType: "text/csv" },
        contextOf(hurried, null, ""),
      ),
    ).rejects.toMatchObject({ code: "QUERY_TIMEOUT", status: 503 });
  });
});
