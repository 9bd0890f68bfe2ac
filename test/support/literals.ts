import fc from "fast-check";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const escape = (text: string): string =>
  text.replace(/[\\"\n\r]/g, (c) => ({ "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r" })[c]!);
/**
 * Well-formed text of any plane, including controls and characters that RDF must escape; NUL cannot
 * be in a document.
 */
const words = fc
  .oneof(
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.constantFrom('"', "\\", "\t\b\f", "é\u0301", "\u{1F9EC}", "\u007f\ufffe"),
  )
  .filter((text) => text.isWellFormed() && !text.includes("\0"));
const typed = (type: string, values: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  values.map((value) => `"${escape(value)}"^^<${XSD}${type}>`);
/** Any literal a record may hold, as N-Quads. */
export const anyLiteral = fc.oneof(
  words.map((text) => `"${escape(text)}"`),
  fc
    .tuple(words, fc.constantFrom("en", "EN-us", "de-CH-1996", "x-Klingon"))
    .map(([text, tag]) => `"${escape(text)}"@${tag}`),
  typed("integer", fc.oneof(fc.bigInt().map(String), fc.constantFrom("007", "+5", "-0", "none"))),
  typed("decimal", fc.constantFrom("1.50", "01.0", ".5", "-0.0", "1e3")),
  typed(
    "double",
    fc.oneof(fc.double().map(String), fc.constantFrom("1e0", "INF", "NaN", "-0.0E0")),
  ),
  typed("boolean", fc.constantFrom("1", "true", "TRUE", "0")),
  typed(
    "dateTime",
    fc.constantFrom(
      "2020-01-01T00:00:00+00:00",
      "2020-01-01T24:00:00",
      "2020-02-30T00:00:00Z",
      "-0001-01-01T00:00:00.100Z",
    ),
  ),
  typed("date", fc.constantFrom("2020-01-01", "2020-01-01+14:00", "20200101")),
  typed("duration", fc.constantFrom("P1Y12M", "PT60S", "P")),
  typed("string", words),
);
