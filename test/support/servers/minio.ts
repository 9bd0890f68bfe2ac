import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts, startProgram, untilReady } from "./program.js";
import { findProgram } from "./programs.js";
import type { S3Server } from "./s3-server.js";

/** Why there is no MinIO; `undefined` when there is. */
export const minioMissing = findProgram("minio")
  ? undefined
  : "the program minio is neither on PATH nor in TEST_SERVERS (it is built as the Go module " +
    "github.com/minio/minio)";

/** @param port of an earlier start on the same `folder`, to come back as it was */
export async function startMinio({
  folder,
  port,
}: { folder?: string; port?: number } = {}): Promise<S3Server & { folder: string; port: number }> {
  const data = folder ?? (await mkdtemp(join(tmpdir(), "arkgraph-minio-")));
  const [own, console_] = await freePorts(2);
  const listens = port ?? own!;
  const credentials = { accessKey: "arkgraph-test", secretKey: "a-key-for-tests-on-loopback" };
  const program = startProgram(
    findProgram("minio")!,
    [
      "server",
      "--quiet",
      "--address",
      `127.0.0.1:${listens}`,
      "--console-address",
      `127.0.0.1:${console_}`,
      data,
    ],
    {
      cwd: data,
      env: {
        MINIO_ROOT_USER: credentials.accessKey,
        MINIO_ROOT_PASSWORD: credentials.secretKey,
        MINIO_BROWSER: "off",
        MINIO_UPDATE: "off",
        _MINIO_SERVER_DEBUG: "off",
      },
    },
  );
  const endpoint = `http://127.0.0.1:${listens}`;
  // It listens before it knows its buckets, and answers 503 then; it refuses an anonymous caller
  // once it knows them.
  await untilReady([program], async () => (await fetch(endpoint)).status === 403);
  return {
    make: "MinIO",
    endpoint,
    ...credentials,
    region: "us-east-1",
    folder: data,
    port: listens,
    async stop() {
      await program.stop();
      if (folder === undefined) await rm(data, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
