import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RedisLink } from "../../../src/storage/redis.js";
import { RateLimit } from "../../../src/services/accounts/tokens.js";
import { Penalties } from "../../../src/services/sparql/answer.js";
import { RedisMemory } from "../../../src/storage/shared/redis.js";
import { redisInstalled, RedisServer } from "../../support/servers/redis.js";

const MINUTE = 60_000;

describe.skipIf(!redisInstalled)("state that nodes share through Redis", () => {
  let redis: RedisServer;
  const warnings: object[] = [];
  const links: RedisLink[] = [];
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(async () => {
    for (const link of links) link.close();
    await redis?.stop();
  });

  const open = async (url = redis.url): Promise<RedisLink> => {
    const link = new RedisLink({
      url,
      prefix: "test",
      timeout: 1000,
      log: { info() {}, warn: (fields, message) => void warnings.push({ ...fields, message }) },
    });
    links.push(link);
    await link.reached();
    return link;
  };
  const node = async () => new RedisMemory(await open());

  it("a limit applies to all nodes, and reports when its window ends", async () => {
    const [a, b] = [
      new RateLimit(3, "LOGIN_RATE", await node()),
      new RateLimit(3, "LOGIN_RATE", await node()),
    ];
    for (const limit of [a, b, a]) await limit.take("ada");
    for (const limit of [a, b])
      await expect(limit.take("ada")).rejects.toMatchObject({
        code: "TOO_MANY_REQUESTS",
        message: /LOGIN_RATE/,
        headers: { "Retry-After": expect.stringMatching(/^([1-5]\d|60|\d)$/) },
      });
    await b.take("grace");
  });

  it("neither addresses nor accounts are stored in Redis in plain text", async () => {
    const link = await open();
    await new RedisMemory(link).count("LOGIN_RATE 192.0.2.7 ark:99999/user-ada", MINUTE);
    const keys = await link.commands.keys("*");
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.join()).not.toMatch(/192\.0\.2\.7|user-ada/);
  });

  it("a caller with a penalty on one node has it on all", async () => {
    const [a, b] = [new Penalties(MINUTE, await node()), new Penalties(MINUTE, await node())];
    a.strike("mallory");
    await expect
      .poll(async () => (await node()).recall("penalty mallory"))
      .toContain('"strikes":1');
    await b.learn("mallory");
    b.strike("mallory");
    await expect
      .poll(async () => (await node()).recall("penalty mallory"))
      .toContain('"strikes":2');
    await a.learn("mallory");
    expect(() => a.check("mallory")).toThrow(/SPARQL_PENALTY/);
  });

  it(
    "each node counts by itself while Redis is unavailable, from its last state, and " +
      "together again afterwards",
    async () => {
      const memory = await node();
      for (let n = 1; n <= 3; n++) expect((await memory.count("k", MINUTE)).count).toBe(n);
      await redis.kill();
      expect((await memory.count("k", MINUTE)).count).toBe(4);
      expect(await memory.recall("k")).toBeNull();
      await memory.remember("k", "v", 1000);
      await redis.restart();
      await expect
        .poll(
          async () =>
            (await memory.count("other", MINUTE)).count > 0 &&
            (await memory.recall("k2")) === null &&
            (await (await node()).count("k", MINUTE)).count,
        )
        .toBeGreaterThan(0);
      const second = await node();
      const before = (await second.count("together", MINUTE)).count;
      await expect
        .poll(async () => (await memory.count("together", MINUTE)).count)
        .toBeGreaterThan(before);
    },
  );

  it(
    "each outage is logged once, also that of a Redis that accepts connections and does " +
      "not answer",
    async () => {
      const link = await open();
      warnings.length = 0;
      const mine = () =>
        warnings.filter((line) => JSON.stringify(line).includes("Redis is unavailable")).length;
      for (const [unavailable, back] of [
        [() => redis.pause(), () => redis.resume()],
        [() => redis.kill(), () => redis.restart()],
        [() => redis.pause(), () => redis.resume()],
      ] as const) {
        const before = mine();
        await unavailable();
        const memory = new RedisMemory(link);
        for (let n = 0; n < 20; n++) await memory.count("k", MINUTE);
        await expect.poll(() => link.ready).toBe(false);
        // One for each of the links of these tests at most, however much is asked meanwhile.
        expect(mine() - before).toBeLessThanOrEqual(links.length);
        await back();
        await expect.poll(() => link.ready, { timeout: 10_000 }).toBe(true);
      }
      expect(mine()).toBeGreaterThanOrEqual(3);
    },
  );

  it("a wrong password is logged without the password, and not repeatedly without end", async () => {
    const link = await open();
    await link.commands.config("SET", "requirepass", "the right one");
    warnings.length = 0;
    const wrong = await open(redis.url.replace("redis://", "redis://:hunter2@"));
    await expect(wrong.health()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(warnings.length).toBeGreaterThan(0);
    expect(warnings.length).toBeLessThan(3);
    expect(JSON.stringify(warnings)).not.toContain("hunter2");
    expect(JSON.stringify(warnings)).toMatch(/WRONGPASS/);
  });
});
