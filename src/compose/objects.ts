import { join } from "node:path";
import type { Config } from "../config.js";
import type { ObjectsLocation } from "../stores/objects/location.js";

/** Where objects are kept: on S3 where that is set, also for one node alone. */
export function objectsOf(config: Config): ObjectsLocation {
  const { S3_ENDPOINT: endpoint, S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey, S3_BUCKET: bucket } = config;
  if (endpoint === null || accessKey === null || secretKey === null || bucket === null) return { files: join(config.DATA_DIR, "objects") };
  return {
    s3: {
      endpoint, accessKey, secretKey, bucket, region: config.S3_REGION, prefix: config.S3_PREFIX,
      partSize: config.S3_PART_SIZE, timeout: config.S3_TIMEOUT, retries: config.S3_RETRIES, presigned: config.S3_PRESIGNED,
    },
  };
}
