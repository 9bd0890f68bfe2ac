import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SETTINGS, readConfig } from "../../src/config/config.js";
import { packageRoot } from "../../src/package-root.js";
import { checkProfile } from "../../src/app/service.js";
import {
  buildComposeCheck,
  composeConfig,
  goInstalled,
  unknownSettings,
  type Project,
} from "../support/deployment.js";

const FULL = "docker-compose.yml";
const SINGLE = "deploy/compose.single.yml";
const NAMES = [
  "JWT_SECRET",
  "POSTGRES_PASSWORD",
  "REDIS_PASSWORD",
  "S3_ACCESS_KEY",
  "S3_SECRET_KEY",
  "GARAGE_RPC_SECRET",
];
const secrets = Object.fromEntries(NAMES.map((name, index) => [name, `${index}a`.repeat(32)]));

describe.skipIf(!goInstalled)("the files for Compose, read by its own loader", () => {
  let folder: string;
  let program: string;
  let full: Project;
  let single: Project;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "arkgraph-compose-"));
    program = buildComposeCheck(folder);
    full = composeConfig(program, FULL, secrets).project!;
    single = composeConfig(program, SINGLE).project!;
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("are valid", () => {
    expect(composeConfig(program, FULL, secrets).error).toBe("");
    expect(composeConfig(program, SINGLE).error).toBe("");
    expect(Object.keys(full.services).sort()).toEqual([
      "api",
      "objects",
      "oxigraph",
      "postgres",
      "redis",
      "web",
      "worker",
    ]);
  });

  test.each(NAMES)("do not start without %s", (name) => {
    const { project, error } = composeConfig(program, FULL, { ...secrets, [name]: "" });
    expect(project).toBeUndefined();
    expect(error).toMatch(
      new RegExp(
        `required variable ${name} is missing a value: is missing - run deploy/make-secrets.sh`,
      ),
    );
  });

  test("contain no secret", () => {
    const values = new Set(Object.values(secrets));
    for (const [name, { environment = {} }] of Object.entries({
      ...full.services,
      ...single.services,
    })) {
      for (const [variable, value] of Object.entries(environment)) {
        if (/SECRET|PASSWORD|ACCESS_KEY|AUTH|TOKEN/.test(variable))
          expect([name, variable, [...values].some((secret) => secret === value)]).toEqual([
            name,
            variable,
            true,
          ]);
      }
    }
    for (const url of [
      full.services["api"]!.environment!["DATABASE_URL"]!,
      full.services["api"]!.environment!["REDIS_URL"]!,
    ])
      expect(values).toContain(new URL(url).password);
  });

  test(
    "give every service a health check, limits, a restart policy, a way to stop and " +
      "bounded logs",
    () => {
      for (const [name, service] of [
        ...Object.entries(full.services),
        ...Object.entries(single.services),
      ]) {
        const limits = service.deploy?.resources?.limits;
        expect([
          name,
          service.healthcheck?.test.length,
          limits?.cpus,
          Number(limits?.memory),
          limits?.pids,
        ]).toEqual([name, expect.any(Number), expect.any(Number), expect.any(Number), 512]);
        expect(Number(limits?.memory)).toBeGreaterThan(2 ** 27);
        expect(service).toMatchObject({
          restart: "unless-stopped",
          stop_grace_period: expect.any(String),
          logging: { options: { "max-size": "10m", "max-file": "5" } },
        });
      }
    },
  );

  test("use an init process that handles SIGTERM where the service does not", () => {
    expect(full.services["oxigraph"]!.init).toBe(true);
  });

  test("confine every service", () => {
    for (const [name, service] of [
      ...Object.entries(full.services),
      ...Object.entries(single.services),
    ]) {
      expect([
        name,
        service.read_only,
        service.cap_drop,
        service.security_opt,
        service.privileged ?? false,
      ]).toEqual([name, true, ["ALL"], ["no-new-privileges:true"], false]);
      for (const { type, target, read_only } of service.volumes ?? [])
        if (type === "bind") expect([name, target, read_only]).toEqual([name, target, true]);
    }
  });

  test("publish one port only, on loopback, and isolate the stores", () => {
    const published = Object.entries(full.services).filter(([, { ports }]) => ports !== undefined);
    expect(
      published.map(([name, { ports }]) => [name, ports!.map(({ host_ip }) => host_ip)]),
    ).toEqual([["web", ["127.0.0.1"]]]);
    expect(single.services["registry"]!.ports!.map(({ host_ip }) => host_ip)).toEqual([
      "127.0.0.1",
    ]);
    expect(full.networks["stores"]!.internal).toBe(true);
    for (const name of ["postgres", "objects", "oxigraph", "redis", "worker"])
      expect(Object.keys(full.services[name]!.networks!)).toEqual(["stores"]);
    expect(Object.keys(full.services["web"]!.networks!)).toEqual(["doors"]);
  });

  test("pin versions, and mount existing files", () => {
    for (const { image, volumes = [] } of Object.values(full.services)) {
      expect(image).toMatch(/^[\w./-]+:(?!latest$)[\w.-]+$/);
      for (const { type, source } of volumes)
        if (type === "bind") expect(readFileSync(source, "utf8").length).toBeGreaterThan(0);
    }
    expect(Object.keys(full.volumes).sort()).toEqual(["objects", "oxigraph", "postgres", "redis"]);
  });

  test("set known settings to valid values", () => {
    for (const service of [
      full.services["api"]!,
      full.services["worker"]!,
      single.services["registry"]!,
    ]) {
      expect(unknownSettings(Object.keys(service.environment!))).toEqual([]);
      expect(() =>
        checkProfile(readConfig(service.environment as Record<string, string>)),
      ).not.toThrow();
    }
    expect([
      full.services["api"]!.environment!["ROLE"],
      full.services["worker"]!.environment!["ROLE"],
    ]).toEqual(["api", "worker"]);
    expect(full.services["worker"]!.environment!["PROFILE"]).toBe("cluster");
  });

  test("configure Garage as Compose requires", () => {
    const toml = spawnSync(
      "python3",
      [
        "-c",
        "import json,sys,tomllib; print(json.dumps(tomllib.load(open(sys.argv[1],'rb'))))",
        join(packageRoot, "deploy/garage/garage.toml"),
      ],
      { encoding: "utf8" },
    );
    expect(toml.stderr).toBe("");
    const { environment } = full.services["api"]!;
    // An answer means that the bytes are on the disk: a record that names them must not outlive
    // them.
    expect(JSON.parse(toml.stdout)).toMatchObject({
      data_fsync: true,
      metadata_fsync: true,
      replication_factor: 1,
      s3_api: {
        s3_region: environment!["S3_REGION"],
        api_bind_addr: expect.stringMatching(/:3900$/),
      },
    });
    expect(environment!["S3_ENDPOINT"]).toBe("http://objects:3900");
    expect(full.services["objects"]!.environment).toMatchObject({
      GARAGE_DEFAULT_BUCKET: environment!["S3_BUCKET"],
      GARAGE_DEFAULT_ACCESS_KEY: environment!["S3_ACCESS_KEY"],
      GARAGE_DEFAULT_SECRET_KEY: environment!["S3_SECRET_KEY"],
    });
  });

  test("the proxy waits longer than an upload that waits for its result", () => {
    const nginx = readFileSync(join(packageRoot, "deploy/nginx/nginx.conf"), "utf8");
    expect(Number(/proxy_read_timeout (\d+)s;/.exec(nginx)![1]) * 1000).toBeGreaterThan(
      SETTINGS.UPLOAD_WAIT.default,
    );
  });
});
