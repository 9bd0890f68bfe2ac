import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer, type TestServer } from "../../support/server.js";
import { ask } from "../../support/sparql.js";
import { dice } from "../../support/dice.js";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** The same values in an order that depends on the seed only. */
function shuffled(values: readonly string[], seed: number): string[] {
  const { roll } = dice(seed);
  const left = [...values];
  return values.map(() => left.splice(roll(left.length), 1)[0]!);
}

async function ordered(values: readonly string[], condition = "?v", seed = 1): Promise<string[]> {
  const query =
    "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> SELECT ?v { VALUES ?v { " +
    `${shuffled(values, seed).join(" ")} } } ORDER BY ${condition}`;
  const { status, text } = await ask(server, query, { Accept: "text/tab-separated-values" });
  expect(status, text).toBe(200);
  return text.trimEnd().split("\n").slice(1);
}

const NUMBERS = Array.from({ length: 30 }, (_, i) => String(i));
const STRINGS = Array.from({ length: 30 }, (_, i) => `"${i}"`);
const moment = (text: string, type = "dateTime") =>
  `"${text}"^^<http://www.w3.org/2001/XMLSchema#${type}>`;

describe("ORDER BY", () => {
  it("sorts numbers apart from strings, each by its own order, in both directions", async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const rising = [...NUMBERS, ...STRINGS.toSorted()];
      expect(await ordered([...NUMBERS, ...STRINGS], "?v", seed)).toEqual(rising);
      expect(await ordered([...NUMBERS, ...STRINGS], "DESC(?v)", seed)).toEqual(
        rising.toReversed(),
      );
    }
  });

  it.each([
    "ASC(?v)",
    "(?v)",
    "DESC(COALESCE(?v, 1))",
    "ASC (IF(true, ?v, 0)) # a comment, with ORDER BY (\n",
    "(<http://www.w3.org/2001/XMLSchema#string>(?v)) xsd:string(?v) ?v",
    "UCASE(STR(?v)) ?v",
    "DESC(isNumeric(?v)) (?v)",
  ])("%s answers numbers and strings together", async (condition) => {
    for (let seed = 1; seed <= 5; seed++)
      expect((await ordered([...NUMBERS, ...STRINGS], condition, seed)).toSorted()).toEqual(
        [...NUMBERS, ...STRINGS].toSorted(),
      );
  });

  it("sorts unbound values first, then IRIs, then literals", async () => {
    expect(await ordered(["2", "<urn:b>", "UNDEF", '"a"', "<urn:a>", "1.5"])).toEqual([
      "",
      "<urn:a>",
      "<urn:b>",
      "1.5",
      "2",
      '"a"',
    ]);
  });

  it("sorts dates with a time zone by time, whatever other values are present", async () => {
    const times = [
      moment("2020-01-01T14:00:00+10:00"),
      moment("2020-01-01T10:00:00Z"),
      moment("2020-01-01T08:00:00-05:00"),
    ];
    const others = [
      moment("2020-01-01T12:00:00"),
      '"2020-01-01T09"',
      moment("2020-01-01T09"),
      moment("2020-01-01", "date"),
      moment("P1M", "duration"),
      moment("P30D", "duration"),
      "true",
      "false",
      '"NaN"^^<http://www.w3.org/2001/XMLSchema#double>',
      '"x"@en',
    ];
    const batches = Array.from({ length: 8 }, (_, i) => `"${i}"@de`);
    for (let seed = 1; seed <= 20; seed++)
      expect(
        (await ordered([...times, ...others, ...batches], "?v", seed)).filter((value) =>
          times.includes(value),
        ),
      ).toEqual(times);
  });

  it("works in a subquery, with LIMIT, GROUP BY and DISTINCT", async () => {
    const values = shuffled([...NUMBERS, ...STRINGS], 3).join(" ");
    const names = async (query: string) => {
      const { status, text } = await ask(server, query, { Accept: "text/csv" });
      expect(status, text).toBe(200);
      return text.trimEnd().split("\r\n").slice(1);
    };
    expect(
      await names(
        `SELECT ?v { { SELECT ?v { VALUES ?v { ${values} } } ORDER BY ?v LIMIT 3 } } ORDER ` +
          "BY DESC(?v)",
      ),
    ).toEqual(["2", "1", "0"]);
    expect(
      await names(
        `SELECT ?v (COUNT(*) AS ?n) { VALUES ?v { ${values} } } GROUP BY ?v ORDER BY ` +
          "DESC(COUNT(*)) ?v OFFSET 1 LIMIT 2",
      ),
    ).toEqual(["1,1", "2,1"]);
    expect(
      await names(
        `SELECT (MAX(?w) AS ?v) { VALUES ?w { ${values} } } GROUP BY (STR(?w)) ORDER BY ` +
          "MAX(?w) LIMIT 2",
      ),
    ).toHaveLength(2);
    expect(
      await names(`SELECT DISTINCT ?v { VALUES ?v { ${values} } } ORDER BY ?v LIMIT 2`),
    ).toEqual(["0", "1"]);
  });

  it("by random values returns every row", async () => {
    for (const condition of ["RAND()", "(RAND() * 2)"])
      expect(
        await ordered(
          Array.from({ length: 1500 }, (_, i) => String(i)),
          condition,
        ),
      ).toHaveLength(1500);
  });
});
