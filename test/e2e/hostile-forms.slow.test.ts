import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  buildSchema,
  getNamedType,
  type GraphQLInputObjectType,
  isInputObjectType,
  isRequiredInputField,
} from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { OPERATIONS } from "../support/contract.js";
import type { ContractOperation } from "../support/contract.js";
import { bodyOf } from "../support/bodies.js";
import type { User } from "../support/registry-client.js";
import { RegistryProcess } from "../support/registry-process.js";

// Forms and streams are read in callbacks, and what a callback throws ends a process. The registry
// is a process of its own here, which must stay alive.

const LONG = "x".repeat(9_000);
/** NAAN and name of identifiers; most are none. */
const IDENTIFIERS: readonly (readonly [naan: string, name: string])[] = [
  ["0", "0"],
  ["", ""],
  ["12345", ""],
  ["99999", LONG],
  ["9".repeat(300), "x"],
  ["99999", "%00"],
  ["99999", "%25"],
  ["99999", "%2F%2F%2F"],
  ["99999", "a b"],
  ["99999", "%E2%80%AE"],
  ["99999", "__proto__"],
  ["99999", "nothing-here"],
  ["9999z", "x"],
];

const part = (head: string, content = "1,2\n"): string =>
  `--b\r\nContent-Disposition: form-data${head}\r\n\r\n${content}\r\n`;
const file = (name: string): string =>
  `; name="${name}"; filename="t.csv"\r\nContent-Type: text/csv`;
const END = "--b--\r\n";
/** Forms by what is wrong with them; `FIELD` is the name of a part that the operation reads. */
const FORMS: Readonly<Record<string, string>> = {
  "a file": part(file("FIELD")) + END,
  "a text": part(`; name="FIELD"`) + END,
  "two files": part(file("FIELD")).repeat(2) + END,
  "an unknown file": part(file("__proto__")) + END,
  "a part without a name": part("") + END,
  "a part without a disposition": `--b\r\nX: y\r\n\r\n1\r\n${END}`,
  "a header without an end": `--b\r\nContent-Disposition: form-data; name="FIELD`,
  "a file name that is malformed":
    part(`; name="FIELD"; filename*=UTF-8''%ff%zz\r\nContent-Type: text/csv`) + END,
  "a file name of controls":
    part(`; name="FIELD"; filename="a\u202e\u0000/../b"\r\nContent-Type: text/csv`) + END,
  "a part that does not end": part(file("FIELD")),
  "nothing but the end": END,
  "no part at all": "",
  "forty files": part(file("other")).repeat(40) + END,
  "no form": "PK\u0003\u0004 and no more",
};

/** Reads a multipart form, or a body that is stored while it arrives. */
const streams = ({ body = {}, operationId }: ContractOperation): boolean =>
  "multipart/form-data" in body || operationId === "create_crate_metadata";
const READERS = OPERATIONS.filter(streams);

/** A mutation of each field of the GraphQL schema that takes a file, with `$file` in its place. */
const SCHEMA = buildSchema(readFileSync(join(packageRoot, "graphql/schema.graphql"), "utf8"));
/** An input with the file in it, where it takes one; what else it requires is empty. */
function withFile(type: GraphQLInputObjectType): string | undefined {
  const fields = Object.values(type.getFields());
  const values = fields.map((field): [name: string, file: string | undefined, value: string] => {
    const inner = getNamedType(field.type);
    const file =
      inner.name === "Upload" ? "$file" : isInputObjectType(inner) ? withFile(inner) : undefined;
    const empty = isInputObjectType(inner) ? "{}" : '"ark:0/0"';
    return [field.name, file, file ?? (isRequiredInputField(field) ? empty : "")];
  });
  if (values.every(([, file]) => file === undefined)) return undefined;
  const given = values.filter(([, , value]) => value !== "");
  return `{ ${given.map(([name, , value]) => `${name}: ${value}`).join(", ")} }`;
}
const UPLOADS = Object.values(SCHEMA.getMutationType()!.getFields()).flatMap(
  ({ name, args }): [string, object][] => {
    const input = withFile(getNamedType(args[0]!.type) as GraphQLInputObjectType);
    const query = `mutation ($file: Upload!) { ${name}(input: ${input}) { __typename } }`;
    return input === undefined ? [] : [[query, { file: null }]];
  },
);

