import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
const ark = "ark:99999/deleted-dataset";
const successor = "ark:99999/its-successor";
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  await server.request("POST", "/dataset", {
    token: ada.token,
    json: { ...bodyOf("dataset", ada.id), "@id": ark },
  });
  await server.request("DELETE", `/dataset/${ark}?reason=withdrawn&successor=${successor}`, {
    token: ada.token,
  });
});
afterAll(() => server.stop());

describe("a deleted record is answered with one body everywhere", () => {
  it.each([
    ["GET", `/${ark}`],
    ["GET", `/dataset/${ark}`],
    ["GET", `/${ark}/history`],
    ["GET", `/dataset/download/${ark}`],
    ["GET", `/publish/${ark}`],
    ["GET", `/evidencegraph/query/${ark}`],
    ["GET", `/evidencegraph/impact/${ark}`],
    ["GET", `/evidencegraph/path/${ark}?to=ark:99999/x`],
    ["POST", `/evidencegraph/build/${ark}`],
    ["DELETE", `/${ark}`],
  ])("%s %s", async (method, path) => {
    const { status, body } = await server.request(method, path, {
      token: method === "GET" ? undefined! : ada.token,
    });
    expect(status).toBe(410);
    expect(body).toEqual({
      detail: expect.stringMatching(
        new RegExp(
          `^${ark} was deleted on \\S+Z by ${ada.id}: withdrawn\\. Its successor is ` +
            `${successor}\\.$`,
        ),
      ),
      code: "GONE",
      deletedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      deletedBy: ada.id,
      reason: "withdrawn",
      successor,
    });
  });

  it("GraphQL has the same members in its extensions", async () => {
    const { body } = await server.graphql(
      "query ($id: ID!) { evidence(id: $id) { nodes { id } } }",
      { id: ark },
    );
    expect(body.errors![0]!.extensions).toMatchObject({
      code: "GONE",
      deletedBy: ada.id,
      reason: "withdrawn",
      successor,
    });
    expect(body.errors![0]!.extensions).not.toHaveProperty("at");
  });
});
