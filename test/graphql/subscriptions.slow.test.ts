import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { LiveRegistry } from "../support/live-registry.js";
import type { Json } from "../support/registry-client.js";

let registry: LiveRegistry;
beforeAll(async () => {
  registry = await LiveRegistry.start();
});
afterAll(() => registry?.stop());

// Limits per second: a registry that reads fewer messages in a second closes no connection.
describe("a WebSocket", () => {
  const socketOf = async (): Promise<WebSocket> => {
    const socket = new WebSocket(
      `${registry.url.replace("http", "ws")}/graphql`,
      "graphql-transport-ws",
    );
    await once(socket, "open");
    socket.send('{"type":"connection_init"}');
    await once(socket, "message");
    return socket;
  };
  const message = (id: number, query = "{ __typename }"): string =>
    JSON.stringify({ id: String(id), type: "subscribe", payload: { query } });

  test("of which many messages arrive together leaves turns to others, and is closed", async () => {
    const socket = await socketOf();
    const closed = once(socket, "close");
    for (let id = 0; id < 10_000; id++) socket.send(message(id));
    expect((await registry.ask("/healthz")).status).toBe(200);
    const [code, reason] = (await closed) as [number, Buffer];
    expect(code).toBe(4429);
    expect(String(reason)).toMatch(/^More than \d+ messages in a second/);
  });

  test("answers what arrives together, in its order", async () => {
    const socket = await socketOf();
    const answers: string[] = [];
    socket.on("message", (data: Buffer) => answers.push(String(data)));
    for (let id = 0; id < 150; id++) {
      socket.send(message(id, `{ a${id}: __typename }`));
      socket.send(JSON.stringify({ type: "ping", payload: { id } }));
      if (id % 30 === 29) await sleep(400);
    }
    await expect.poll(() => answers.filter((text) => text.includes('"pong"'))).toHaveLength(150);
    const pongs = answers.flatMap((text) => {
      const { type, payload } = JSON.parse(text) as Json;
      return type === "pong" ? [payload.id as number] : [];
    });
    expect(pongs).toEqual(pongs.toSorted((a, b) => a - b));
    await expect.poll(() => answers.some((text) => text.includes('"a149"'))).toBe(true);
    socket.close();
  });
});
