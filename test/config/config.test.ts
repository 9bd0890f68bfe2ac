import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RegistryProcess } from "../support/registry-process.js";
import { signingKey } from "../../src/app/compose.js";
import { ConfigError, readConfig, SETTINGS, type SettingName } from "../../src/config/config.js";

const NAMES = Object.keys(SETTINGS) as SettingName[];
const KEY = "0123456789abcdef0123456789ABCDEF";
const MIB = 2 ** 20;

describe("every setting", () => {
  it.each(NAMES)("%s has a default and one sentence, and accepts valid values", (name) => {
    const { about, default: fallback } = SETTINGS[name];
    expect(about).toMatch(/^[A-Z*].*\.$/);
    expect(readConfig({})[name]).toBe(fallback);
    expect(readConfig({ [name]: "" })[name]).toBe(fallback);
    expect(readConfig({ [name]: "  " })[name]).toBe(fallback);
  });
  it.each(NAMES.filter((name) => name !== "DATA_DIR"))(
    "%s is named with its valid values when it is wrong",
    (name) => {
      const wrong = "\u0001 wrong";
      expect(() => readConfig({ [name]: wrong })).toThrow(ConfigError);
      expect(() => readConfig({ [name]: wrong })).toThrow(
        new RegExp(`^${name}[^\\n]* is not valid: expected [^\\n]+$`),
      );
    },
  );
  it("is parsed from any text, and fails only with its own error", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...NAMES),
        fc.oneof(
          fc.string(),
          fc.constantFrom(
            "-1",
            "0",
            "1e9",
            "Infinity",
            "NaN",
            "1.5",
            "٣",
            "5 GiB",
            "5 parsecs",
            "off",
            "*",
            "http://",
            "http://[",
            "constructor",
            "__proto__",
            "1 constructor",
            "5 toString",
          ),
        ),
        (name, text) => {
          try {
            const value = readConfig({ [name]: text })[name] as unknown;
            expect(Number.isNaN(value)).toBe(false);
            expect(value).not.toBe(Infinity);
            expect(["string", "number", "object"]).toContain(typeof value);
          } catch (error) {
            expect(error).toBeInstanceOf(ConfigError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe("values", () => {
  it.each([
    ["1048576", MIB],
    ["512K", 512 * 1024],
    ["5 GiB", 5 * 2 ** 30],
    ["1.5m", 1.5 * MIB],
    ["10MiB", 10 * MIB],
    ["7B", 7],
  ])("of sizes: %s", (text, bytes) =>
    expect(readConfig({ MAX_BODY_BYTES: text }).MAX_BODY_BYTES).toBe(bytes),
  );
  it.each(["-1", "5 parsecs", "5constructor", "1e9", ".5K", "five", "5 G i B"])(
    "of sizes are not %s",
    (text) => expect(() => readConfig({ MAX_BODY_BYTES: text })).toThrow("MAX_BODY_BYTES"),
  );
  it.each([
    ["250ms", 250],
    ["30s", 30_000],
    ["1.5 m", 90_000],
    ["24h", 86_400_000],
    ["2d", 172_800_000],
  ])("of durations: %s", (text, ms) =>
    expect(readConfig({ TOKEN_LIFETIME: text }).TOKEN_LIFETIME).toBe(ms),
  );
  it.each(["10", "-5s", "5 years", "s"])("of durations are not %s", (text) =>
    expect(() => readConfig({ TOKEN_LIFETIME: text })).toThrow("TOKEN_LIFETIME"),
  );
  it("of ports, rates, addresses and authorities", () => {
    expect(
      readConfig({
        PORT: "0",
        LOGIN_RATE: "off",
        BASE_URL: "https://x.example/a//",
        HOST: "::1",
        ACCEPTED_NAANS: "12345,99999",
      }),
    ).toMatchObject({
      PORT: 0,
      LOGIN_RATE: 0,
      BASE_URL: "https://x.example/a",
      HOST: "::1",
      ACCEPTED_NAANS: "12345,99999",
    });
    for (const [name, value] of [
      ["PORT", "65536"],
      ["PORT", "80x"],
      ["LOGIN_RATE", "0"],
      ["BASE_URL", "ftp://x"],
      ["BASE_URL", "x"],
      ["HOST", "a b"],
      ["ARK_NAAN", "1234"],
      ["ARK_NAAN", "99999/x"],
      ["ACCEPTED_NAANS", "1,2"],
      ["REGISTRATION", "closed"],
    ] as const) {
      expect(() => readConfig({ [name]: value }), `${name}=${value}`).toThrow(name);
    }
  });
});

describe("a bound that is no setting", () => {
  it("has no effect from the environment, and the start says so", async () => {
    expect(readConfig({ MAX_LOGIN_BYTES: "1" }).MAX_LOGIN_BYTES).toBe(16 * 2 ** 10);
    const registry = await RegistryProcess.start({ env: { MAX_LOGIN_BYTES: "1" } });
    try {
      expect(registry.log).toMatch(/"names":\["MAX_LOGIN_BYTES"\].*not settings/);
    } finally {
      await registry.stop();
    }
  });
});

describe("the settings of S3", () => {
  const all = {
    S3_ENDPOINT: "https://s3.example.org/",
    S3_ACCESS_KEY: "key",
    S3_SECRET_KEY: "not-to-be-shown",
    S3_BUCKET: "objects",
  };
  it("are set together or not at all", () => {
    expect(readConfig(all)).toMatchObject({
      S3_ENDPOINT: "https://s3.example.org",
      S3_PRESIGNED: 0,
      S3_CREATE_BUCKET: "no",
    });
    for (const name of Object.keys(all)) {
      expect(() => readConfig({ ...all, [name]: "" })).toThrow(
        new RegExp(
          `^${name} is missing: S3_ENDPOINT, S3_ACCESS_KEY, S3_SECRET_KEY, S3_BUCKET are ` +
            "set together, or none of them$",
        ),
      );
    }
    expect(() => readConfig({ S3_BUCKET: "objects" })).toThrow(
      /^S3_ENDPOINT and S3_ACCESS_KEY and S3_SECRET_KEY are missing/,
    );
  });
  it.each([
    ["S3_ENDPOINT", "https://s3.example.org/path"],
    ["S3_ENDPOINT", "s3.example.org"],
    ["S3_BUCKET", "Objects"],
    ["S3_BUCKET", "127.0.0.1"],
    ["S3_BUCKET", "a..b"],
    ["S3_PREFIX", "registry"],
    ["S3_PREFIX", "../"],
    ["S3_PREFIX", "/"],
    ["S3_PRESIGNED", "8d"],
    ["S3_PRESIGNED", "100ms"],
  ])("%s is not %s", (name, value) =>
    expect(() => readConfig({ ...all, [name]: value })).toThrow(name),
  );
});

describe("the settings of OpenTelemetry", () => {
  it("are read as other services read them", () => {
    expect(
      readConfig({
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/",
        OTEL_EXPORTER_OTLP_HEADERS: "X-Api-Key=a%20b%2C=, tenant = lab",
        OTEL_EXPORTER_OTLP_TIMEOUT: "2500",
        OTEL_TRACES_SAMPLER_ARG: "0.25",
      }),
    ).toMatchObject({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
      OTEL_EXPORTER_OTLP_HEADERS: { "x-api-key": "a b,=", tenant: "lab" },
      OTEL_EXPORTER_OTLP_TIMEOUT: 2500,
      OTEL_TRACES_SAMPLER_ARG: 0.25,
    });
  });
  it.each([
    ["OTEL_EXPORTER_OTLP_HEADERS", "hunter2"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "key=hunter2,"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "key=hunter2%0D%0Ax"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "key=hunter2%"],
    ["OTEL_TRACES_SAMPLER_ARG", "1.1"],
    ["OTEL_TRACES_SAMPLER_ARG", "-0"],
    ["OTEL_EXPORTER_OTLP_TIMEOUT", "10s"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
  ])("%s is not %s, and no key is shown", (name, value) => {
    const read = () => readConfig({ [name]: value });
    expect(read).toThrow(new RegExp(`^${name}`));
    expect(read).not.toThrow("hunter2");
  });
});

describe("the signing key", () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "arkgraph-key-"))));
  afterEach(() => rm(folder, { recursive: true }));

  it.each([
    "short",
    "x".repeat(31),
    "x".repeat(64),
    "secret-secret-secret-secret-secret",
    "changeme-changeme-changeme-changeme",
    "your-secret-key-your-secret-key-your",
    "password1234password1234password1234",
    "é".repeat(15),
  ])("may not be %j, and is not shown", (key) => {
    try {
      readConfig({ JWT_SECRET: key });
      expect.unreachable("a weak key was taken");
    } catch (error) {
      expect((error as Error).message).toMatch(/^JWT_SECRET is not valid/);
      expect((error as Error).message).not.toContain(key);
    }
  });
  it("is the configured one, else one created once and readable by its owner only", async () => {
    expect(await signingKey(folder, readConfig({ JWT_SECRET: KEY }).JWT_SECRET)).toBe(KEY);
    await expect(stat(join(folder, "jwt-secret"))).rejects.toThrow();
    const one = await signingKey(folder, null);
    expect(one.length).toBeGreaterThanOrEqual(43);
    expect(await signingKey(folder, null)).toBe(one);
    expect((await stat(join(folder, "jwt-secret"))).mode & 0o777).toBe(0o600);
  });
  it("is created anew where a first start left an empty file", async () => {
    await writeFile(join(folder, "jwt-secret"), "");
    const key = await signingKey(folder, null);
    expect(key.length).toBeGreaterThanOrEqual(43);
    expect(await signingKey(folder, null)).toBe(key);
    expect((await stat(join(folder, "jwt-secret"))).mode & 0o777).toBe(0o600);
  });
  it("is never stored in part, and a start that fails leaves no file beside it", async () => {
    const full = () =>
      Promise.reject(
        Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" }),
      );
    await expect(signingKey(folder, null, full)).rejects.toThrow("ENOSPC");
    expect(await readdir(folder)).toEqual([]);
    expect((await signingKey(folder, null)).length).toBeGreaterThanOrEqual(43);
    expect(await readdir(folder)).toEqual(["jwt-secret"]);
  });
  it("is the same for starts at the same time", async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => signingKey(folder, null)));
    expect(new Set(keys).size).toBe(1);
    expect(await readdir(folder)).toEqual(["jwt-secret"]);
  });
  it("that is truncated stops the start with a message that says what to do", async () => {
    await writeFile(join(folder, "jwt-secret"), "abc");
    await expect(signingKey(folder, null)).rejects.toThrow(/damaged.*JWT_SECRET/);
  });
});
