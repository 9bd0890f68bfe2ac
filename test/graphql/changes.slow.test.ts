import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { openFeeds } from "../../src/services/records/changes.js";
import { bodyOf } from "../support/bodies.js";
import { RECORD_CHANGES as FEED } from "../support/graphql-streams.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { User } from "../support/registry-client.js";

describe("a client that reads nothing", () => {
  let slow: LiveRegistry;
  let user: User;
  const variables = { after: 0 };
  /** One event of 24 MB: more than the buffers of a connection hold. */
  const query = FEED.replace("name", ["a", "b", "c", "d"].map((as) => `${as}: document`).join(" "));
  beforeAll(async () => {
    slow = await LiveRegistry.start({
      GRAPHQL_SEND_TIMEOUT: "300ms",
      GRAPHQL_MAX_BYTES: "64M",
      MAX_BODY_BYTES: "8M",
    });
    user = await slow.user();
    for (let round = 0; round < 4; round++) {
      const body = bodyOf("dataset", user.ark, { description: "x".repeat(1_500_000) });
      const { status, text } = await slow.ask("/dataset", { body, token: user.token });
      expect(status, text).toBe(200);
    }
  });
  afterAll(() => slow?.stop());
  const feedsOpen = async (count: number): Promise<void> => {
    for (let tries = 0; openFeeds(slow.deps) !== count; tries++) {
      if (tries > 1000) throw new Error(`${openFeeds(slow.deps)} feeds are open`);
      await sleep(10);
    }
  };

  /** Sends a request that opens a stream, and reads nothing of its answer until it resumes. */
  function unread(head: string, body = "") {
    const { hostname, port } = new URL(slow.url);
    const socket = connect({ host: hostname, port: Number(port) });
    let end = "";
    socket.on("error", () => undefined);
    socket.on("data", (data) => (end = (end + String(data)).slice(-1000)));
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.pause();
    socket.write(
      `${head}\r\nHost: ${hostname}\r\nConnection: close\r\nAccept: text/event-stream\r\n` +
        `Authorization: Bearer ${user.token}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    return async () => {
      socket.resume();
      await closed;
      return end;
    };
  }

  test("over server-sent events gets the reason, is disconnected, and holds no feed any more", async () => {
    const rest = unread("POST /graphql/stream HTTP/1.1", JSON.stringify({ query, variables }));
    await feedsOpen(1);
    await feedsOpen(0);
    expect(await rest()).toContain("CLIENT_TOO_SLOW");
  });

  test("over a reserved stream gets the reason for each of its operations", async () => {
    const { text } = await slow.ask("/graphql/stream", { method: "PUT", token: user.token });
    const rest = unread(`GET /graphql/stream?token=${text} HTTP/1.1`);
    for (const operationId of ["one", "two"])
      await slow.ask("/graphql/stream", {
        token: user.token,
        headers: { "X-GraphQL-Event-Stream-Token": text },
        body: { query, variables, extensions: { operationId } },
      });
    await feedsOpen(0);
    const end = await rest();
    expect(end.match(/CLIENT_TOO_SLOW/g)).toHaveLength(2);
    expect(end).toMatch(/"id":"one"[^]+"id":"two"/);
  });

  test("over a WebSocket gets the reason, is disconnected, and holds no feed any more", async () => {
    const socket = new WebSocket(
      `${slow.url.replace("http", "ws")}/graphql`,
      "graphql-transport-ws",
    );
    const closed = new Promise((resolve) =>
      socket.once("close", (code, reason) => resolve([code, String(reason)])),
    );
    const payload = { query, variables };
    socket.once("message", () => {
      socket.send(JSON.stringify({ id: "1", type: "subscribe", payload }));
      socket.pause();
    });
    await new Promise((resolve) => socket.once("open", resolve));
    const token = `Bearer ${user.token}`;
    socket.send(JSON.stringify({ type: "connection_init", payload: { Authorization: token } }));
    await feedsOpen(1);
    await sleep(700);
    socket.resume();
    expect(await closed).toEqual([1013, expect.stringContaining("GRAPHQL_SEND_TIMEOUT")]);
    await feedsOpen(0);
  });
});
