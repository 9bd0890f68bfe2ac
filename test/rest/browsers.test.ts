import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
let server: TestServer;
let ada: Person;
let ark: string;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  const made = await server.request("POST", "/dataset", {
    token: ada.token,
    json: {
      ...bodyOf("dataset", ada.id),
      description: "A description that says it all. ".repeat(200),
    },
  });
  ark = String(made.body["@id"]);
});
afterAll(() => server.stop());

/** As a browser or curl would: fetch decodes bodies and hides their encoding. */
function plain(
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
  body?: string,
  at = server.url,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(at + path, { method, headers }, (res) => {
      const chunks: Buffer[] = [];
      res
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("end", () =>
          resolve({ status: res.statusCode!, headers: res.headers, body: Buffer.concat(chunks) }),
        );
    });
    sent.on("error", reject).end(body);
  });
}

describe("compression", () => {
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync };
  const json = { "Content-Type": "application/json" };
  it.each([
    [
      "a record",
      () => plain(`/${ark}`),
      (encoding: string) => plain(`/${ark}`, { "Accept-Encoding": encoding }),
    ],
    [
      "a list",
      () => plain("/dataset"),
      (encoding: string) => plain("/dataset", { "Accept-Encoding": encoding }),
    ],
    [
      "the contract",
      () => plain("/openapi.json"),
      (encoding: string) => plain("/openapi.json", { "Accept-Encoding": encoding }),
    ],
    [
      "a page",
      () => plain(`/${ark}`, { Accept: BROWSER }),
      (encoding: string) => plain(`/${ark}`, { Accept: BROWSER, "Accept-Encoding": encoding }),
    ],
    [
      "a GraphQL answer",
      () =>
        plain(
          "/graphql",
          json,
          "POST",
          JSON.stringify({ query: `{ dataset(id: "${ark}") { description } }` }),
        ),
      (encoding: string) =>
        plain(
          "/graphql",
          { ...json, "Accept-Encoding": encoding },
          "POST",
          JSON.stringify({ query: `{ dataset(id: "${ark}") { description } }` }),
        ),
    ],
  ] as const)(
    "of %s gives the same bytes, fewer of them on the way",
    async (_name, identity, encoded) => {
      const expected = await identity();
      expect(expected.headers["content-encoding"]).toBeUndefined();
      expect(expected.headers.vary).toContain("Accept-Encoding");
      for (const [accept, encoding] of [
        ["br", "br"],
        ["gzip", "gzip"],
        ["gzip, deflate, br", "br"],
        ["gzip;q=1.0, br;q=0.5", "gzip"],
        ["*", "br"],
      ] as const) {
        const answer = await encoded(accept);
        expect(
          [
            answer.status,
            answer.headers["content-encoding"],
            answer.headers.vary?.includes("Accept-Encoding"),
          ],
          accept,
        ).toEqual([200, encoding, true]);
        expect(answer.body.length).toBeLessThan(expected.body.length);
        expect(unpack[encoding](answer.body).equals(expected.body), accept).toBe(true);
        expect(Object.keys(answer.headers)).toEqual(
          expect.arrayContaining(
            Object.keys(expected.headers).filter(
              (name) => name !== "content-length" && name !== "transfer-encoding",
            ),
          ),
        );
      }
      for (const accept of ["identity", "deflate", "br;q=0, gzip;q=0", "x".repeat(5000)]) {
        expect((await encoded(accept)).headers["content-encoding"], accept).toBeUndefined();
      }
    },
  );

  it("leaves small answers, stored files and their ranges as they are", async () => {
    const content = "a,b\n".repeat(5000);
    const form = new FormData();
    form.set(
      "download",
      JSON.stringify({ ...bodyOf("datadownload", ada.id), encodingFormat: "text/csv" }),
    );
    form.set("file", new Blob([content]), "table.csv");
    const file = await server.request("POST", "/register", { token: ada.token, body: form });
    const path = `/datadownload/${String(file.body["@id"])}/download`;
    const headers = { "Accept-Encoding": "br, gzip", Authorization: `Bearer ${ada.token}` };
    const whole = await plain(path, headers);
    expect([whole.status, whole.headers["content-encoding"], whole.body.toString()]).toEqual([
      200,
      undefined,
      content,
    ]);
    expect((await plain(path, { ...headers, Range: "bytes=0-2" })).body.toString()).toBe("a,b");
    expect((await plain("/healthz", headers)).headers["content-encoding"]).toBeUndefined();
  });

  it("survives a client that disconnects in the middle of a list", async () => {
    for (let n = 0; n < 20; n++) {
      await new Promise<void>((resolve) => {
        const sent = httpRequest(
          `${server.url}/dataset`,
          { headers: { "Accept-Encoding": "gzip" } },
          (res) => void res.destroy(),
        );
        sent
          .on("close", resolve)
          .on("error", () => resolve())
          .end();
      });
    }
    expect(server.faults).toEqual([]);
    expect((await plain("/dataset", { "Accept-Encoding": "gzip" })).status).toBe(200);
  });
});

