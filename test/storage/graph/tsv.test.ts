import { Store } from "oxigraph";
import { describe, expect, it } from "vitest";
import { eachCell, iriIn, rowsIn, textIn, tsvRows } from "../../../src/storage/graph/port.js";

/** What the engine itself writes. */
function answer(turtle: string, query: string): string {
  const store = new Store();
  store.load(turtle, { format: "text/turtle" });
  return store.query(query, { results_format: "tsv" }) as string;
}

describe("results in TSV", () => {
  it("return every text as it was stored", () => {
    const texts = [
      "plain",
      "",
      "tab\tand line\nand return\r",
      'say "so"',
      "back\\slash \\n",
      "\u0007\u2028 é 😀",
      "<no:iri>",
      "5",
    ];
    const tsv = answer(
      texts.map((text, i) => `<a:${i}> <a:says> ${JSON.stringify(text)} .`).join("\n"),
      "SELECT ?s ?o { ?s ?p ?o } ORDER BY ?s",
    );
    expect([...tsvRows(tsv)].map(([, cell]) => textIn(cell!))).toEqual(texts);
  });

  it("return literals without language or datatype, and distinguish IRIs from them", () => {
    const tsv = answer(
      '<a:0> <a:says> "lang"@en . <a:1> <a:says> "typed"^^<a:type> . <a:2> <a:says> 7 . ' +
        "<a:3> <a:says> true . <a:4> <a:says> <a:other> .",
      "SELECT ?s ?o ?never { ?s ?p ?o } ORDER BY ?s",
    );
    const rows = [...tsvRows(tsv)];
    expect(rows.map(([, cell]) => textIn(cell!))).toEqual([
      "lang",
      "typed",
      "7",
      "true",
      "a:other",
    ]);
    expect(rows.map(([, cell]) => iriIn(cell))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      "a:other",
    ]);
    expect(rows[0]![2]).toBe("");
  });

  it("show which arm of a UNION a row is from", () => {
    const tsv = answer(
      '<a:s> <a:first> "1" ; <a:second> <a:2> ; <a:third> "3" .',
      "SELECT ?s ?g ?a ?b ?c { VALUES (?s ?g) { (<a:s> <a:g>) } { ?s <a:first> ?a } UNION { " +
        "?s <a:second> ?b } UNION { ?s <a:third> ?c } }",
    );
    const seen: unknown[] = [];
    eachCell(tsv, 2, (...row) => seen.push(row));
    expect(seen).toHaveLength(3);
    expect(seen).toEqual(
      expect.arrayContaining([
        ["<a:s>", "<a:g>", 0, '"1"'],
        ["<a:s>", "<a:g>", 1, "<a:2>"],
        ["<a:s>", "<a:g>", 2, '"3"'],
      ]),
    );
  });

  it("show every bound cell of a row", () => {
    const tsv = answer(
      '<a:s> <a:first> "1" ; <a:third> "3\\t" .',
      "SELECT ?s ?a ?b ?c { ?s <a:first> ?a OPTIONAL { ?s <a:second> ?b } OPTIONAL { ?s " +
        "<a:third> ?c } }",
    );
    const seen: unknown[] = [];
    eachCell(tsv, 1, (...row) => seen.push(row));
    expect(seen).toEqual([
      ["<a:s>", "", 0, '"1"'],
      ["<a:s>", "", 2, String.raw`"3\t"`],
    ]);
    expect(rowsIn(tsv)).toBe(1);
  });

  it("have no rows when nothing was found", () => {
    const tsv = answer("", "SELECT ?s { ?s ?p ?o }");
    expect([...tsvRows(tsv)]).toEqual([]);
    eachCell(tsv, 1, () => expect.unreachable());
  });
});
