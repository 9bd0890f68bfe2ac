import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { SETTINGS } from "../../src/config/config.js";
import { packageRoot } from "../../src/package-root.js";

/** Compose's resolved form of a service. */
export interface Service {
  image: string;
  environment?: Record<string, string | null>;
  healthcheck?: { test: string[] };
  deploy?: {
    replicas?: number;
    resources?: { limits?: { cpus?: number; memory?: string; pids?: number } };
  };
  restart?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  privileged?: boolean;
  logging?: { options?: Record<string, string> };
  stop_grace_period?: string;
  init?: boolean;
  networks?: Record<string, unknown>;
  ports?: { host_ip?: string }[];
  volumes?: { type: string; source: string; target: string; read_only?: boolean }[];
}
export interface Project {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, unknown>;
}

export const goInstalled = spawnSync("go", ["version"]).status === 0;
if (!goInstalled)
  process.stderr.write(
    "\n!! SKIPPED: Compose's own loader is built with Go, which is not here; install Go to " +
      "run these tests.\n\n",
  );

/** Builds Compose's loader. The first time on a machine it takes minutes. */
export function buildComposeCheck(folder: string): string {
  const program = join(folder, "compose-check");
  execFileSync("go", ["build", "-o", program, "."], {
    cwd: join(packageRoot, "test/deploy/compose-check"),
    stdio: ["ignore", "ignore", "inherit"],
  });
  return program;
}

/** The output of `docker compose config` for a file, with these variables and no others. */
export function composeConfig(
  program: string,
  file: string,
  env: Record<string, string> = {},
): { project?: Project; error: string } {
  const { status, stdout, stderr } = spawnSync(program, [join(packageRoot, file)], {
    env: { PATH: process.env["PATH"], ...env },
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  return status === 0
    ? { project: JSON.parse(stdout) as Project, error: stderr }
    : { error: stderr };
}

/** Documents of a YAML file, read strictly: a duplicate key or an unknown tag is an error. */
// eslint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
export function yamlDocuments(file: string): Record<string, any>[] {
  return parseAllDocuments(readFileSync(join(packageRoot, file), "utf8"), {
    strict: true,
    uniqueKeys: true,
  }).map((document) => {
    if (document.errors.length + document.warnings.length > 0)
      throw new Error(`${file}: ${[...document.errors, ...document.warnings].join("; ")}`);
    return document.toJS() as Record<string, unknown>;
  });
}

/** Names that are no settings. */
export const unknownSettings = (names: Iterable<string>): string[] =>
  [...names].filter((name) => !(name in SETTINGS) && name !== "NODE_ENV");

/** Settings with secret values. */
export const SECRETS: readonly string[] = Object.entries(SETTINGS)
  .filter(([, setting]) => "secret" in setting)
  .map(([name]) => name);
