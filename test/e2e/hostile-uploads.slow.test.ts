import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { percentile } from "../../bench/support/measure.js";
import { reads } from "../../bench/support/reads.js";
import { bodyOf } from "../support/bodies.js";
import { RO_CRATE, crate, metadata, zip } from "../support/crates.js";
import { RegistryProcess } from "../support/registry-process.js";
import type { User } from "../support/registry-client.js";

// The two entry points that `hostile-requests.slow.test.ts` does not send to: archives of crates, and
// WebSockets.

/** What a reader may wait, p99, in ms, and measurements before the figure is believed. */
const [BOUND, ATTEMPTS] = [50, 3];
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const ARCHIVES: readonly (() => Promise<Uint8Array>)[] = [
  () =>
    zip({
      "ro-crate-metadata.json": metadata(
        [],
        {},
        many(30_000, () => RO_CRATE),
      ),
    }),
  () =>
    zip({
      "ro-crate-metadata.json": metadata(
        [],
        {},
        many(2_000, (index) =>
          index % 2 === 0 ? RO_CRATE : "https://w3id.org/ro/crate/1.2/context",
        ),
      ),
    }),
  () =>
    crate([], {}, { "@id": "./", mentions: many(150_000, (index) => ({ "@id": `#${index}` })) }),
  () =>
    crate(
      [],
      {},
      { "@id": "./", mentions: many(20_000, (index) => ({ "@id": `ark:99999/x-${index}` })) },
    ),
  () => crate([], Object.fromEntries(many(3_000, (index) => [`f${index}`, ""]))),
  () => crate(many(3_000, () => ({ "@id": "#x", "@type": "Person", name: "x" }))),
  () => crate([], { "a\u202Egnp.exe": "x" }),
  async () => Buffer.from("PK\u0003\u0004 and no more"),
];

const MESSAGES: readonly string[][] = [
  ["not json"],
  [`{"type":"connection_init","payload":${"[".repeat(50_000)}`],
  [
    JSON.stringify({
      type: "connection_init",
      payload: Object.fromEntries(many(15_000, (index) => [`k${index}`, 1])),
    }),
  ],
  [`{"type":"connection_init","payload":"${"x".repeat(400_000)}"}`],
  [
    JSON.stringify({ type: "connection_init" }),
    JSON.stringify({
      id: "1",
      type: "subscribe",
      payload: {
        query: "query ($x: JSON) { me { id } }",
        variables: { x: many(15_000, (index) => index) },
      },
    }),
  ],
  [
    JSON.stringify({ type: "connection_init" }),
    ...many(50, (index) =>
      JSON.stringify({
        id: String(index),
        type: "subscribe",
        payload: { query: 'subscription { submissionProgress(id: "x") { status } }' },
      }),
    ),
  ],
  [
    JSON.stringify({ type: "connection_init" }),
    JSON.stringify({
      id: "1",
      type: "subscribe",
      payload: {
        query:
          "{ " +
          `${many(300, (index) => `a${index}: datasets(first: 100) { nodes { document } }`).join(" ")} ` +
          "}",
      },
    }),
  ],
];

/** Opens a WebSocket, sends, and leaves after a while. */
function speak(url: string, messages: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/graphql`, "graphql-transport-ws");
    const timer = setTimeout(() => socket.terminate(), 400);
    socket
      .on("open", () => {
        for (const message of messages) socket.send(message);
      })
      .on("error", () => undefined)
      .on("close", () => {
        clearTimeout(timer);
        resolve();
      });
  });
}

let registry: RegistryProcess;
let ada: User;
let record: string;
beforeAll(async () => {
  registry = await RegistryProcess.start();
  ada = await registry.user();
  record = String(
    (await registry.ask("/dataset", { token: ada.token, body: bodyOf("dataset", ada.ark) })).body[
      "@id"
    ],
  );
});
afterAll(() => registry.stop());

describe("hostile archives and WebSockets", () => {
  it("leave the p99 of a reader below 50 ms, the process alive, and the intake free", async () => {
    const archives = await Promise.all(ARCHIVES.map((make) => make()));
    const url = new URL(`/${record}`, registry.url).href;
    const submissions = new Set<string>();
    const upload = async (): Promise<void> => {
      for (const archive of archives) {
        const { status, body } = await registry.upload(archive, ada.token);
        expect([200, 413, 422]).toContain(status);
        if (status === 200) submissions.add(String(body["submissionUUID"]));
      }
    };
    const talk = async (): Promise<void> => {
      for (let round = 0; round < 6; round++)
        for (const messages of MESSAGES) await speak(registry.url, messages);
    };
    let p99 = Infinity;
    for (let attempt = 1; attempt <= ATTEMPTS && p99 >= BOUND; attempt++) {
      const times = await reads(
        url,
        () => Promise.all([upload(), talk(), talk(), pause(5_000)]),
        registry.pid,
      );
      p99 = percentile(times, 0.99);
    }
    expect(p99).toBeLessThan(BOUND);
    for (const submission of submissions) await registry.settled(submission, ada.token, 120_000);
    expect(registry.alive).toBe(true);
    const { body } = await registry.upload(
      await crate([{ "@id": "a.txt", "@type": "File" }], { "a.txt": "x" }),
      ada.token,
    );
    expect(await registry.settled(String(body["submissionUUID"]), ada.token, 60_000)).toMatchObject(
      { status: "finished" },
    );
  }, 300_000);
});
