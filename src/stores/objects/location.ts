import { openFileObjects } from "./files/store.js";
import type { ObjectStore } from "./port.js";

/** Where a store is, as plain data: threads and worker processes open their own instance from it. */
export interface ObjectsLocation {
  /** Folder of a store on files. */
  files: string;
}

/** Opens the store that a location names. */
export function openObjects(location: ObjectsLocation): Promise<ObjectStore> {
  return openFileObjects(location.files);
}
