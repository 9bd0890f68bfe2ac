import { readdir } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

const LIMIT = 256 << 10;
let server: TestServer;
let ada: Person;
const rejections: unknown[] = [];
const note = (reason: unknown): void => void rejections.push(reason);
beforeAll(async () => {
  process.on("unhandledRejection", note);
  server = await startServer({ MAX_UPLOAD_BYTES: "256K", UPLOAD_WAIT: "20s" });
  ada = await server.person("ada");
});
afterAll(async () => {
  process.off("unhandledRejection", note);
  await server.stop();
});

/**
 * Files below the folder of objects, staged ones included. Something may go while the folders are
 * read: then they are read again.
 */
async function files(): Promise<string[]> {
  const found = await readdir(join(server.deps.config.DATA_DIR, "objects"), {
    recursive: true,
    withFileTypes: true,
  }).catch((error: NodeJS.ErrnoException) =>
    error.code === "ENOENT" ? undefined : Promise.reject(error),
  );
  if (!found) return files();
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
async function settled(before: string[]): Promise<void> {
  // The server may not have read yet what was sent last: the folder has to stay as it was for a
  // while.
  for (let round = 0, calm = 0; round < 250 && calm < 8; round++) {
    calm = isDeepStrictEqual(await files(), before) ? calm + 1 : 0;
    await sleep(20);
  }
  expect(await files()).toEqual(before);
  expect(server.faults).toEqual([]);
  expect(rejections).toEqual([]);
}

const part = (name: string, content: string, filename?: string) =>
  `--b\r\nContent-Disposition: form-data; ` +
  `name="${name}"${filename === undefined ? "" : `; filename="${filename}"\r\nContent-Type: application/zip`}\r\n` +
  `\r\n${content}\r\n`;
const CLOSE = "--b--\r\n";
const FORM = { "Content-Type": "multipart/form-data; boundary=b" };
const upload = (body: string | Buffer, path = "/rocrate/upload-async") =>
  server.request<{
    code?: string;
    detail?: { loc: string[]; type: string }[] | string;
    submissionUUID?: string;
  }>("POST", path, { token: ada.token, headers: FORM, body });

/** A request that is begun and not ended. */
function begin(
  path: string,
  length: number | "chunked",
  first: string,
  headers: string[] = [],
): Promise<{ socket: Socket; answer(): string }> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1", () => {
      const head = [
        `POST ${path} HTTP/1.1`,
        "Host: x",
        `Authorization: Bearer ${ada.token}`,
        "Content-Type: multipart/form-data; boundary=b",
        length === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`,
        ...headers,
        "",
        "",
      ].join("\r\n");
      socket.write(head + first, () => resolve({ socket, answer: () => answer }));
    });
    socket.on("data", (chunk) => (answer += chunk.toString("latin1"))).on("error", reject);
  });
}

describe.each(["/rocrate/upload-async", "/rocrate/upload"])("POST %s", (path) => {
  it("without the file is a 422 that names the field, and stores nothing", async () => {
    const before = await files();
    const missing = { msg: "Field required", type: "missing" };
    const text = {
      msg: "Value error, Expected UploadFile, received: <class 'str'>",
      type: "value_error",
    };
    for (const [body, item] of [
      [CLOSE, missing],
      [part("other", "x") + CLOSE, missing],
      [part("file", "as text, not as a file") + CLOSE, text],
      [part("wrong", "PK", "a.zip") + CLOSE, missing],
    ] as const) {
      const answer = await upload(body, path);
      expect([answer.status, answer.body.detail]).toEqual([
        422,
        [{ loc: ["body", "file"], ...item }],
      ]);
    }
    expect((await server.request("POST", path, { token: ada.token })).status).toBe(422);
    await settled(before);
  });
  it("that is no form is a 400 or 415, and needs a token", async () => {
    const before = await files();
    expect(
      (
        await server.request("POST", path, {
          token: ada.token,
          headers: { "Content-Type": "multipart/form-data" },
          body: "x",
        })
      ).status,
    ).toBe(400);
    expect((await upload("no boundary here", path)).status).toBe(400);
    expect((await upload(part("file", "PK", "a.zip"), path)).status).toBe(400);
    expect(
      (
        await server.request("POST", path, {
          headers: FORM,
          body: part("file", "PK", "a.zip") + CLOSE,
        })
      ).status,
    ).toBe(401);
    await settled(before);
  });
  it("of a file that is too large is answered with 413 while it is being sent", async () => {
    const before = await files();
    for (const length of [100 << 20, "chunked"] as const) {
      const head = part("file", "", "a.zip").slice(0, -2);
      const chunk = "x".repeat(64 << 10);
      const framed = (text: string) =>
        length === "chunked" ? `${text.length.toString(16)}\r\n${text}\r\n` : text;
      const { socket, answer } = await begin(path, length, framed(head));
      for (let sent = 0; sent <= LIMIT && answer() === ""; sent += chunk.length)
        socket.write(framed(chunk));
      await expect.poll(answer).toContain("MAX_UPLOAD_BYTES");
      expect(answer()).toMatch(/^HTTP\/1\.1 413 /);
      socket.destroy();
    }
    await settled(before);
  });
  it("that the client aborts leaves nothing behind, at any point", async () => {
    const before = await files();
    const whole = part("note", "text") + part("file", "x".repeat(20_000), "a.zip");
    for (const cut of [
      1,
      30,
      60,
      part("note", "text").length + 20,
      part("note", "text").length + 150,
      5_000,
      whole.length,
    ]) {
      for (const how of ["destroy", "reset"] as const) {
        const { socket } = await begin(path, 100_000, whole.slice(0, cut));
        await sleep(10);
        if (how === "reset") socket.resetAndDestroy();
        else socket.destroy();
      }
    }
    await settled(before);
  });
  it("accepts the file with any unknown parts", async () => {
    const answer = await upload(
      part("note", "x") +
        part("other", "not this", "o.bin") +
        part("crate", "no zip at all", "a.zip") +
        part("note", "again") +
        part("after", "y", "b.bin") +
        CLOSE,
      path,
    );
    if (path.endsWith("async"))
      expect([answer.status, typeof answer.body.submissionUUID]).toEqual([200, "string"]);
    else
      expect([answer.status, answer.body.detail![0]]).toMatchObject([
        422,
        { loc: ["body", "file", expect.anything(), expect.anything()] },
      ]);
    expect(server.faults).toEqual([]);
  });
});

const SECOND =
  "Value error, A request may contain only one file: send each file in a request of its own";
const TWICE = "Value error, The field occurs twice: send it once";
/** Enough that the first file is stored, or waits to be, before the second one comes. */
const LONG = "x".repeat(100_000);

describe("a part that may occur once", () => {
  const submissions = async () =>
    (await server.request<unknown[]>("GET", "/rocrate/upload/status", { token: ada.token })).body
      .length;
  it.each(["/rocrate/upload-async", "/rocrate/upload", "/rocrate/validate"])(
    "is refused when it occurs twice in %s, by its name, and nothing is stored",
    async (path) => {
      const before = [await files(), await submissions()] as const;
      for (const [first, second] of [
        ["file", "file"],
        ["crate", "crate"],
        ["file", "crate"],
      ] as const) {
        for (const between of ["", part("note", LONG)]) {
          const answer = await upload(
            part(first, `${LONG}${path}`, "a.zip") +
              between +
              part(second, "another", "b.zip") +
              CLOSE,
            path,
          );
          expect([answer.status, answer.body.detail]).toEqual([
            422,
            [{ loc: ["body", second], msg: SECOND, type: "value_error" }],
          ]);
        }
      }
      const text = await upload(
        part("file", LONG, "a.zip") + part("file", "as text") + CLOSE,
        path,
      );
      expect([text.status, text.body.detail]).toMatchObject([422, [{ loc: ["body", "file"] }]]);
      expect(await submissions()).toBe(before[1]);
      await settled(before[0]);
    },
  );
  it(
    "is refused where a record is registered, uploaded or checked with it, and the " +
      "record is unchanged",
    async () => {
      const document = bodyOf("datadownload", ada.id);
      const record = part("download", JSON.stringify(document));
      const ark = (
        await server.request<{ "@id": string }>("POST", "/download", {
          token: ada.token,
          json: document,
        })
      ).body["@id"];
      const before = await files();
      for (const [path, body, item] of [
        [
          "/register",
          record + part("file", LONG, "a") + part("file", "b", "b"),
          { loc: ["body", "file"], msg: SECOND },
        ],
        [
          "/register",
          record + part("file", LONG, "a") + record,
          { loc: ["body", "download"], msg: TWICE },
        ],
        [
          "/register",
          record + record + part("file", LONG, "a"),
          { loc: ["body", "download"], msg: TWICE },
        ],
        [
          `/datadownload/${ark}/upload`,
          part("file", LONG, "a") + part("file", "b", "b"),
          { loc: ["body", "file"], msg: SECOND },
        ],
      ] as const) {
        const answer = await upload(body + CLOSE, path);
        expect([path, answer.status, answer.body.detail]).toEqual([
          path,
          422,
          [{ ...item, type: "value_error" }],
        ]);
      }
      expect(
        (await server.request<{ contentUrl?: string }>("GET", `/datadownload/${ark}`)).body
          .contentUrl ?? null,
      ).toBe(null);
      await settled(before);
    },
  );
  it("is stored, if it is a file, only when the whole form has arrived", async () => {
    const before = await files();
    const { socket } = await begin(
      "/rocrate/upload-async",
      1_000_000,
      part("file", LONG, "a.zip") + part("note", LONG),
    );
    await sleep(100);
    socket.destroy();
    await settled(before);
  });
  it("is not hidden behind more parts than are read", async () => {
    const before = await files();
    for (const [round, many] of [
      part("note", "x", "x").repeat(21),
      part("note", "x").repeat(101),
    ].entries()) {
      const answer = await upload(part("file", `no zip ${round}`, "a.zip") + many + CLOSE);
      expect([answer.status, answer.body]).toMatchObject([
        400,
        { code: "BAD_REQUEST", detail: expect.stringContaining("too many parts") },
      ]);
    }
    await settled(before);
  });
});

describe("a crate over GraphQL", () => {
  const operations =
    part(
      "operations",
      JSON.stringify({
        query:
          "mutation ($f: Upload!) { uploadCrate(input: { source: { archive: $f } }) { submission { id } } }",
        variables: { f: null },
      }),
    ) + part("map", JSON.stringify({ 0: ["variables.f"] }));
  const send = (body: string | Buffer, token: string | undefined = ada.token) =>
    server.request<{
      data?: { uploadCrate: { submission: { id: string } } };
      errors?: { extensions: { code: string }; message: string }[];
    }>("POST", "/graphql", {
      ...(token === "" ? {} : { token }),
      headers: { ...FORM, "apollo-require-preflight": "1" },
      body,
    });
  it("is ingested, is refused beyond the limit by name, and is not started without a token", async () => {
    const done = await send(operations + part("0", "again no zip", "a.zip") + CLOSE);
    expect(typeof done.body.data!.uploadCrate.submission.id).toBe("string");
    const large = await send(operations + part("0", "x".repeat(LIMIT + 10), "a.zip") + CLOSE);
    expect(large.body.errors![0]!.extensions.code).toBe("TOO_LARGE");
    expect(large.body.errors![0]!.message).toContain("MAX_UPLOAD_BYTES");
    expect((await send(operations + part("0", "x", "a.zip") + CLOSE, "")).status).toBe(401);
    expect(server.faults).toEqual([]);
  });
  it("is refused with a second file, or a second of its other parts, and nothing is stored", async () => {
    const before = await files();
    const map = part("map", JSON.stringify({ 0: ["variables.f"] }));
    const two = part("map", JSON.stringify({ 0: ["variables.f"], 1: ["variables.g"] }));
    const file = part("0", `${LONG} over GraphQL`, "a.zip");
    for (const [body, loc, msg] of [
      [operations + file + part("1", "another", "b.zip"), ["form", "1"], SECOND],
      [operations + part("other", "first", "b.zip") + file, ["form", "0"], SECOND],
      [operations + file + file, ["form", "0"], SECOND],
      [operations + file + map, ["form", "map"], TWICE],
      [operations + map + file, ["form", "map"], TWICE],
      [operations.replace(map, two) + file + part("1", "b", "b.zip"), ["form", "map"], undefined],
    ] as const) {
      const { body: answer } = await send(body + CLOSE);
      expect([answer.data?.uploadCrate, answer.errors]).toMatchObject([
        undefined,
        [
          {
            extensions: {
              code: "VALIDATION",
              detail: [{ loc, type: "value_error", ...(msg ? { msg } : {}) }],
            },
          },
        ],
      ]);
    }
    await settled(before);
  });
  it("that is aborted leaves nothing behind", async () => {
    const before = await files();
    const whole = operations + part("0", "x".repeat(20_000), "a.zip");
    const cuts = [
      10,
      100,
      operations.length - 5,
      operations.length + 100,
      operations.length + 15_000,
    ];
    for (const [round, cut] of [...cuts, ...cuts, ...cuts, ...cuts].entries()) {
      const { socket } = await begin("/graphql", 100_000, whole.slice(0, cut), [
        "apollo-require-preflight: 1",
      ]);
      // Also in the moments before anyone reads the file.
      await sleep(round % 7);
      socket.destroy();
    }
    await settled(before);
  });
});
