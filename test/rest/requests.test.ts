import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { HALF_DUPLEX, startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer({ MAX_BODY_BYTES: "4K", MAX_UPLOAD_BYTES: "64K" });
  ada = await server.person("ada");
});
afterAll(() => server.stop());
const JSON_TYPE = { "Content-Type": "application/json" };

/**
 * Sends bytes as they are; answers all that comes back until the connection ends or falls silent.
 */
function raw(bytes: string | Buffer, silence = 400): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    let answer = "";
    socket.setTimeout(silence, () => socket.destroy());
    socket
      .on("data", (chunk) => (answer += chunk.toString("latin1")))
      .on("close", () => resolve(answer))
      .on("error", reject);
    socket.write(bytes);
  });
}
const statusLine = (answer: string) => answer.split("\r\n", 1)[0];

describe("a path", () => {
  it.each([
    ["GET", "/nothing"],
    ["GET", "/dataset/x"],
    ["POST", "/ark:99999"],
    ["GET", "/assets/none.js"],
    ["GET", "/apix"],
    ["GET", "/%2e%2e/%2e%2e/etc/passwd"],
    ["GET", "/assets/..%2f..%2fpackage.json"],
  ])("that is not in the contract is a 404: %s %s", async (method, path) => {
    const answer = await server.request(method, path);
    expect([answer.status, answer.body["code"]]).toEqual([404, "NOT_FOUND"]);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  });
  it.each([
    ["PATCH", "/dataset", "GET, HEAD, POST, PUT"],
    ["DELETE", "/dataset", "GET, HEAD, POST, PUT"],
    ["POST", "/healthz", "GET, HEAD"],
    ["OPTIONS", "/token", "POST"],
    ["POST", "/dataset/ark:99999/x", "DELETE, GET, HEAD, PATCH"],
    ["PUT", "/api/dataset/ark:99999/x", "DELETE, GET, HEAD, PATCH"],
    ["BREW", "/", undefined],
  ])("answers %s %s with its methods", async (method, path, allow) => {
    if (allow === undefined)
      return expect(statusLine(await raw(`${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`))).toMatch(
        /400|405/,
      );
    const answer = await server.request(method, path);
    expect([answer.status, answer.body["code"], answer.headers.get("allow")]).toEqual([
      405,
      "METHOD_NOT_ALLOWED",
      allow,
    ]);
  });
  it.each(["/ark:99999/%", "/ark:99999/%zz", "/ark:99999/%ff", "/dataset/%C3%28", "/%E0%A4"])(
    "with an invalid escape is a 400: %s",
    async (path) => {
      const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(statusLine(answer)).toBe("HTTP/1.1 400 Bad Request");
      expect(answer).toContain("BAD_REQUEST");
    },
  );
  it("with NUL is a 422 at its place", async () => {
    const answer = await server.request<{ detail: { loc: string[]; type: string }[] }>(
      "GET",
      "/dataset/ark:99999/a%00b",
    );
    expect([answer.status, answer.body.detail[0]!.loc, answer.body.detail[0]!.type]).toEqual([
      422,
      ["path", "postfix"],
      "string_unicode",
    ]);
  });
  it("answers with and without a final slash, below /api, and as a whole URL", async () => {
    for (const path of [
      "/dataset",
      "/dataset/",
      "/api/dataset",
      "/api/dataset/",
      "/healthz/",
      "/api",
      "/api/",
      "/api/docs",
    ])
      expect((await server.request("GET", path)).status, path).toBe(200);
    expect(
      statusLine(
        await raw(
          `GET ${server.url}/dataset?limit=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
        ),
      ),
    ).toBe("HTTP/1.1 200 OK");
    expect(
      statusLine(await raw(`GET ${server.url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)),
    ).toBe("HTTP/1.1 200 OK");
  });

  it("that is no address is refused in the registry's own form", async () => {
    const answer = await raw("GET http://[/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(statusLine(answer)).toBe("HTTP/1.1 400 Bad Request");
    expect(answer).toContain("The request target is no address");
  });
});

describe("a body", () => {
  it.each([
    ["/dataset", "text/plain", "application/json"],
    ["/dataset", "application/x-www-form-urlencoded", "application/json"],
    ["/dataset", "", "application/json"],
    ["/token", "application/xml", "application/x-www-form-urlencoded"],
    ["/rocrate/upload", "application/json", "multipart/form-data"],
    ["/rocrate/upload-async", "application/zip", "multipart/form-data"],
  ])("at %s of type %j is a 415 that names %s", async (path, type, right) => {
    for (const token of [undefined, ada.token]) {
      const answer = await server.request("POST", path, {
        body: Buffer.from("{}"),
        headers: type === "" ? {} : { "Content-Type": type },
        ...(token ? { token } : {}),
      });
      expect([answer.status, answer.body["code"]]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
      expect(String(answer.body["detail"])).toContain(right);
    }
  });
  it("is accepted as any kind of JSON", async () => {
    for (const type of [
      "application/json",
      "APPLICATION/JSON; charset=utf-8",
      "application/ld+json",
      "application/ld+json;profile=x",
    ]) {
      expect(
        (
          await server.request("POST", "/dataset", {
            token: ada.token,
            headers: { "Content-Type": type },
            body: JSON.stringify(bodyOf("dataset", ada.id)),
          })
        ).status,
      ).toBe(200);
    }
  });
  it(
    "that is too large is a 413 that names the setting, declared before or found while " +
      "it arrives",
    async () => {
      const large = JSON.stringify({ ...bodyOf("dataset", ada.id), big: "x".repeat(5000) });
      const announced = await server.request("POST", "/dataset", {
        token: ada.token,
        headers: JSON_TYPE,
        body: large,
      });
      const chunked = await fetch(`${server.url}/dataset`, {
        method: "POST",
        headers: { ...JSON_TYPE, Authorization: `Bearer ${ada.token}` },
        body: new Blob([large]).stream(),
        ...HALF_DUPLEX,
      });
      for (const [status, text] of [
        [announced.status, announced.text],
        [chunked.status, await chunked.text()],
      ] as const) {
        expect([status, text.includes("MAX_BODY_BYTES"), text.includes("4096")]).toEqual([
          413,
          true,
          true,
        ]);
      }
      const upload = await server.request("POST", "/rocrate/upload", {
        token: ada.token,
        headers: { "Content-Type": "multipart/form-data; boundary=x" },
        body: Buffer.alloc(2 << 20),
      });
      expect([upload.status, upload.text.includes("MAX_UPLOAD_BYTES")]).toEqual([413, true]);
      const graphql = await server.request("POST", "/graphql", {
        json: { query: "{ me { id } }", pad: "x".repeat(5000) },
      });
      expect(graphql.status).toBe(413);
    },
  );
  it("that is declared too large is answered before it is sent", async () => {
    const answer = await raw(
      "POST /dataset HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" +
        "Content-Length: 99999999\r\n\r\n",
      1500,
    );
    expect(statusLine(answer)).toBe("HTTP/1.1 413 Payload Too Large");
  });
  it("that never ends, or ends early, does not block the service", async () => {
    await raw(
      "POST /token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
        "50\r\n\r\n{",
      100,
    );
    await raw(
      "POST /token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" +
        "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
      100,
    );
    expect((await server.request("GET", "/healthz")).status).toBe(200);
    expect(server.faults).toEqual([]);
  });
});

describe("a wrong token", () => {
  const AUTHORIZATIONS = ["Bearer not-a-token", "Basic YWRhOnBhc3N3b3Jk"];
  it.each(AUTHORIZATIONS)("sent as %j is a 401, where no token is needed too", async (header) => {
    const headers = { Authorization: header };
    for (const path of [
      "/",
      "/dataset",
      ada.id.replace(/^/, "/"),
      "/evidencegraph/query/ark:99999/x",
    ])
      expect([path, (await server.request("GET", path, { headers })).status]).toEqual([path, 401]);
    const asked = { headers, json: { query: "{ datasets { totalCount } }" } };
    expect((await server.request("POST", "/graphql", asked)).status).toBe(401);
  });
  it.each(AUTHORIZATIONS)("sent as %j is ignored where a token is obtained", async (header) => {
    for (const path of ["/token", "/login"]) {
      const answer = await server.request("POST", path, {
        headers: { Authorization: header },
        json: { username: ada.email, password: ada.password },
      });
      expect([answer.status, typeof answer.body["access_token"]]).toEqual([200, "string"]);
    }
  });
});

describe("of two errors", () => {
  const bad = { token: "not a token" };
  it("an unknown path precedes a wrong token, a wrong method precedes a wrong type", async () => {
    expect((await server.request("POST", "/nothing", { ...bad, body: "x" })).status).toBe(404);
    expect(
      (
        await server.request("PATCH", "/dataset", {
          ...bad,
          body: "x",
          headers: { "Content-Type": "text/plain" },
        })
      ).status,
    ).toBe(405);
  });
  it("a wrong type or size precedes a wrong token, which precedes a wrong query or body", async () => {
    expect(
      (
        await server.request("POST", "/dataset", {
          ...bad,
          body: "x",
          headers: { "Content-Type": "text/plain" },
        })
      ).status,
    ).toBe(415);
    expect(
      (
        await server.request("POST", "/dataset", {
          ...bad,
          body: "x".repeat(5000),
          headers: JSON_TYPE,
        })
      ).status,
    ).toBe(413);
    expect(
      (await server.request("POST", "/dataset", { ...bad, body: "no json", headers: JSON_TYPE }))
        .status,
    ).toBe(401);
    expect(
      (await server.request("POST", "/dataset", { body: "no json", headers: JSON_TYPE })).status,
    ).toBe(401);
    expect((await server.request("GET", "/user?name=%00", bad)).status).toBe(401);
  });
  it("a wrong body precedes a missing target, then a missing right, then a conflict", async () => {
    const bob = await server.person("bob");
    const put = (json: unknown, headers = {}) =>
      server.request("PUT", "/dataset", { token: bob.token, json, headers });
    expect((await put({ "@id": "ark:99999/none" }, { "If-Match": '"9-9"' })).status).toBe(422);
    expect((await put(bodyOf("dataset", bob.id), { "If-Match": '"9-9"' })).status).toBe(404);
    const made = await server.request("POST", "/dataset", {
      token: ada.token,
      json: bodyOf("dataset", ada.id),
    });
    expect((await put({ ...made.body, owner: bob.id }, { "If-Match": '"9-9"' })).status).toBe(403);
    expect(
      (await server.request("POST", "/dataset", { token: bob.token, json: made.body })).status,
    ).toBe(403);
  });
});

describe("a fault of the service", () => {
  it("shows an id that is in the log, and no internals", async () => {
    const { records } = server.deps;
    const find = records.find;
    records.find = () => Promise.reject(new Error("secret text of a fault"));
    try {
      for (const answer of [
        await server.request("GET", "/ark:99999/x"),
        await server.graphql(`{ record(id: "ark:99999/x") { id } }`),
      ]) {
        const [id] = /[0-9a-f-]{36}/.exec(answer.text)!;
        expect(answer.text).not.toContain("secret text");
        expect(answer.text).toContain("INTERNAL");
        expect(
          server.faults.some(({ fields }) => (fields as { fault?: string }).fault === id),
        ).toBe(true);
      }
      expect((await server.request("GET", "/ark:99999/x")).status).toBe(500);
    } finally {
      records.find = find;
      server.faults.length = 0;
    }
  });
});
