import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PASSWORD, startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const account = (name: string) => ({
  "@id": `ark:99999/user-${name}`,
  name,
  email: `${name}@example.org`,
  password: PASSWORD,
});
type Ask = () => Promise<{ status: number; headers: Headers; text: string }>;
/** Answers with account data or what only its owner may see. */
const ANSWERS: [string, Ask][] = [
  ["POST /user", () => server.request("POST", "/user", { json: account("bob") })],
  [
    "PUT /user",
    () =>
      server.request("PUT", "/user", {
        token: ada.token,
        json: { ...account("ada"), name: "Ada" },
      }),
  ],
  [
    "PUT /ark:…",
    () =>
      server.request("PUT", `/${ada.id}`, {
        token: ada.token,
        json: { ...account("ada"), name: "Ada L." },
      }),
  ],
  ["GET /user", () => server.request("GET", "/user", { token: ada.token })],
  ["GET /user by page", () => server.request("GET", "/user?limit=1", { token: ada.token })],
  ["GET /user/ark:…", () => server.request("GET", `/user/${ada.id}`, { token: ada.token })],
  ["GET /ark:…", () => server.request("GET", `/${ada.id}`, { token: ada.token })],
  [
    "GET /ark:… as Turtle",
    () => server.request("GET", `/${ada.id}?format=turtle`, { token: ada.token }),
  ],
  [
    "an earlier revision",
    () => server.request("GET", `/${ada.id}?revision=1`, { token: ada.token }),
  ],
  [
    "the history of a user",
    () => server.request("GET", `/${ada.id}/history`, { token: ada.token }),
  ],
  [
    "POST /token",
    () => server.request("POST", "/token", { json: { username: ada.email, password: PASSWORD } }),
  ],
  [
    "POST /login",
    () => server.request("POST", "/login", { json: { username: ada.email, password: PASSWORD } }),
  ],
  [
    "the list of uploads",
    () => server.request("GET", "/rocrate/upload/status", { token: ada.token }),
  ],
  [
    "a build of an evidence graph",
    () => server.request("POST", `/evidencegraph/build/${ada.id}`, { token: ada.token }),
  ],
  ["GraphQL's me", () => server.graphql("{ me { document } }", {}, ada.token)],
  [
    "GraphQL over server-sent events",
    () =>
      server.request("POST", "/graphql/stream", {
        token: ada.token,
        json: { query: "{ me { document } }" },
        headers: { Accept: "text/event-stream" },
      }),
  ],
  [
    "DELETE /user/ark:…",
    async () => {
      const gone = await server.person("gone");
      return server.request("DELETE", `/user/${gone.id}`, { token: gone.token });
    },
  ],
];

describe("no cache stores", () => {
  it.each(ANSWERS)("%s", async (_name, ask) => {
    const { status, headers, text } = await ask();
    expect([status, text.slice(0, 200)]).toEqual([200, expect.anything()]);
    expect(headers.get("cache-control")).toBe("no-store");
  });
  it("a 304 for a user's own view", async () => {
    const own = await server.request("GET", `/${ada.id}`, { token: ada.token });
    const again = await server.request("GET", `/${ada.id}`, {
      token: ada.token,
      headers: { "If-None-Match": own.headers.get("etag")! },
    });
    expect([again.status, again.headers.get("cache-control")]).toEqual([304, "no-store"]);
  });
});

it("a cache may store public responses, and revalidates them before use", async () => {
  expect((await server.request("GET", `/${ada.id}`)).headers.get("cache-control")).toBe("no-cache");
});
