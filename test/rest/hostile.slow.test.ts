import { connect } from "node:net";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
let ark: string;
const rejections: unknown[] = [];
const note = (reason: unknown): void => void rejections.push(reason);
beforeAll(async () => {
  process.on("unhandledRejection", note);
  server = await startServer({ MAX_BODY_BYTES: "64K", MAX_UPLOAD_BYTES: "64K" });
  ada = await server.person("ada");
  ark = String(
    (
      await server.request("POST", "/dataset", {
        token: ada.token,
        json: bodyOf("dataset", ada.id),
      })
    ).body["@id"],
  );
});
afterAll(async () => {
  process.off("unhandledRejection", note);
  await server.stop();
});

/** Sends bytes and waits for an answer, or until nothing comes. */
function raw(bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    let answer = "";
    const end = () => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(2500, end);
    socket
      .on("data", (chunk) => {
        answer += chunk.toString("latin1");
        if (answer.includes("\r\n\r\n")) end();
      })
      .on("close", () => resolve(answer))
      .on("error", () => resolve(answer));
    socket.end(bytes);
  });
}

const KINDS = [
  "user",
  "group",
  "organization",
  "project",
  "software",
  "dataset",
  "computation",
  "evidencegraph",
  "schema",
  "rocrate",
  "datadownload",
  "nothing",
  "graphql",
  "token",
  "view",
  "download",
];
const hostile = fc.constantFrom(
  "%00",
  "%",
  "%ff",
  "..",
  "%2e%2e",
  "//",
  "\\",
  "'",
  '"',
  "<script>",
  "${x}",
  "%0d%0aX: y",
  "ark:",
  "ark:/",
  "ark:99999",
  "ark:99999/x",
  "history",
  "é",
  "%F0%9F%98%80",
  "__proto__",
  "constructor",
  "[",
  "]",
  ";",
  "|",
  "*",
  "?",
  "#",
  "x".repeat(3000),
  "%ed%a0%80",
  "api",
  "assets",
  "\u007f",
);
const segment = fc.oneof(
  fc.constantFrom(...KINDS),
  hostile,
  fc.string({ maxLength: 8 }).map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constant("KNOWN"),
);
const paths = fc.array(segment, { maxLength: 5 }).map((parts) => `/${parts.join("/")}`);
const parameters = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        "limit",
        "cursor",
        "order",
        "name",
        "owner",
        "keyword",
        "revision",
        "direction",
        "depth",
        "reason",
        "successor",
        "query",
        "variables",
        "update",
        "x",
      ),
      fc.oneof(
        hostile,
        fc.string({ maxLength: 6 }).map((text) => encodeURIComponent(text.toWellFormed())),
        fc.integer().map(String),
      ),
    ),
    { maxLength: 3 },
  )
  .map((pairs) =>
    pairs.length === 0 ? "" : `?${pairs.map(([name, value]) => `${name}=${value}`).join("&")}`,
  );
