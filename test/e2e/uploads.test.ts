import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { crate, zip } from "../support/crates.js";
import type { User } from "../support/registry-client.js";
import { startRegistry, type RegistryUnderTest } from "../support/under-test.js";

const LIMIT = 300_000;
let registry: RegistryUnderTest;
let ada: User;
beforeAll(async () => {
  registry = await startRegistry({ env: { MAX_UPLOAD_BYTES: String(LIMIT) } });
  ada = await registry.user("Ada");
});
afterAll(() => registry?.stop());

/** Nothing may be left of an upload that was not accepted; its end may take a moment to be seen. */
const nothingStaged = (): Promise<void> => expect.poll(() => registry.staging()).toEqual([]);

/** Begins an upload by hand and answers its socket, once the registry has some of the file. */
async function beginUpload(path: string, sized: boolean) {
  const { hostname, port } = new URL(registry.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  const part =
    `--b\r\nContent-Disposition: form-data; name="file"; filename="crate.zip"\r\n` +
    `Content-Type: application/zip\r\n\r\n${"x".repeat(100_000)}`;
  const length = sized ? "Content-Length: 200000" : "Transfer-Encoding: chunked";
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${ada.token}\r\n` +
      `Content-Type: multipart/form-data; boundary=b\r\n${length}\r\n\r\n`,
  );
  socket.write(sized ? part : `${part.length.toString(16)}\r\n${part}\r\n`);
  await expect.poll(() => registry.staging(), { timeout: 120_000 }).toHaveLength(1);
  return socket;
}

describe("an upload that breaks off", () => {
  test.each([
    ["/rocrate/upload-async", true],
    ["/rocrate/upload-async", false],
    ["/rocrate/upload", true],
  ])("leaves nothing behind: %s, length stated: %s", async (path, sized) => {
    const socket = await beginUpload(path, sized);
    socket.destroy();
    await nothingStaged();
    expect((await registry.ask("/healthz")).status).toBe(200);
    expect(registry.log).not.toMatch(/fault|unhandled/i);
  });

  test("leaves nothing behind when the form ends before the file does", async () => {
    const body =
      '--b\r\nContent-Disposition: form-data; name="file"; filename="c.zip"\r\n\r\nhalf a file';
    const answer = await registry.ask("/rocrate/upload-async", {
      token: ada.token,
      body,
      headers: { "Content-Type": "multipart/form-data; boundary=b" },
    });
    expect(answer).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
    await nothingStaged();
  });
});

describe("an upload that is refused at once", () => {
  test("has no file: 422 at the field", async () => {
    const form = new FormData();
    form.set("other", "text");
    const answer = await registry.ask("/rocrate/upload-async", { token: ada.token, body: form });
    expect(answer).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "file"], type: "missing" }] },
    });
  });

  test("is too large: 413 naming the setting", async () => {
    const answer = await registry.upload(Buffer.alloc(LIMIT + 1), ada.token);
    expect(answer).toMatchObject({
      status: 413,
      body: { code: "TOO_LARGE", detail: expect.stringContaining("MAX_UPLOAD_BYTES") },
    });
    await nothingStaged();
  });

  test("is no form: 415", async () => {
    expect(
      (
        await registry.ask("/rocrate/upload-async", {
          token: ada.token,
          body: "PK",
          headers: { "Content-Type": "application/zip" },
        })
      ).status,
    ).toBe(415);
  });
});

describe("an archive that is no crate", () => {
  const archives: [string, () => Promise<Buffer>, string][] = [
    ["no metadata file", () => zip({ "readme.txt": "nothing else" }), "NO_METADATA"],
    ["no zip", async () => Buffer.from("this is no zip archive"), "NOT_A_ZIP"],
    ["nothing", async () => Buffer.alloc(0), "NOT_A_ZIP"],
    ["metadata that is no JSON", () => zip({ "ro-crate-metadata.json": "{" }), "json_invalid"],
    [
      "a file that is described and missing",
      () => crate([{ "@id": "gone.txt", "@type": "File", name: "gone" }]),
      "FILE_MISSING",
    ],
  ];
  test.each(archives)(
    "ends as a failed submission with its code and no record: %s",
    async (_, archive, code) => {
      const before = await registry.recordCount();
      const submission = await registry.take(await archive(), ada.token);
      expect(submission).toMatchObject({
        status: "failed",
        completed: true,
        success: false,
        rocrateIdentifier: null,
      });
      expect(submission["error"].map((error: { code: string }) => error.code)).toContain(code);
      expect(await registry.recordCount()).toBe(before);
    },
  );

  test("is a 422 over the upload that waits", async () => {
    const answer = await registry.upload(await zip({ "other.txt": "nothing" }), ada.token, {
      path: "/rocrate/upload",
    });
    expect(answer).toMatchObject({
      status: 422,
      body: {
        detail: [
          { loc: ["body", "file", expect.any(String), expect.any(String)], type: "NO_METADATA" },
        ],
      },
    });
  });

  test("may be sent again: a failed submission does not prevent it", async () => {
    const archive = await zip({ "again.txt": "nothing" });
    const [first, second] = [
      await registry.take(archive, ada.token),
      await registry.take(archive, ada.token),
    ];
    expect(second["submissionUUID"]).not.toBe(first["submissionUUID"]);
  });
});
