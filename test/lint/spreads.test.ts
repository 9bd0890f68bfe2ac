import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "vitest/node";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";

/**
 * Arguments are put on the stack: a call with some 120,000 of them ends in "Maximum call stack size
 * exceeded". Spreads into calls are therefore allowed only where the number of arguments is not a
 * client's choice, each with the reason. Spreads into arrays and objects are on the heap, and stay
 * free.
 */
const BOUNDED: Readonly<Record<string, string>> = {
  "src/model/shapes.ts: statements.push(...valueType(writer, field))":
    "statements of one field of the model",
  'src/http/negotiation.ts: Math.max(...header .split(",") .map((tag) => Number(/^(?:W\\/)?"?(\\d{1,9})(?:-[0-9a-z-]*)?)':
    "a header, of 16 KiB at the most",
  "src/storage/shared/redis.ts: command(...(all as [string, ...string[]]))":
    "arguments of the rate limiter's own commands",
  'src/services/records/create.ts: problems.push(...propertyProblems(value["properties"], [...at, "properties"]))':
    "ends after MAX_FINDINGS",
  "src/graphql/cost.ts: Math.max(...given)": "first and last",
  "src/storage/records/postgres/schema.ts: Math.max(...MIGRATIONS.map(({ needs }) => needs))":
    "versions of the schema",
  "src/storage/records/postgres/statement.ts: Math.max(...[...text.matchAll(/\\$(\\d+)/g)].map(([, number]) => Number(number)))":
    "parameters of a statement of the service's own",
  "src/storage/records/sqlite/reads.ts: values.push(...readNumbers(after, 1))": "one number",
  "src/storage/records/sqlite/objects.ts: identity(...object)": "columns of a row",
  "src/services/crates/export/metadata.ts: parts.push(...partsOf(bundledTerms(part)))":
    "parts of a bundled context",
  "src/services/sparql/guard/rewrite.ts: patterns.push(...this.#filtersFor(patterns as Pattern[]))":
    "within SPARQL_MAX_PATTERNS",
  "src/adapters/embeddings/endpoint.ts: vectors.push(...(await this.#taken(inputs.slice(vectors.length, vectors.length + this.#chunk))":
    "vectors of one call, EMBEDDINGS_BATCH at the most",
  "src/storage/records/sqlite/commit.ts: this.#records.apply(step)":
    "a method of that name, and not Function.prototype.apply",
  "src/storage/records/sqlite/commit.ts: this.#handlers[call] as (...all: unknown[]) => unknown(...args)":
    "arguments of one of the store's calls",
  "src/services/scoring/criteria.ts: sentence(...notes)": "a few sentences of the criterion",
  "src/services/scoring/criteria.ts: sentence(...lost)": "a few sentences of the criterion",
  "src/services/scoring/criteria.ts: fields.first(...names)": "names of one part of a datasheet",
  "src/services/scoring/facts/survey.ts: fields .references(...names)": "names of a few fields",
  "cli/commands/data.ts: Math.max(...rows.map(([label]) => label.length))":
    "rows of a table that is printed",
  'cli/commands/schema/inspect.ts: Math.max(...PACKAGED_SCHEMAS.map((schema) => schema["@id"].length))':
    "schemas of the package",
  "cli/demo/crate-files.ts: Math.hypot(...next)": "a vector of the demo",
  "cli/demo/crate-files.ts: Math.min(...values)": "points of the demo's figure",
  "cli/demo/crate-files.ts: Math.max(...values)": "points of the demo's figure",
  "cli/demo/crate.ts: to(...images)": "files of the demo",
};

interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

/**
 * A constant of a module, or a list that is written where it is used: the source says how long it
 * is.
 */
function isWritten(argument: Node): boolean {
  if (argument.type === "Identifier") return /^[A-Z][A-Z_]*$/.test(argument["name"] as string);
  if (argument.type === "ConditionalExpression")
    return isWritten(argument["consequent"] as Node) && isWritten(argument["alternate"] as Node);
  return argument.type === "ParenthesizedExpression"
    ? isWritten(argument["expression"] as Node)
    : argument.type === "ArrayExpression";
}

/** The name of a function's rest parameter: what it was called with it may hand on. */
function restOf(node: Node): string | undefined {
  const last = (node["params"] as Node[] | undefined)?.at(-1);
  return last?.type === "RestElement"
    ? ((last["argument"] as Node)["name"] as string | undefined)
    : undefined;
}

/** The spread arguments of all calls in a source, as `callee(...argument)`. */
function spreads(source: string): string[] {
  const found: string[] = [];
  const visit = (node: Node, handedOn: ReadonlySet<string>): void => {
    const rest = restOf(node);
    const known = rest === undefined ? handedOn : new Set([...handedOn, rest]);
    const isFree = (argument: Node) =>
      isWritten(argument) ||
      (argument.type === "Identifier" && known.has(argument["name"] as string));
    if (node.type === "CallExpression" || node.type === "NewExpression") {
      const callee = node["callee"] as Node;
      const name = source.slice(callee.start, callee.end).replaceAll(/\s+/g, " ").slice(-60);
      for (const argument of node["arguments"] as Node[]) {
        if (argument.type === "SpreadElement" && !isFree(argument["argument"] as Node))
          found.push(
            `${name}(${source.slice(argument.start, argument.end).replaceAll(/\s+/g, " ").slice(0, 80)})`,
          );
      }
      const [, second] = node["arguments"] as Node[];
      if (
        name.endsWith(".apply") &&
        second &&
        (node["arguments"] as Node[]).length === 2 &&
        !isFree(second)
      )
        found.push(`${name}(${source.slice(second.start, second.end).slice(0, 80)})`);
    }
    for (const value of Object.values(node)) {
      for (const inner of Array.isArray(value) ? value : [value])
        if (inner !== null && typeof inner === "object" && typeof (inner as Node).type === "string")
          visit(inner as Node, known);
    }
  };
  visit(parseAst(source, { lang: "ts" }) as unknown as Node, new Set());
  return found;
}

function sources(): string[] {
  return ["src", "cli"].flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `${folder}/${name}`),
  );
}

describe("a call in the sources", () => {
  it("spreads no array of unbounded length into its arguments", () => {
    const found = new Set(
      sources().flatMap((file) =>
        spreads(readFileSync(join(packageRoot, file), "utf8")).map(
          (spread) => `${file}: ${spread}`,
        ),
      ),
    );
    expect(
      [...found].filter((spread) => BOUNDED[spread] === undefined),
      "use a loop, or name here why the array is short",
    ).toEqual([]);
    // What is gone is taken off the list, so that nothing new hides behind it.
    expect(Object.keys(BOUNDED).filter((spread) => !found.has(spread))).toEqual([]);
  });
  it("is found in any syntax", () => {
    const calls = [
      "rows.push(...more)",
      "Math.max(0, ...sizes)",
      "a?.b(...c)",
      "new Map(...pairs)",
      "String.fromCharCode(...codes)",
      "f<T>(...(await g()))",
      "list.concat.apply(list, lists)",
    ];
    expect(calls.filter((call) => spreads(`${call};`).length !== 1)).toEqual([]);
    expect(
      spreads(
        "const hand = (...given: number[]) => g(...given); g(...NAMES); g(...(many ? [] : [1]));",
      ),
    ).toEqual([]);
    expect(
      spreads(
        "const f = (...given: number[]) => [...given]; const { a, ...rest } = b; g({ " +
          "...rest }, [...f()]); store.apply(graphs);",
      ),
    ).toEqual([]);
  });
});
