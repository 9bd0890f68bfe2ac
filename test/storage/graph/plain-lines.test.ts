import fc from "fast-check";
import { Store } from "oxigraph";
import { describe, expect, it } from "vitest";
import { arePlain } from "../../../src/storage/graph/oxigraph/graph-store.js";
import { create } from "../../conformance/records/fixtures.js";

/** What an engine makes of the lines, or that it refuses them. */
function loaded(text: string, lenient: boolean): string {
  const store = new Store();
  try {
    store.load(text, { format: "application/n-quads", lenient });
    return store.dump({ format: "application/n-quads" }).split("\n").toSorted().join("\n");
  } catch {
    return "refused";
  } finally {
    (store as unknown as { free(): void }).free();
  }
}

const PIECES = [
  "<",
  ">",
  "http://",
  "https://",
  "ark:",
  "ark://",
  "99999/a-b",
  "example.org",
  "/",
  "?",
  "#",
  ":",
  "%",
  "%2",
  "%2F",
  "[",
  "]",
  "@",
  "\\u0041",
  "\\ud800",
  '"',
  "^^",
  "en",
  "-",
  "_:b",
  " ",
  ".",
  "\n",
  "é",
  "\u{10ffff}",
  "\ud800",
  "//",
  "a:b:c",
  "port:80x",
];
const LINE =
  '<ark:99999/a> <https://schema.org/name> "A table" <ark:99999/a> .\n<ark:99999/a> ' +
  "<https://schema.org/url> <https://example.org/x#y> <ark:99999/a#inferred> .\n";

describe("lines that an engine need not validate", () => {
  it("are those of nearly every record", () => {
    expect(arePlain((create("ark:99999/a-b.csv") as { quads: string }).quads)).toBe(true);
  });

  it.each([
    "<relative>",
    "<http://example.org>",
    "<http://a b/>",
    "<http://example.org:80x/>",
    "<http://user@example.org/>",
    "<ark://a:b/c>",
    "<urn:x>",
    "<http://e.org/%zz>",
    "<http://e.org/#a#b>",
    "<http://[::1]/>",
    "<http://e.org/é>",
    "<>",
    "_:b",
    '"a"@en',
    '"a"@e-',
    '"\\u0041"',
    '"\\x"',
    '"a\nb"',
    '"a" "b"',
    "'a'",
  ])("are not those with %s", (term) => {
    expect(arePlain(`<ark:99999/a> <https://schema.org/url> ${term} <ark:99999/a> .\n`)).toBe(
      false,
    );
  });

  it.each([
    '"a"',
    '""',
    '"<b> \\"a\\" \\\\ é"',
    '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
    "<https://example.org/a_b/c.d?x=1&y=(2)#z>",
    "<ark:99999/a-b.csv>",
  ])("are those with %s", (term) => {
    const line = `<ark:99999/a> <https://schema.org/url> ${term} <ark:99999/a#inferred> .\n`;
    expect(arePlain(line)).toBe(true);
    expect(loaded(line, true)).toBe(loaded(line, false));
    expect(loaded(line, true)).not.toBe("refused");
  });

  it("are not those of a text so long that validation could fail", () => {
    const line = (literal: string) =>
      `<ark:99999/a> <https://schema.org/text> "${literal}" <ark:99999/a> .\n`;
    expect(arePlain(line("\\n".repeat(40_000)))).toBe(true);
    expect(arePlain(line("\\n".repeat(10_000_000)))).toBe(false);
  });

  it("are loaded alike with and without validation of their terms", () => {
    const changed = fc
      .array(
        fc.record({
          at: fc.nat(LINE.length),
          remove: fc.nat(3),
          chunk: fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: "binary", maxLength: 3 })),
        }),
        { minLength: 1, maxLength: 4 },
      )
      .map((changes) =>
        changes.reduce(
          (text, { at, remove, chunk }) => text.slice(0, at) + chunk + text.slice(at + remove),
          LINE,
        ),
      );
    let plain = 0;
    fc.assert(
      fc.property(changed, (text) => {
        if (!arePlain(text)) return;
        plain++;
        expect(loaded(text, true)).toBe(loaded(text, false));
      }),
      { numRuns: 20_000 },
    );
    expect(plain).toBeGreaterThan(100);
  });
});
