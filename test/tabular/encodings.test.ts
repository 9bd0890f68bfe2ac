import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readPreview } from "../../src/services/previews/read-preview.js";
import type { TablePreview } from "../../src/services/previews/types.js";
import { inferTable } from "../../src/tabular/infer.js";
import { TabularError } from "../../src/tabular/limits.js";
import { readSchema, type TableSchema } from "../../src/tabular/schema/table-schema.js";
import { check, parts, schemaWith } from "./tables.js";

/** What a check, an inference and a preview say of a table; `undefined` for nothing wrong. */
async function sayings(
  bytes: Uint8Array,
  schema: TableSchema,
): Promise<Record<"check" | "infer" | "preview", string | undefined>> {
  const said = async (work: () => Promise<unknown>): Promise<string | undefined> => {
    try {
      await work();
      return undefined;
    } catch (error) {
      if (!(error instanceof TabularError)) throw error;
      return error.message;
    }
  };
  const { header, dialect } = schema;
  const shown = (await readPreview({
    bytes,
    size: bytes.length,
    name: "t.csv",
    mediaType: "text/csv",
    schema: { ark: "ark:99999/schema", document: schema.document },
    limits: { text: 1 << 20, rows: 100, columns: 100, whole: 1 << 20 },
  })) as Partial<TablePreview>;
  return {
    check: await said(() => check(bytes, schema)),
    infer: await said(() => inferTable(parts(bytes, 7), { table: { header, ...dialect } })),
    preview: shown.problem ?? (shown.form === "table" ? undefined : "no table"),
  };
}

const LATIN = (text: string): Buffer => Buffer.from(text, "latin1");
const table = (header: boolean, separator = ","): TableSchema =>
  schemaWith(
    {
      id: { index: 0, type: "string", description: "" },
      place: { index: 1, type: "string", description: "" },
    },
    { header, seperator: separator },
  );

describe("bytes that are not UTF-8", () => {
  it.each([
    [
      "in a cell",
      "row 1 (line 3), column 1 (place): byte 0xDF",
      LATIN("id,place\n1,x\n2,Straße\n"),
    ],
    ["in a header", "the header (line 1), column 1: byte 0xFC", LATIN("id,Stück\n1,x\n")],
    [
      "in a column that the schema does not describe",
      "row 0 (line 2), column 2 (note): byte 0xE9",
      LATIN("id,place,note\n1,x,José\n"),
    ],
    [
      "that are half a character at the end",
      "row 1 (line 3), column 1 (place): byte 0xC3",
      Buffer.from("id,place\n1,x\n2,Köln").subarray(0, -3),
    ],
    [
      "in a quoted cell of several lines",
      "row 1 (line 3), column 1 (place): byte 0xA0",
      LATIN('id,place\n1,x\n2,"a\nb\u00a0c"\n3,y\n'),
    ],
    [
      "behind a byte order mark of UTF-8",
      "row 0 (line 2), column 0 (id): byte 0xE4",
      Buffer.concat([Buffer.from("\ufeffid,place\n"), LATIN("ä,1\n")]),
    ],
  ])("do not conform %s: the place is named by each reader", async (_, place, bytes) => {
    const found = await sayings(bytes, table(true));
    for (const said of Object.values(found)) expect(said).toContain(place);
    expect(found.check).toMatch(/is not UTF-8: if it is Latin-1.*, give --encoding latin1$/);
    // There is no such option in a service.
    expect(found.preview).toMatch(/convert the file to UTF-8, e\.g\. iconv -f LATIN1 -t UTF-8\.$/);
  });

  it("are found with a separator of several characters too", async () => {
    const bytes = LATIN("id||place\n1||x\n2||Straße\n3||y\n");
    await expect(check(bytes, table(true, "||"), { part: 5 })).rejects.toThrow(
      "row 1 (line 3), column 1 (place): byte 0xDF is not UTF-8",
    );
    await expect(
      check("id||place\n1||\ufffd\n2||Straße\n", table(true, "||")),
    ).resolves.toBeDefined();
  });

  it("are not suspected where a character is split between two parts of the source", async () => {
    const text = "id,place\n1,Straße €\n2,𝄞\n";
    for (let part = 1; part < 9; part++)
      expect((await check(text, table(true), { part })).errors).toEqual([]);
  });

  it("make a problem of a preview without a schema", async () => {
    const bytes = LATIN("id,place\n1,Köln\n");
    expect(
      await readPreview({
        bytes,
        size: bytes.length,
        name: "t.csv",
        mediaType: "",
        schema: null,
        limits: { text: 1 << 20, rows: 100, columns: 100, whole: 1 << 20 },
      }),
    ).toMatchObject({
      columns: ["id", "place"],
      // Shown in the encoding that it probably has.
      rows: [["1", "Köln"]],
      problem: expect.stringContaining("row 0 (line 2), column 1 (place): byte 0xF6") as string,
    });
  });
});

describe("a stated encoding", () => {
  it("must be that of all bytes", async () => {
    const bytes = Buffer.concat([
      Buffer.from("id,place\n1,"),
      Buffer.from([0x93, 0x8c, 0x0a]),
      Buffer.from("2,"),
      Buffer.from([0x93, 0xff, 0x0a]),
    ]);
    await expect(check(bytes, table(true), { encoding: "shift_jis" })).rejects.toThrow(
      "row 1 (line 3), column 1 (place): it is not shift_jis: give the encoding that the text has",
    );
    expect(
      (await check(bytes.subarray(0, 14), table(true), { encoding: "shift_jis" })).errors,
    ).toEqual([]);
  });

  it("leaves a replacement character that the text itself holds", async () => {
    const bytes = Buffer.from("id,place\n1,\ufffd\n", "utf16le");
    expect((await check(bytes, table(true), { encoding: "utf-16le" })).errors).toEqual([]);
    await expect(
      check(bytes.subarray(0, -1), table(true), { encoding: "utf-16le" }),
    ).rejects.toThrow("it is not utf-16le");
  });

  it("does not make a mark of UTF-8 part of the first name", async () => {
    const bytes = Buffer.concat([Buffer.from("\ufeff"), LATIN("id,place\n1,Köln\n")]);
    const { properties } = await inferTable(parts(bytes), { encoding: "windows-1252" });
    expect(Object.keys(properties)).toEqual(["id", "place"]);
  });
});

describe("any bytes", () => {
  const piece = fc.oneof(
    fc.constantFrom("a", "1", ",", "\n", "\r\n", '"', ";", " ").map((text) => Buffer.from(text)),
    fc.string({ unit: "binary", maxLength: 2 }).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 2 }).map((bytes) => Buffer.from(bytes)),
  );
  it("conform to a column of text for a check, an inference and a preview, or for none", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { minLength: 1, maxLength: 40 }).map((all) => Buffer.concat(all)),
        fc.boolean(),
        async (bytes, header) => {
          const {
            check: checked,
            infer,
            preview,
          } = await sayings(bytes, readSchema({ properties: {}, separator: ",", header }));
          // What has no column at all cannot be described, and conforms.
          if (infer !== "it is empty: there is no column to describe") expect(infer).toBe(checked);
          // A preview takes bytes with many control characters for no text at all.
          if (preview !== "no table") expect(preview !== undefined).toBe(checked !== undefined);
          if (checked === undefined)
            expect(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes)).not.toThrow();
        },
      ),
      { numRuns: 300 },
    );
  });
});
