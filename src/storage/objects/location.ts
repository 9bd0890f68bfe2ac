import { openFileObjects } from "./files/store.js";
import type { ObjectStore } from "./port.js";
import type { S3Location } from "./s3/location.js";

/**
 * Where a store is, as plain data: threads and worker processes open their own instance from it.
 */
export type ObjectsLocation =
  /** Folder of a store on files. */
  { files: string } | { s3: S3Location };

/** Opens the store that a location names. */
export async function openObjects(location: ObjectsLocation): Promise<ObjectStore> {
  if ("files" in location) return openFileObjects(location.files);
  // Loaded where it is used only: the client is large.
  return (await import("./s3/store.js")).openS3Objects(location.s3);
}

/**
 * Checks once, at the start, whether the place can be used; threads rely on that.
 * @throws ServiceError `STORE_UNAVAILABLE` with one line that names the fault
 */
export async function prepareObjects(
  location: ObjectsLocation,
  options: { create: boolean },
): Promise<void> {
  if ("s3" in location)
    await (await import("./s3/store.js")).prepareBucket(location.s3, options.create);
}