let registry: RegistryProcess;
let ada: User;
let download: string;
let session: { cookie: string; csrf: string };
beforeAll(async () => {
  registry = await RegistryProcess.start({ env: { WRITE_RATE: "off", UPLOAD_WAIT: "2s" } });
  ada = await registry.user();
  const made = await registry.ask("/datadownload", {
    token: ada.token,
    body: bodyOf("datadownload", ada.ark),
  });
  download = String(made.body["@id"]);
  const started = await registry.ask("/session", {
    body: { username: ada.email, password: ada.password },
    headers: { Origin: new URL(registry.url).origin },
  });
  session = {
    cookie: started.headers
      .getSetCookie()
      .map((cookie) => cookie.split(";", 1)[0])
      .join("; "),
    csrf: String(started.body["csrf"]),
  };
});
afterAll(() => registry.stop());

interface Sent {
  method: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Sends a request as it is written, and returns the status; 0 where the connection only ended. */
function statusOf({ method, path, headers, body }: Sent): Promise<number> {
  return new Promise((resolve) => {
    let answer = "";
    const bytes = Buffer.from(body, "utf8");
    const socket = connect(Number(new URL(registry.url).port), "127.0.0.1", () => {
      const lines = Object.entries({ Host: "x", Connection: "close", ...headers });
      socket.write(
        `${method} ${path} HTTP/1.1\r\nContent-Length: ${bytes.length}\r\n` +
          `${lines.map((line) => line.join(": ")).join("\r\n")}\r\n\r\n`,
      );
      socket.write(bytes);
    });
    const end = (): void => {
      socket.destroy();
      resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0));
    };
    socket.setTimeout(20_000, end);
    socket
      .on("data", (chunk) => (answer += chunk.toString("latin1")))
      .on("close", end)
      .on("error", end);
  });
}

/** Sends each and expects an answer that is no fault, and a registry that goes on. */
async function survives(requests: readonly [what: string, sent: Sent][]): Promise<void> {
  const odd: string[] = [];
  for (const [what, sent] of requests) {
    const status = await statusOf(sent);
    if (!registry.alive) expect.fail(`${what} ended the process:\n${registry.log.slice(-3_000)}`);
    if (status === 0 || status >= 500) odd.push(`${what}: ${status}`);
  }
  expect(odd).toEqual([]);
  expect((await registry.ask("/healthz")).body["status"]).toBe("healthy");
  expect(registry.log).not.toMatch(/"level":(?:50|60)/);
}

const FORM = { "Content-Type": "multipart/form-data; boundary=b" };

describe("an error that no code catches", () => {
  let faulty: RegistryProcess;
  beforeAll(async () => {
    const module = pathToFileURL(join(packageRoot, "test/support/fault-at-event.mjs")).href;
    faulty = await RegistryProcess.start({ env: { NODE_OPTIONS: `--import=${module}` } });
  });
  afterAll(() => faulty.stop());

  it.each([
    ["a listener of the body", "data", 500],
    ["a listener of the end of the body", "end", 500],
    ["a listener of the answer", "finish", 401],
    ["a timer", "timer", 401],
    ["a promise", "rejection", 401],
  ])("in %s is logged with its stack, and the process lives", async (_where, kind, status) => {
    const { status: answered, body } = await faulty.ask("/token", {
      body: new URLSearchParams({ username: "nobody", password: "no password of anybody" }),
      headers: { "x-fault": kind },
    });
    expect(answered).toBe(status);
    if (status === 500) expect(body["code"]).toBe("INTERNAL");
    await expect.poll(() => faulty.log).toContain(`a fault of the kind ${kind}`);
    expect(faulty.log).toContain("fault-at-event.mjs");
    expect(faulty.log).not.toContain("secret");
    expect((await faulty.ask("/healthz")).body["status"]).toBe("healthy");
  });
});

