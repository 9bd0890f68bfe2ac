import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/model/field.js";
import { OPERATIONS } from "../../support/contract.js";
import type { ContractOperation } from "../../support/contract.js";
import { bodyOf } from "../../support/bodies.js";
import { followed, misfit } from "../../support/contract.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";

/** Requests per operation: all of them in a few seconds. */
const RUNS = 15;

let server: TestServer;
let ada: Person;
let known: string[];
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  const made = await Promise.all(
    (["dataset", "group", "software", "schema"] as const).map((kind) =>
      server.request("POST", `/${kind}`, { token: ada.token, json: bodyOf(kind, ada.id) }),
    ),
  );
  known = [ada.id, ...made.map(({ body }) => String(body["@id"]))];
});
afterAll(() => server.stop());

const odd = fc.oneof(
  fc.constantFrom(
    "",
    "0",
    "-1",
    "1",
    "99999999999999999999",
    "1e3",
    "true",
    "null",
    "ark:",
    "ark:99999/none",
    "ark:/99999/none",
    "é",
    "a b",
    "%00",
    "%zz",
    "\u0000",
    "history",
    "constructor",
    "__proto__",
    "x".repeat(2000),
  ),
  fc.string({ maxLength: 12 }),
);
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>,
  odd,
  fc.constant({ "@id": "ark:99999/none" }),
  fc.constantFrom("2024-02-30", "2024-05-01T10:00:00Z"),
);

interface Sent {
  path: string;
  token: "none" | "good" | "bad";
  headers: Record<string, string>;
  body?: string;
}

/**
 * Requests to one operation, made from its own description: parameters left out, odd or known; the
 * body's example with members changed.
 */
function requestsTo(operation: ContractOperation): fc.Arbitrary<Sent> {
  const parameters = (operation.parameters ?? []).map(followed) as {
    name: string;
    in: string;
    required?: boolean;
    example?: JsonValue;
    schema: JsonObject;
  }[];
  const values = fc.record(
    Object.fromEntries(
      parameters.map(({ name, in: place, example, schema }) => [
        `${place} ${name}`,
        fc.option(
          fc.oneof(
            odd,
            fc.constant(String(example ?? "1")),
            ...(Array.isArray(schema["enum"])
              ? [fc.constantFrom(...(schema["enum"] as string[]))]
              : []),
          ),
          { nil: undefined },
        ),
      ]),
    ),
  );
  const type = Object.keys(operation.body ?? {}).find((name) => name.includes("json"));
  const example = type ? (operation.body![type]!.example as JsonObject) : undefined;
  const body =
    example === undefined
      ? fc.constant(undefined)
      : fc.oneof(
          fc
            .dictionary(
              fc.oneof(fc.constantFrom(...Object.keys(example)), fc.string({ maxLength: 6 })),
              value,
              { maxKeys: 4 },
            )
            .map((changes) => JSON.stringify({ ...example, ...changes })),
          fc.json(),
          fc.string({ maxLength: 20 }),
        );
  return fc
    .record({
      values,
      body,
      token: fc.constantFrom("none", "good", "good", "bad"),
      recorded: fc.nat(),
    })
    .map(({ values: chosen, body: text, token, recorded }) => {
      const query = new URLSearchParams();
      const headers: Record<string, string> =
        type && text !== undefined ? { "Content-Type": type } : {};
      let path = operation.path;
      for (const { name, in: place, example: shown } of parameters) {
        const given = chosen[`${place} ${name}`];
        if (place === "path")
          path = path.replace(`{${name}}`, encodeURIComponent(given || String(shown ?? "x")));
        else if (given !== undefined && place === "query") query.append(name, given);
        else if (given !== undefined && name !== "Authorization" && /^[\x21-\x7e]+$/.test(given))
          headers[name] = given;
      }
      if (recorded % 2 === 0 && path.includes("ark:"))
        path = path.replace(/ark:[^/]*\/[^/]*/, `KNOWN${recorded}`);
      return {
        path: `${path}${query.size > 0 ? `?${query}` : ""}`,
        token,
        headers,
        ...(text === undefined ? {} : { body: text }),
      };
    });
}

describe("requests made from the document", () => {
  it.each(OPERATIONS.map((operation) => [operation.operationId, operation] as const))(
    "are answered as documented, and never with a fault: %s",
    async (_id, operation) => {
      await fc.assert(
        fc.asyncProperty(requestsTo(operation), async ({ path, token, headers, body }) => {
          const target = path.replace(
            /KNOWN(\d+)/,
            (_whole, number: string) => known[Number(number) % known.length]!,
          );
          const answer = await server.request(operation.method.toUpperCase(), target, {
            headers,
            ...(body === undefined ? {} : { body }),
            ...(token === "none" ? {} : { token: token === "good" ? ada.token : "bad" }),
          });
          // A changed path may be that of another operation, or of none.
          if (answer.status === 404 || answer.status === 405) return;
          expect(answer.status, `${target}: ${answer.text.slice(0, 300)}`).toBeLessThan(
            500 + (/NO_(?:CONTAINER_ENGINE|DOI_SERVICE)/.test(answer.text) ? 100 : 0),
          );
          const wrong = misfit(operation, answer);
          expect(
            wrong,
            `${operation.method} ${target} ${body ?? ""} → ${answer.status} ` +
              answer.text.slice(0, 300),
          ).toBeUndefined();
        }),
        { numRuns: RUNS },
      );
      expect(server.faults.splice(0)).toEqual([]);
    },
  );
});