const methods = fc.constantFrom(
  "GET",
  "GET",
  "POST",
  "PUT",
  "DELETE",
  "HEAD",
  "PATCH",
  "OPTIONS",
  "TRACE",
);
const headerValue = fc.oneof(
  fc.stringMatching(/^[ -~]{0,40}$/),
  fc.constantFrom(
    "*/*;q=x",
    ",,,",
    "bytes=-",
    "bytes=99999999999999999999-",
    '"1-0"',
    "Bearer",
    "Bearer TOKEN",
    "Bearer a.b.c",
    "text/html",
    "multipart/form-data",
    "multipart/form-data; boundary=x",
    "application/json",
    "application/x-www-form-urlencoded",
    'application/json; charset="',
    "0",
    "gzip",
    "100-continue",
  ),
);
const headers = fc.array(
  fc.tuple(
    fc.constantFrom(
      "Accept",
      "Authorization",
      "Authorization",
      "Content-Type",
      "Content-Type",
      "Content-Type",
      "If-Match",
      "If-None-Match",
      "Range",
      "If-Range",
      "Cookie",
      "Origin",
      "X-Forwarded-Host",
      "Content-Encoding",
      "Expect",
      "apollo-require-preflight",
      "X-Http-Method-Override",
    ),
    headerValue,
  ),
  { maxLength: 5 },
);
const bodies = fc.oneof(
  fc.constant(""),
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.json(),
  fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
  fc.constantFrom(
    "{",
    "[".repeat(60_000),
    `{"@id":"ark:99999/x","__proto__":{}}`,
    `{"query":"{me{id}}"}`,
    `{"query":"{record(id:\\"ark:99999/a\\"){document}}"}`,
    "username=a&password=b",
    '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nPK',
    "--x--\r\n",
    '{"owner":{"@id":5}}',
    '{"@context":{"@base":"\\u0001"}}',
  ),
  fc
    .dictionary(
      fc.constantFrom(
        "@id",
        "@type",
        "@context",
        "name",
        "description",
        "owner",
        "members",
        "datasets",
        "keywords",
        "license",
        "usedDataset",
        "properties",
        "x",
        "__proto__",
        "@graph",
        "@reverse",
        "@included",
      ),
      fc.oneof(
        fc.jsonValue(),
        fc.constantFrom("evi:Dataset", "ADA", "KNOWN", "ark:99999/", "long enough text"),
      ),
      { maxKeys: 8 },
    )
    .map((more) =>
      JSON.stringify({
        "@type": "evi:Dataset",
        name: "n",
        description: "long enough",
        owner: "ADA",
        ...more,
      }),
    ),
);
const requests = fc.record({
  method: methods,
  path: paths,
  query: parameters,
  headers,
  body: bodies,
  known: fc.boolean(),
});
const filled = (text: string) =>
  text.replaceAll("KNOWN", ark).replaceAll("ADA", ada.id).replaceAll("TOKEN", ada.token);

describe("any request", () => {
  it("is answered below 500, leaves nothing unhandled, and the registry goes on", async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(requests, { minLength: 1, maxLength: 8 }), async (batch) => {
        await Promise.all(
          batch.map(async ({ method, path, query, headers: sent, body, known }) => {
            const bytes = Buffer.from(filled(body), "utf8");
            const extra = known
              ? [
                  ["Authorization", "Bearer TOKEN"],
                  ["Content-Type", "application/json"],
                ]
              : [];
            const head = [
              `${method} ` +
                `${filled(path + query).replace(/[\s\u0080-\uffff\u007f]/g, encodeURIComponent)} ` +
                "HTTP/1.1",
              "Host: x",
              "Connection: close",
              `Content-Length: ${bytes.length}`,
              ...[...sent, ...extra].map(([name, value]) => `${name}: ${filled(value!)}`),
              "",
              "",
            ].join("\r\n");
            const answer = await raw(Buffer.concat([Buffer.from(head, "utf8"), bytes]));
            const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
            if (!Number.isNaN(status)) answered++;
            if (status >= 500)
              expect.fail(
                `${head}${body.slice(0, 300)} → ${answer.slice(0, 600)} ` +
                  JSON.stringify(
                    server.faults.map(({ fields }) =>
                      String((fields as { err?: Error }).err?.stack),
                    ),
                  ),
              );
          }),
        );
        expect(
          server.faults.map(({ fields }) => String((fields as { err?: Error }).err?.stack)),
        ).toEqual([]);
      }),
      { numRuns: 10_000, interruptAfterTimeLimit: 5_000, markInterruptAsFailure: false },
    );
    expect(answered).toBeGreaterThan(200);
    expect(rejections).toEqual([]);
    expect((await server.request("GET", "/healthz")).body["status"]).toBe("healthy");
    expect((await server.request("GET", `/${ark}`)).status).toBeLessThan(500);
  });
});
