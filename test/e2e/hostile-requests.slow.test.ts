import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendHostile } from "../../bench/support/hostile-load.js";
import { largeCrate } from "../../bench/support/hostile-requests.js";
import { packageRoot } from "../../src/package-root.js";
import { bodyOf } from "../support/bodies.js";
import type { User } from "../support/registry-client.js";
import { RegistryProcess } from "../support/registry-process.js";

/** Sent in all, and under way at a time. How long they make a reader wait: bench `reads-under-load`. */
const [REQUESTS, AT_ONCE] = [800, 8];
/** Sent below, to a registry that has a large crate. */
const AMPLIFIED = [
  "a form",
  "a WebSocket",
  "large:",
  "introspection",
  "__schema",
  "aliases of documents",
  "names of types",
];

let registry: RegistryProcess;
beforeAll(async () => {
  registry = await RegistryProcess.start({ env: { LOGIN_RATE: "off" } });
});
afterAll(() => registry.stop());

describe("eight hundred hostile requests", () => {
  it("large, deep, wide, slow and repeated, are all answered, and leave the process alive", async () => {
    const ada = await registry.user();
    const record = String(
      (await registry.ask("/dataset", { token: ada.token, body: bodyOf("dataset", ada.ark) })).body[
        "@id"
      ],
    );
    const { statuses, faults } = await sendHostile({
      url: registry.url.replace(/\/$/, ""),
      token: ada.token,
      user: ada.ark,
      record,
      seed: 1,
      count: REQUESTS,
      atOnce: AT_ONCE,
      without: AMPLIFIED,
    });
    expect(registry.alive, registry.log.slice(-3_000)).toBe(true);
    expect(faults).toEqual([]);
    expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(REQUESTS);
    expect((await registry.ask("/healthz")).body["status"]).toBe("healthy");
    expect((await registry.ask(`/${record}`)).status).toBe(200);
  }, 900_000);
});

describe("requests that once ended the process, or held it", () => {
  let strict: RegistryProcess;
  let ada: User;
  const crate = "ark:99999/hostile-crate";
  beforeAll(async () => {
    strict = await RegistryProcess.start({
      env: {
        LOGIN_RATE: "off",
        NODE_OPTIONS: `--import=${join(packageRoot, "test/support/end-at-rejection.mjs")}`,
      },
    });
    ada = await strict.user();
    const stored = await strict.ask("/rocrate/metadata", {
      token: ada.token,
      body: largeCrate(crate, 1_500, 5_600_000),
    });
    expect(stored.status).toBe(200);
  }, 300_000);
  afterAll(() => strict?.stop());

  it.each([
    ["forms for malformed identifiers", "a form", 60],
    ["many messages and introspection over WebSockets", "a WebSocket", 12],
    ["large graphs and records of megabytes", "large:", 60],
    ["introspection over and over", "__schema", 25],
    ["documents over the limit", "aliases of documents", 25],
  ])(
    "%s leave the process alive, without a promise that nobody handles",
    async (_name, only, count) => {
      const { statuses, faults } = await sendHostile({
        url: strict.url.replace(/\/$/, ""),
        token: ada.token,
        user: ada.ark,
        record: crate,
        large: crate,
        seed: 5,
        count,
        atOnce: 4,
        only,
      });
      expect(strict.alive, strict.log.slice(-3_000)).toBe(true);
      expect(faults).toEqual([]);
      expect(Object.values(statuses).reduce((sum, each) => sum + each, 0)).toBe(count);
      expect((await strict.ask(`/${crate}/source`)).status).toBe(200);
    },
    900_000,
  );
});
