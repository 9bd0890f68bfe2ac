import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { crate } from "../support/crates.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

const send = (disposition: string, more: object = {}) => {
  const record = JSON.stringify({ ...bodyOf("datadownload", ada.id), ...more });
  return server.request("POST", "/register", {
    token: ada.token,
    headers: { "Content-Type": "multipart/form-data; boundary=b" },
    body:
      `--b\r\nContent-Disposition: form-data; name="file"; ${disposition}\r\n` +
      "Content-Type: text/plain\r\n\r\n0123456789\r\n" +
      `--b\r\nContent-Disposition: form-data; name="download"\r\n\r\n${record}\r\n--b--\r\n`,
  });
};
const detailOf = ({ body }: { body: object }): string => JSON.stringify(body);

describe("a range of a stored file", () => {
  let path: string;
  beforeAll(async () => {
    const made = await send('filename="digits.txt"');
    expect(made.status, made.text).toBe(200);
    path = `/download/${String(made.body["@id"])}`;
  });

  it.each([
    ["bytes=2-4", 206, "bytes 2-4/10"],
    ["bytes=10-", 416, "bytes */10"],
    ["bytes=9223372036854775807-", 416, "bytes */10"],
    ["bytes=9223372036854775808-", 416, "bytes */10"],
    [`bytes=${"9".repeat(400)}-`, 416, "bytes */10"],
    [`bytes=0-${"9".repeat(400)}`, 206, "bytes 0-9/10"],
    [`bytes=-${"9".repeat(400)}`, 206, "bytes 0-9/10"],
    ["bytes=4-2", 200, null],
  ])("%s is answered %d", async (range, status, sent) => {
    const answer = await server.request("GET", path, {
      token: ada.token,
      headers: { Range: range },
    });
    expect([answer.status, answer.headers.get("content-range")]).toEqual([status, sent]);
  });

  it.each(["bytes=2-4", "bytes=10-"])("is ignored by HEAD: %s", async (range) => {
    const { status, headers } = await server.request("HEAD", path, {
      token: ada.token,
      headers: { Range: range },
    });
    expect([status, headers.get("content-length"), headers.get("content-range")]).toEqual([
      200,
      "10",
      null,
    ]);
  });
});

describe("the name of an uploaded file", () => {
  it.each([
    "filename*=UTF-8''%ff%zz",
    "filename*=nonsense",
    "filename*=UTF-8''",
    "filename*=klingon''a.txt",
  ])("that cannot be read is named in the refusal: %s", async (disposition) => {
    const answer = await send(disposition);
    if (answer.status === 200) return;
    expect(answer.status).toBe(422);
    expect(detailOf(answer)).toContain("filename*");
  });

  it.each(["\u202e", "\u2066", "\u0085", "\u200f"])("holds no %j", async (character) => {
    const made = await send(`filename="a${character}txt.exe"`);
    expect(made.status, made.text).toBe(200);
    const { headers } = await server.request("GET", `/download/${String(made.body["@id"])}`, {
      token: ada.token,
    });
    expect(headers.get("content-disposition")).toContain("filename*=UTF-8''a_txt.exe");
  });
});

describe("a file that is not as it was described", () => {
  it.each([{ contentSize: "11" }, { sha256: "0".repeat(64) }])(
    "is named in the refusal: %j",
    async (claim) => {
      const answer = await send('filename="digits.txt"', claim);
      expect(answer.status).toBe(422);
      expect(detailOf(answer)).toContain("digits.txt");
    },
  );

  it("is named among the findings of a crate", async () => {
    const entity = { "@id": "a.csv", "@type": "File", name: "A", sha256: "0".repeat(64) };
    const archive = await crate([entity], { "a.csv": "1" });
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
    const answer = await server.request("POST", "/rocrate/upload", {
      token: ada.token,
      body: form,
    });
    expect(answer.status).toBe(422);
    expect(detailOf(answer)).toMatch(/DIGEST_MISMATCH/);
    expect(detailOf(answer)).toMatch(/sha256 of [^"]*"?\\?"?a\.csv/);
  });
});
