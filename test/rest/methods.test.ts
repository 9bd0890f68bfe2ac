import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

describe("Allow names the methods of the operation that the path ends in, and no other", () => {
  it.each([
    ["GET", "/schema/ark:99999/x/validate", "POST"],
    ["POST", "/dataset/ark:99999/x/history", "GET, HEAD"],
    ["PUT", "/ark:99999/x/history", "GET, HEAD"],
    ["DELETE", "/datadownload/ark:99999/x/upload", "POST"],
    ["PUT", "/datadownload/ark:99999/x/download", "GET, HEAD"],
    ["POST", "/group/ark:99999/x/addUser", "PUT"],
    ["GET", "/rocrate/ai-ready-score/ark:99999/x/rescore", "POST"],
    ["POST", "/dataset/ark:99999/x", "DELETE, GET, HEAD, PATCH"],
    ["POST", "/project/ark:99999/a/b", "DELETE, GET, HEAD, PATCH"],
    ["DELETE", "/project/ark:99999/a/b/history", "GET, HEAD"],
  ])("%s %s: %s", async (method, path, allow) => {
    const answer = await server.request(method, path, { token: ada.token });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, allow]);
    expect(answer.body["detail"]).toContain(`use ${allow}`);
  });

  it("a stored identifier that ends in such a word has the methods of a record", async () => {
    // No client can register one any more; crates have files of such names.
    const first = await server.request("POST", "/dataset", {
      token: ada.token,
      json: { ...bodyOf("dataset", ada.id), "@id": "ark:99999/study" },
    });
    expect(first.status).toBe(200);
    const [record] = await server.deps.records.findMany(["ark:99999/study"]);
    const { name, owner, kind } = record!;
    await server.deps.records.commit({
      by: ada.id,
      at: Date.now(),
      records: [
        {
          op: "create",
          ark: "ark:99999/study/history",
          key: "ark:99999/study/history",
          kind,
          name,
          owner,
          links: [],
          quads: "",
          keywords: [],
          text: { name: "", description: "", keywords: "", other: "" },
          document: Buffer.from(JSON.stringify({ "@id": "ark:99999/study/history" })),
        },
      ],
    });
    const refused = await server.request("POST", "/dataset/ark:99999/study/history", {
      token: ada.token,
    });
    expect([refused.status, refused.headers.get("allow")]).toEqual([
      405,
      "DELETE, GET, HEAD, PATCH",
    ]);
    expect((await server.request("GET", "/dataset/ark:99999/study/history")).body).toEqual({
      "@id": "ark:99999/study/history",
    });
  });
});
