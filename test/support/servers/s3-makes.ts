import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "minio";
import type { S3Location } from "../../../src/storage/objects/s3/location.js";
import { garageMissing, startGarage } from "./garage.js";
import { minioMissing, startMinio } from "./minio.js";
import { startSwift, swiftMissing } from "./swift.js";
import type { S3Server } from "./s3-server.js";

/**
 * S3 implementations that tests run against; `missing` says why one cannot be started here.
 * Building Garage takes a quarter of an hour: it is included where it has been built, and is not
 * required.
 */
export const S3_MAKES: readonly {
  make: string;
  missing: string | undefined;
  start(): Promise<S3Server>;
}[] = [
  { make: "MinIO", missing: minioMissing, start: () => startMinio() },
  { make: "Swift", missing: swiftMissing, start: startSwift },
  ...(garageMissing === undefined
    ? [{ make: "Garage", missing: undefined, start: startGarage }]
    : []),
];

/** Bytes that this process stages for any bucket. */
const STAGING = mkdtempSync(join(tmpdir(), "arkgraph-staging-"));
process.once("exit", () => rmSync(STAGING, { recursive: true, force: true }));

/** Warns which tests are skipped for lack of a server. */
export function sayMissing(): void {
  for (const { make, missing } of S3_MAKES)
    if (missing !== undefined) process.emitWarning(`S3 tests on ${make} are SKIPPED: ${missing}`);
}

/** The bare client. */
export function clientOf({
  endpoint,
  accessKey,
  secretKey,
  region,
}: Pick<S3Server, "endpoint" | "accessKey" | "secretKey" | "region">): Client {
  const { hostname, port } = new URL(endpoint);
  return new Client({
    endPoint: hostname,
    port: Number(port),
    useSSL: false,
    accessKey,
    secretKey,
    region,
  });
}

/** A new bucket, and where it is. */
export async function newBucket(server: S3Server): Promise<S3Location> {
  const bucket = `test-${randomUUID()}`;
  await clientOf(server).makeBucket(bucket);
  return locationOf(server, bucket);
}

export function locationOf(
  {
    endpoint,
    accessKey,
    secretKey,
    region,
  }: Pick<S3Server, "endpoint" | "accessKey" | "secretKey" | "region">,
  bucket: string,
): S3Location {
  return {
    endpoint,
    accessKey,
    secretKey,
    region,
    bucket,
    prefix: "registry/",
    staging: join(STAGING, bucket),
    partSize: 5 * 2 ** 20,
    timeout: 20_000,
    retries: 4,
    presigned: 0,
  };
}

/** Every upload in parts that is neither complete nor aborted, of one key or under a prefix. */
export async function unfinishedOf(
  server: S3Server,
  { bucket }: S3Location,
  prefix: string,
): Promise<string[]> {
  const { uploads } = await clientOf(server).listIncompleteUploadsQuery(
    bucket,
    prefix,
    "",
    "",
    // Swift takes an empty delimiter for the end of every name.
    "|",
  );
  return uploads.map(({ key }) => key);
}

/** Every key of a bucket. */
export async function keysOf(
  server: S3Server,
  { bucket }: S3Location,
  prefix = "",
): Promise<string[]> {
  const keys: string[] = [];
  for await (const { name } of clientOf(server).listObjectsV2(
    bucket,
    prefix,
    true,
  ) as AsyncIterable<{ name: string }>)
    keys.push(name);
  return keys;
}
