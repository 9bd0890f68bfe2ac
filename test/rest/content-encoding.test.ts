import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApiDocument } from "../../src/rest/document.js";
import { PASSWORD, startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

interface Row {
  operationId: string;
  requestBody?: { content: Record<string, unknown> };
}
const paths = openApiDocument()["paths"] as unknown as Record<string, Record<string, Row>>;
const READERS = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, { requestBody }]) =>
    requestBody
      ? Object.keys(requestBody.content).map((type): [string, string, string] => [
          method.toUpperCase(),
          path,
          type,
        ])
      : [],
  ),
);
const address = (path: string) =>
  path.replace("{NAAN}", "99999").replace(/\{[^}]+\}/g, "nothing-here");

describe("a compressed body", () => {
  it("is recognized in operations that read one", () => expect(READERS.length).toBeGreaterThan(30));
  it.each(READERS)("%s %s as %s is refused with the fix", async (method, path, type) => {
    const body = gzipSync("{}");
    const answer = await server.request<{ code: string; detail: string }>(method, address(path), {
      token: ada.token,
      body,
      headers: {
        "Content-Type": type === "multipart/form-data" ? `${type}; boundary=x` : type,
        "Content-Encoding": "gzip",
      },
    });
    expect([answer.status, answer.body.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    expect(answer.body.detail).toMatch(/Content-Encoding.*gzip.*uncompressed/s);
    expect(answer.headers.get("accept-encoding")).toBe("identity");
  });
  it.each(["gzip", "br", "deflate", "identity, gzip", "x", "GZIP", "gzip\u00e9".slice(0, 4)])(
    "with %s is refused before its token is looked at",
    async (encoding) => {
      const answer = await server.request("POST", "/dataset", {
        body: gzipSync("{}"),
        headers: { "Content-Type": "application/json", "Content-Encoding": encoding },
      });
      expect(answer.status).toBe(415);
    },
  );
  it.each(["application/json", "multipart/form-data; boundary=x"])(
    "is refused by GraphQL as %s",
    async (type) => {
      for (const path of ["/graphql", "/graphql/stream"]) {
        const answer = await server.request<{
          errors: { message: string; extensions: { code: string } }[];
        }>("POST", path, {
          token: ada.token,
          body: gzipSync(JSON.stringify({ query: "{ __typename }" })),
          headers: {
            "Content-Type": type,
            "Content-Encoding": "gzip",
            "apollo-require-preflight": "true",
          },
        });
        expect([answer.status, answer.body.errors[0]!.extensions.code]).toEqual([
          415,
          "UNSUPPORTED_MEDIA_TYPE",
        ]);
        expect(answer.body.errors[0]!.message).toContain("Content-Encoding");
      }
    },
  );
});

it.each(["identity", "Identity", "", "identity, identity"])(
  "a body whose Content-Encoding is '%s' is read",
  async (encoding) => {
    const answer = await server.request("POST", "/token", {
      json: { username: ada.email, password: PASSWORD },
      headers: { "Content-Encoding": encoding },
    });
    expect(answer.status).toBe(200);
  },
);
