import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { serve, type Running } from "../../src/app/serve.js";
import { crate } from "../support/crates.js";
import { RegistryClient, type User } from "../support/registry-client.js";

const lines: { level: string; message: string; [field: string]: unknown }[] = [];
let folder: string;
let running: Running;
let client: RegistryClient;
let ada: User;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-ids-"));
  const write = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, ...fields });
  running = await serve(readConfig({ PORT: "0", DATA_DIR: folder, LOGIN_RATE: "off" }), {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  });
  client = new RegistryClient(running.url);
  ada = await client.user("Ada");
});
afterAll(async () => {
  await running?.stop();
  await rm(folder, { recursive: true, force: true });
});
const idOf = async (path: string, sent?: string) =>
  (
    await client.ask(path, sent === undefined ? {} : { headers: { "X-Request-Id": sent } })
  ).headers.get("x-request-id");

describe("the id of a request", () => {
  it("is the received one, or a new one, over every interface", async () => {
    for (const path of [
      "/healthz",
      "/ark:99999/nothing",
      "/no/such/path",
      "/graphql?query=%7B__typename%7D",
      "/assets/none.js",
    ]) {
      expect(await idOf(path, "proxy-0001.a"), path).toBe("proxy-0001.a");
      expect(await idOf(path), path).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect(await idOf("/healthz")).not.toBe(await idOf("/healthz"));
  });

  it("is a new one where the received one is invalid", async () => {
    for (const sent of ["a b", "x".repeat(129), '{"level":60}', "\u00e9", ""])
      expect(await idOf("/healthz", sent), sent).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("is in the log of the job that it started", async () => {
    const form = new FormData();
    form.set(
      "file",
      new Blob([new Uint8Array(await crate([]))], { type: "application/zip" }),
      "crate.zip",
    );
    const { body } = await client.ask("/rocrate/upload-async", {
      token: ada.token,
      body: form,
      headers: { "X-Request-Id": "upload-17" },
    });
    const id = body["submissionUUID"] as string;
    expect(await client.settled(id, ada.token)).toMatchObject({ status: "finished" });
    await expect
      .poll(() =>
        lines
          .filter((line) => line["submission"] === id)
          .map(({ message, request, type, attempt }) => [message, request, type, attempt]),
      )
      .toEqual([
        ["a job of a submission begins", "upload-17", "crate", 1],
        ["a job of a submission ended", "upload-17", "crate", 1],
      ]);
  });

  it("is beside a fault", async () => {
    const { select } = running.registry.deps.records;
    running.registry.deps.records.select = () => Promise.reject(new Error("not foreseen"));
    const answer = await client
      .ask("/dataset", { headers: { "X-Request-Id": "fault-1" } })
      .finally(() => {
        running.registry.deps.records.select = select;
      });
    expect(answer.status).toBe(500);
    expect(lines.find((line) => line["request"] === "fault-1")).toMatchObject({
      level: "error",
      message: "a request failed with an internal error",
    });
  });

  describe("the id of a GraphQL request", () => {
    /** All lists fail meanwhile, as nobody foresaw. */
    async function whileListsFail<T>(work: () => Promise<T>): Promise<T> {
      const { select } = running.registry.deps.records;
      running.registry.deps.records.select = () => Promise.reject(new Error("not foreseen"));
      return work().finally(() => {
        running.registry.deps.records.select = select;
      });
    }
    const faultsOf = (request: unknown) =>
      lines
        .filter(
          (line) =>
            line["request"] === request ||
            (request instanceof RegExp && request.test(String(line["request"]))),
        )
        .map(({ level, message }) => ({ level, message }));
    const FAULT = [{ level: "error", message: "a GraphQL request failed with an internal error" }];
    const QUERY = "{ datasets { nodes { id } } }";

    it("is beside a fault, over HTTP and in a stream of events", async () => {
      await whileListsFail(async () => {
        await client.ask("/graphql", {
          body: { query: QUERY },
          headers: { "X-Request-Id": "graphql-1" },
        });
        await client.ask("/graphql/stream", {
          body: { query: QUERY },
          headers: { "X-Request-Id": "graphql-2", Accept: "text/event-stream" },
        });
      });
      expect(faultsOf("graphql-1")).toEqual(FAULT);
      expect(faultsOf("graphql-2")).toEqual(FAULT);
    });

    it("is that of the connection and of the operation over a WebSocket", async () => {
      let answered: string | undefined;
      class Named extends WebSocket {
        constructor(url: string, protocols: string) {
          super(url, protocols, { headers: { "X-Request-Id": "socket-1" } });
          this.once("upgrade", ({ headers }) => (answered = headers["x-request-id"] as string));
        }
      }
      const ids = ["first", "second", "no name: {\n}"];
      const socket = createClient({
        url: `${running.url.replace("http", "ws")}/graphql`,
        webSocketImpl: Named,
        retryAttempts: 0,
        lazy: false,
        generateID: () => ids.shift()!,
      });
      await whileListsFail(async () => {
        for (let count = ids.length; count > 0; count--)
          for await (const { errors } of socket.iterate({ query: QUERY }))
            expect(errors).toHaveLength(1);
      });
      await socket.dispose();
      expect(answered).toBe("socket-1");
      for (const name of ["socket-1/first", "socket-1/second", "socket-1"])
        expect(faultsOf(name), name).toEqual(FAULT);
    });
  });
});
