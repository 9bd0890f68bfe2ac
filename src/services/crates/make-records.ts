/**
 * The first steps of the pipeline, which need no record store: an archive or document becomes
 * records. They run in a thread of their own: inflating, hashing and expanding JSON-LD would block
 * the event loop.
 */
import { collectAll } from "../../memory.js";
import type { ObjectReader, ObjectStore } from "../../storage/objects/port.js";
import { type BuildSettings, buildRecords } from "./build-records.js";
import { storeFiles } from "./files/store-files.js";
import { CrateError, Findings } from "./findings.js";
import { placeOf } from "./identifiers/identify.js";
import type { GraphsOf } from "./records/graphs.js";
import { MANY, openUpload, readCrate } from "./read.js";
import { resolveCrate } from "./resolve.js";
import type { IntakeHost, IntakeInput, IntakeResult, ReadCrate, ResolvedCrate } from "./steps.js";

/** What the steps need of an object store. */
export type IntakeObjects = Pick<ObjectStore, "stage" | "parallel" | "reader" | "readStaged">;

/**
 * Reads a crate, resolves its identifiers, stores its files and builds its records; none of them
 * becomes visible. The records are passed on in batches.
 * @returns the findings when the crate itself is at fault
 * @throws any error that is not a fault of the crate
 */
export async function makeRecords(
  input: IntakeInput,
  objects: IntakeObjects,
  host: IntakeHost,
  graphsOf: GraphsOf,
): Promise<IntakeResult> {
  const findings = new Findings(input);
  let reader: ObjectReader | undefined;
  try {
    host.progress({ stage: "reading archive", done: 0, total: null, unit: "members" });
    reader = await openUpload(input, objects);
    let read: ReadCrate | undefined = await readCrate(input, reader, host, findings);
    const crate = await resolveCrate(read, input, host, findings);
    const stored = await storeFiles(read, crate, input, objects, host);
    // The archive's directory is garbage now: JSON-LD needs the memory.
    read = undefined;
    if (stored.size > MANY) collectAll();
    adviseOnUpdate(crate, input, findings);
    const total = crate.entities.length;
    let done = 0;
    const advance = (records: number) =>
      host.progress({ stage: "building records", done: (done += records), total, unit: "records" });
    advance(0);
    for await (const records of buildRecords(
      crate,
      stored,
      buildSettings(input, reader),
      graphsOf,
    )) {
      host.records(records);
      advance(records.length);
    }
    findings.throwIfErrors();
    return { root: crate.root.ark, warnings: findings.allWarnings() };
  } catch (error) {
    if (!(error instanceof CrateError)) throw error;
    return {
      errors: error.findings,
      warnings: error.warnings.length > 0 ? error.warnings : findings.allWarnings(),
    };
  } finally {
    await reader?.close();
  }
}

const buildSettings = (
  { limits, baseUrl, user, update = false, format, sha256, name = "crate.zip" }: IntakeInput,
  { size }: ObjectReader,
): BuildSettings => ({
  limits,
  baseUrl,
  owner: user,
  update,
  ...(format === "metadata"
    ? {}
    : { archive: { sha256, size, mediaType: "application/zip", name, role: "archive" } }),
});

function adviseOnUpdate(
  { root }: ResolvedCrate,
  { update, crate }: IntakeInput,
  findings: Findings,
): void {
  if (update && crate === undefined && !root.kept)
    findings.warn(
      "ROOT_WITHOUT_ARK",
      "Neither the upload nor the crate's root says which crate to update, so this became a " +
        "new crate. Upload it with `crate=` and the ARK of the crate, or give the root that " +
        "ARK as its `@id`.",
      placeOf(root),
    );
}