describe("a form or stream that is malformed leaves the process alive", () => {
  it("knows the operations that read one", () =>
    expect(READERS.map(({ operationId }) => operationId).sort()).toMatchInlineSnapshot(`
      [
        "create_crate_metadata",
        "register_download",
        "upload_crate",
        "upload_crate_async",
        "upload_datadownload",
        "validate_crate",
        "validate_table",
      ]
    `));

  it.each(READERS.map((row) => [row.operationId, row] as const))(
    "%s",
    async (_name, row) => {
      const names = row.path.includes("{")
        ? IDENTIFIERS.map(([naan, name]) =>
            row.path.replace(/\{NAAN\}/, naan).replace(/\{\w+\}/, name),
          ).concat(row.path.replace(/ark:.*\}/, download))
        : [row.path, `${row.path}?update=true&crate=ark:0/0`, `${row.path}?update=maybe`];
      const field = row.operationId.includes("crate") ? "crate" : "file";
      const requests = names.flatMap((path) =>
        [undefined, ada.token].flatMap((token) =>
          Object.entries(FORMS).map(([what, form]): [string, Sent] => [
            `${what} to ${path.slice(0, 80)} ${token ? "with" : "without"} a token`,
            {
              method: row.method.toUpperCase(),
              path,
              headers: {
                ...(row.operationId === "create_crate_metadata"
                  ? { "Content-Type": "application/json" }
                  : FORM),
                ...(token ? { Authorization: `Bearer ${token}` } : {}),
              },
              body: form.replaceAll("FIELD", field),
            },
          ]),
        ),
      );
      await survives(requests);
    },
    600_000,
  );

  it("the form of the upload page", async () => {
    const paths = ["/upload", "/upload?crate=ark:0/0", `/upload?crate=ark:99999/${LONG}`];
    const token = part(`; name="csrf"`, session.csrf);
    await survives(
      paths.flatMap((path) =>
        Object.entries(FORMS).flatMap(([what, form]) =>
          ["", session.cookie].map((cookie): [string, Sent] => [
            `${what} to ${path.slice(0, 80)} ${cookie ? "with" : "without"} a session`,
            {
              method: "POST",
              path,
              headers: {
                ...FORM,
                Accept: "text/html",
                Origin: new URL(registry.url).origin,
                ...(cookie ? { Cookie: cookie } : {}),
              },
              body: token + form.replaceAll("FIELD", "file"),
            },
          ]),
        ),
      ),
    );
  }, 600_000);

  it("a multipart request to GraphQL", async () => {
    const maps = [
      '{"FIELD":["variables.file"]}',
      '{"FIELD":["variables.__proto__.x"]}',
      '{"FIELD":["constructor.prototype.x"]}',
      '{"FIELD":[""]}',
      '{"FIELD":[5]}',
      "{",
      "null",
      "[]",
      '"x"',
    ];
    expect(UPLOADS).toHaveLength(5);
    await survives(
      UPLOADS.flatMap(([query, variables]) =>
        maps.flatMap((map) =>
          Object.entries(FORMS).map(([what, form]): [string, Sent] => [
            `${what} for ${query.slice(0, 60)} with the map ${map}`,
            {
              method: "POST",
              path: "/graphql",
              headers: {
                ...FORM,
                "apollo-require-preflight": "1",
                Authorization: `Bearer ${ada.token}`,
              },
              body: (
                part(`; name="operations"`, JSON.stringify({ query, variables })) +
                part(`; name="map"`, map) +
                form
              ).replaceAll("FIELD", "0"),
            },
          ]),
        ),
      ),
    );
  }, 240_000);
});