describe("calls from pages of other sites", () => {
  const preflight = (path: string, origin: string, method = "POST") =>
    plain(
      path,
      {
        Origin: origin,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "authorization,content-type",
      },
      "OPTIONS",
    );

  it.each([
    "/dataset",
    `/ark:99999/x`,
    "/graphql",
    "/graphql/stream",
    "/sparql",
    "/rocrate/upload-async",
    "/api/dataset",
    "/no/such/path",
  ])("answers the preflight of %s", async (path) => {
    const { status, headers } = await preflight(path, "https://app.example.org");
    expect([status, headers["access-control-allow-origin"]]).toEqual([204, "*"]);
    for (const method of ["GET", "POST", "PUT", "DELETE"])
      expect(headers["access-control-allow-methods"]).toContain(method);
    for (const name of ["authorization", "content-type", "if-match"])
      expect(headers["access-control-allow-headers"]?.toLowerCase()).toContain(name);
    expect(headers["access-control-allow-credentials"]).toBeUndefined();
  });

  it.each([
    ["a record", () => `/${ark}`, 200],
    ["a refusal", () => "/ark:99999/none", 404],
    ["a query", () => "/sparql?query=ASK%7B%7D", undefined],
    ["GraphQL", () => "/graphql?query=%7B__typename%7D", 200],
  ] as [string, () => string, number | undefined][])(
    "lets a page read %s, never with credentials",
    async (_name, path, expected) => {
      for (const headers of [{ Origin: "https://app.example.org" }, {}] as Record<
        string,
        string
      >[]) {
        const answer = await plain(path(), headers);
        if (expected !== undefined) expect(answer.status).toBe(expected);
        expect(answer.headers["access-control-allow-origin"]).toBe("*");
        expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
      }
      expect(
        (await plain(path(), { Origin: "https://app.example.org" })).headers[
          "access-control-expose-headers"
        ],
      ).toContain("ETag");
    },
  );

  it("can be limited to named sites, or switched off", async () => {
    const some = await startServer({
      CORS_ORIGINS: "https://app.example.org, http://localhost:3000",
    });
    const none = await startServer({ CORS_ORIGINS: "off" });
    try {
      for (const [at, origin, allowed] of [
        [some, "https://app.example.org", "https://app.example.org"],
        [some, "http://localhost:3000", "http://localhost:3000"],
        [some, "https://evil.example", undefined],
        [none, "https://app.example.org", undefined],
      ] as const) {
        const answer = await fetch(`${at.url}/healthz`, { headers: { Origin: origin } });
        expect([origin, answer.headers.get("access-control-allow-origin") ?? undefined]).toEqual([
          origin,
          allowed,
        ]);
        if (at === some) expect(answer.headers.get("vary")).toContain("Origin");
      }
      // Every answer differs by Origin: a cache must not give one site what was sent to another.
      for (const path of [
        "/sparql?query=ASK%7B%7D",
        "/none",
        "/dataset",
        "/openapi.json",
        "/ontology/evi.ttl",
        "/assets/arkgraph.svg",
        "/docs",
        "/graphql?query=%7B__typename%7D",
      ]) {
        for (const headers of [
          { Origin: "https://app.example.org" },
          { "Accept-Encoding": "br" },
          {},
        ] as Record<string, string>[]) {
          const {
            headers: { vary },
          } = await plain(path, headers, "GET", undefined, some.url);
          expect([path, vary?.split(/, */).filter((name) => name === "Origin")]).toEqual([
            path,
            ["Origin"],
          ]);
        }
      }
      expect(
        (
          await fetch(`${none.url}/dataset`, {
            method: "OPTIONS",
            headers: { Origin: "https://app.example.org", "Access-Control-Request-Method": "POST" },
          })
        ).status,
      ).toBe(405);
    } finally {
      await Promise.all([some.stop(), none.stop()]);
    }
  });
});

