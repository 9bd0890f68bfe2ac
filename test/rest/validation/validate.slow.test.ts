import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXAMPLES } from "../../../src/model/examples.js";
import { KIND_NAMES } from "../../../src/model/kind.js";
import { startServer, type TestServer } from "../../support/server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
}, 60_000);
afterAll(() => server.stop());

describe("POST /validate", () => {
  it.each(KIND_NAMES)("finds no violation in the example of a %s", async (kind) => {
    const answer = await server.request("POST", `/validate?kind=${kind}`, { json: EXAMPLES[kind] });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toEqual({ conforms: true, results: [], checked: 1, truncated: false });
  });
});
