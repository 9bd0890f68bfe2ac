import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../../src/package-root.js";
import { freePorts, startProgram, untilReady } from "./program.js";
import { findProgram } from "./programs.js";
import type { S3Server } from "./s3-server.js";

/** Why there is no Garage; `undefined` when there is. */
export const garageMissing = findProgram("garage")
  ? undefined
  : "the program garage is neither on PATH nor in TEST_SERVERS (cargo install --locked --root " +
    "FOLDER garage@2.4.1, with FOLDER as TEST_SERVERS)";

/** Garage as docker-compose.yml runs it: by its settings, its arguments and its secrets. */
export async function startGarage(): Promise<S3Server> {
  const folder = await mkdtemp(join(tmpdir(), "arkgraph-garage-"));
  const [rpc, api] = await freePorts(2);
  const settings = (await readFile(join(packageRoot, "deploy/garage/garage.toml"), "utf8"))
    .replaceAll("/var/lib/garage", folder)
    .replaceAll("127.0.0.1:3901", `127.0.0.1:${rpc}`)
    .replaceAll("0.0.0.0:3900", `127.0.0.1:${api}`);
  const file = join(folder, "garage.toml");
  await writeFile(file, settings);
  const credentials = {
    accessKey: `GK${randomBytes(16).toString("hex")}`,
    secretKey: randomBytes(32).toString("hex"),
  };
  const env = {
    GARAGE_CONFIG_FILE: file,
    GARAGE_RPC_SECRET: randomBytes(32).toString("hex"),
    RUST_LOG: "garage=warn",
    GARAGE_DEFAULT_ACCESS_KEY: credentials.accessKey,
    GARAGE_DEFAULT_SECRET_KEY: credentials.secretKey,
    GARAGE_DEFAULT_BUCKET: "arkgraph",
  };
  const garage = (...args: string[]) =>
    promisify(execFile)(findProgram("garage")!, args, { env: { ...process.env, ...env } });
  const program = startProgram(
    findProgram("garage")!,
    ["server", "--single-node", "--default-bucket"],
    { cwd: folder, env },
  );
  const stop = async () => {
    await program.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    // Its health check in Compose; then what tests want beyond the one bucket: to make some of
    // their own.
    await untilReady([program], async () => (await garage("status")).stdout.includes("HEALTHY"));
    await untilReady(
      [program],
      async () =>
        (await garage("key", "allow", "--create-bucket", credentials.accessKey)).stdout !== "",
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    make: "Garage",
    endpoint: `http://127.0.0.1:${api}`,
    ...credentials,
    region: "us-east-1",
    stop,
  };
}
