import { Readable } from "node:stream";
import type { StoredRecord } from "../../../stores/records/port.js";
import type { Caller } from "../../access/caller.js";
import type { Deps } from "../../deps.js";
import { findLive } from "../../records/find.js";
import { DESCRIPTOR, descriptorArk } from "../layout/descriptor.js";
import { crateArchive, type CrateArchive } from "./crate-archive.js";
import { crateMetadata, surveyCrate } from "./crate-metadata.js";
import { stateOf } from "./crate-records.js";

/** RO-Crate metadata of a crate, not yet written. */
export interface CrateMetadata {
  root: StoredRecord;
  /** Differs after every change of the crate or of what is in it. */
  state: string;
  /** JSON text. */
  open(): Promise<Readable>;
}

/** @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE` */
export async function readCrateMetadata(deps: Deps, id: string): Promise<CrateMetadata> {
  const root = await findLive(deps, id, "rocrate");
  return {
    root, state: await stateOf(deps, root),
    open: async () => {
      const survey = await surveyCrate(deps, root);
      const names = { context: survey.context, known: survey.known, paths: new Map([[descriptorArk(root.ark), DESCRIPTOR]]) };
      return Readable.from(crateMetadata(deps, root, survey, names), { objectMode: false });
    },
  };
}

/** The crate as an archive; files that the caller may not read are left out. @throws as {@link readCrateMetadata} */
export async function readCrateArchive(deps: Deps, id: string, caller: Caller | null): Promise<CrateArchive> {
  return crateArchive(deps, await findLive(deps, id, "rocrate"), caller);
}
