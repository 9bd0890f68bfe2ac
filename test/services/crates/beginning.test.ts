import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { beginningOf } from "../../../src/services/crates/submissions.js";

describe("the beginning of an upload", () => {
  it.each([
    ["an archive", "PK\u0003\u0004 and more", false],
    ["a document", '  {"@graph": []}', true],
    ["a document with a byte order mark", "\uFEFF{}", true],
    ["nothing", "", false],
  ])("is that of %s, and all bytes are still to be read", async (_name, text, isJson) => {
    const looked = await beginningOf(Readable.from(text === "" ? [] : [Buffer.from(text)]));
    expect(looked.isJson).toBe(isJson);
    expect((await buffer(looked.stream)).toString()).toBe(text);
  });

  // A form can break off while the crate to be updated is looked up.
  it("fails at once where the upload failed before anybody looked", async () => {
    const stream = new PassThrough();
    stream.on("error", () => undefined).destroy(new Error("broken off"));
    await new Promise((resolve) => stream.once("close", resolve));
    await expect(beginningOf(stream)).rejects.toThrow("broken off");
  });

  it.each([
    ["before", true],
    ["while", false],
  ])("fails where the upload is closed %s its beginning is read", async (_when, before) => {
    const stream = new PassThrough();
    if (before) {
      stream.destroy();
      await once(stream, "close");
    }
    const looked = beginningOf(stream);
    stream.destroy();
    await expect(looked).rejects.toThrow("Premature close");
  });
});