describe("files of the site", () => {
  it("that pages load carry their hash, are compressed, and never change", async () => {
    for (const page of ["/", "/docs", "/graphql", "/sparql"]) {
      const { body } = await plain(page, { Accept: BROWSER });
      const names = [...body.toString().matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(
        (match) => match[1]!,
      );
      expect(names.length, page).toBeGreaterThan(1);
      for (const name of names) {
        expect(name).toMatch(/\.[0-9a-f]{12}\.\w+$/);
        const answer = await plain(name, { "Accept-Encoding": "br" });
        expect([name, answer.status, answer.headers["cache-control"]]).toEqual([
          name,
          200,
          "public, max-age=31536000, immutable",
        ]);
        if (answer.body.length > 2048) expect(answer.headers["content-encoding"], name).toBe("br");
        expect(
          (await plain(name, { "Accept-Encoding": "br", "If-None-Match": answer.headers.etag! }))
            .status,
        ).toBe(304);
        expect((await plain(name.replace(/[0-9a-f]{12}/, "0123456789ab"))).status).toBe(404);
      }
    }
  });

  it("are compressed as well as possible: Brotli when the service is built, gzip once", async () => {
    const { body } = await plain("/docs", { Accept: BROWSER });
    // The smaller of its two files: to compress the script once more would take seconds.
    const [name] = /\/assets\/swagger-ui\/swagger-ui\.[0-9a-f]{12}\.css/.exec(body.toString())!;
    const whole = (await plain(name)).body;
    for (const [encoding, unpack, best] of [
      ["br", brotliDecompressSync, brotliCompressSync(whole)],
      ["gzip", gunzipSync, gzipSync(whole, { level: 9 })],
    ] as const) {
      const answer = await plain(name, { "Accept-Encoding": encoding });
      expect(unpack(answer.body).equals(whole)).toBe(true);
      expect(answer.body.length).toBeLessThanOrEqual(best.length);
    }
  });

  it("that browsers and crawlers request by default exist", async () => {
    const icon = await plain("/favicon.ico");
    expect([
      icon.status,
      icon.headers["content-type"],
      icon.body.subarray(0, 4).toString("hex"),
    ]).toEqual([200, "image/x-icon", "00000100"]);
    const touch = await plain("/apple-touch-icon.png");
    expect([
      touch.status,
      touch.headers["content-type"],
      touch.body.subarray(1, 4).toString(),
    ]).toEqual([200, "image/png", "PNG"]);
    const robots = await plain("/robots.txt");
    expect([robots.status, robots.headers["content-type"]]).toEqual([
      200,
      "text/plain; charset=utf-8",
    ]);
    expect(robots.body.toString()).toMatch(/^User-agent: \*\n/);
    expect((await plain("/robots.txt", {}, "POST")).status).toBe(405);
    expect((await plain("/.well-known/security.txt")).body.toString()).toContain(
      "SECURITY_CONTACT",
    );
  });

  it("name the operator's contact for security reports, for less than a year", async () => {
    const other = await startServer({ SECURITY_CONTACT: "mailto:security@example.org" });
    try {
      const answer = await fetch(`${other.url}/.well-known/security.txt`);
      const text = await answer.text();
      expect([answer.status, answer.headers.get("content-type")]).toEqual([
        200,
        "text/plain; charset=utf-8",
      ]);
      expect(text).toContain("Contact: mailto:security@example.org\n");
      const expires = Date.parse(/^Expires: (.+)$/m.exec(text)![1]!);
      expect(expires).toBeGreaterThan(Date.now());
      expect(expires).toBeLessThan(Date.now() + 365 * 86_400_000);
    } finally {
      await other.stop();
    }
  });
});

describe("an error in a browser", () => {
  it.each([
    ["/nowhere", 404],
    ["/images%20of%20nuclei", 404],
    ["/assets/none.js", 404],
    ["/dataset/download/ark:99999/none", 404],
    ["/token", 405],
    ["/%ff", 400],
    ["/ark:99999/none", 404],
    ["/rocrate/upload/status/none", 401],
    ["/view/ark:99999/none", 404],
    ["/.well-known/security.txt", 404],
  ])("is a page, and JSON for programs: %s", async (path, status) => {
    const page = await plain(path, { Accept: BROWSER });
    expect([path, page.status, page.headers["content-type"]]).toEqual([
      path,
      status,
      "text/html; charset=utf-8",
    ]);
    expect(page.body.toString()).toContain("<h1>");
    expect(page.body.toString()).not.toMatch(/undefined|\[object/);
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
    expect(page.headers.vary).toContain("Accept");
    for (const accept of ["*/*", "application/json"]) {
      const answer = await plain(path, { Accept: accept });
      expect([answer.status, answer.headers["content-type"]]).toEqual([status, "application/json"]);
      expect(JSON.parse(answer.body.toString())).toHaveProperty("detail");
    }
  });

  it("for an unknown path links to the search for its words", async () => {
    const page = (await plain("/images%20of%20nuclei", { Accept: BROWSER })).body.toString();
    expect(page).toContain("There is no /images of nuclei here");
    const [, href] = /href="([^"]*)">Search for “images of nuclei”<\/a>/.exec(page)!;
    expect((await plain(href!, { Accept: BROWSER })).status).toBe(200);
  });

  it("shows all text of the address escaped", async () => {
    expect(
      (await plain("/%3Cscript%3Ealert(1)%3C/script%3E", { Accept: BROWSER })).body.toString(),
    ).not.toContain("<script>alert");
  });
});
