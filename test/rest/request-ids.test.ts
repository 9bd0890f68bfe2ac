import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../src/config.js";
import { serve, type Running } from "../../src/serve.js";
import { crate } from "../support/crates.js";
import { RegistryClient, type User } from "../support/registry-client.js";

const lines: { level: string; message: string; [field: string]: unknown }[] = [];
let folder: string;
let running: Running;
let client: RegistryClient;
let ada: User;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-ids-"));
  const write = (level: string) => (fields: object, message: string) => void lines.push({ level, message, ...fields });
  running = await serve(readConfig({ PORT: "0", DATA_DIR: folder, LOGIN_RATE: "off" }), { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") });
  client = new RegistryClient(running.url);
  ada = await client.user("Ada");
});
afterAll(async () => {
  await running?.stop();
  await rm(folder, { recursive: true, force: true });
});
const idOf = async (path: string, sent?: string) => (await client.ask(path, sent === undefined ? {} : { headers: { "X-Request-Id": sent } })).headers.get("x-request-id");

describe("a request's name", () => {
  it("is the one that came with it, or a new one, at every door", async () => {
    for (const path of ["/healthz", "/ark:99999/nothing", "/no/such/path", "/graphql?query=%7B__typename%7D", "/assets/none.js"]) {
      expect(await idOf(path, "proxy-0001.a"), path).toBe("proxy-0001.a");
      expect(await idOf(path), path).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect(await idOf("/healthz")).not.toBe(await idOf("/healthz"));
  });

  it("is a new one where what came is no name", async () => {
    for (const sent of ["a b", "x".repeat(129), '{"level":60}', "\u00e9", ""]) expect(await idOf("/healthz", sent), sent).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("stands in the log of the work that it asked for", async () => {
    const form = new FormData();
    form.set("file", new Blob([(await crate([])) as Uint8Array<ArrayBuffer>], { type: "application/zip" }), "crate.zip");
    const { body } = await client.ask("/rocrate/upload-async", { token: ada.token, body: form, headers: { "X-Request-Id": "upload-17" } });
    const id = body["submissionUUID"] as string;
    expect(await client.settled(id, ada.token)).toMatchObject({ status: "finished" });
    await expect.poll(() => lines.filter((line) => line["submission"] === id).map(({ message, request, type, attempt }) => [message, request, type, attempt])).toEqual([
      ["work on a submission begins", "upload-17", "crate", 1], ["work on a submission ended", "upload-17", "crate", 1],
    ]);
  });

  it("stands beside a fault", async () => {
    const { list } = running.registry.deps.records;
    running.registry.deps.records.list = () => Promise.reject(new Error("not foreseen"));
    const answer = await client.ask("/dataset", { headers: { "X-Request-Id": "fault-1" } }).finally(() => { running.registry.deps.records.list = list; });
    expect(answer.status).toBe(500);
    expect(lines.find((line) => line["request"] === "fault-1")).toMatchObject({ level: "error", message: "a request ended in a fault" });
  });
});
