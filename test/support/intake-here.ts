import { boundedGraphs } from "../../src/rdf/graph.js";
import { FINDING_CODES } from "../../src/services/crates/findings.js";
import { makeRecords } from "../../src/services/crates/make-records.js";
import type {
  CrateRecord,
  IntakeHost,
  IntakeInput,
  IntakeResult,
} from "../../src/services/crates/steps.js";
import type { CrateLimits } from "../../src/services/crates/upload.js";
import { openObjects } from "../../src/storage/objects/location.js";
import type { ObjectStore } from "../../src/storage/objects/port.js";
import { LIMITS, readerOf } from "./crates.js";

export interface Taken {
  result: IntakeResult;
  records: CrateRecord[];
}

/**
 * The intake of bytes in this thread, storing nothing: for inputs by the thousand.
 * @throws any error that is no fault of the crate
 */
export async function ingestHere(
  bytes: Uint8Array,
  {
    format = "zip",
    limits = {},
  }: { format?: "zip" | "metadata"; limits?: Partial<CrateLimits> } = {},
): Promise<Taken> {
  const records: CrateRecord[] = [];
  const host: IntakeHost = {
    progress: () => {},
    intend: async () => {},
    registered: async () => [],
    claim: async () => [],
    records: (batch) => void records.push(...batch),
  };
  const objects = { readStaged: async () => readerOf(bytes) } as unknown as ObjectStore;
  const result = await makeRecords(
    {
      objects: { files: "nowhere" },
      sha256: "0".repeat(64),
      staged: "here",
      format,
      limits: { ...LIMITS, ...limits },
      naan: "99999",
      acceptedNaans: "*",
      baseUrl: "https://registry.example",
      user: "ark:99999/user-ada",
      dryRun: true,
    },
    objects,
    host,
    boundedGraphs({ ...LIMITS, ...limits }),
  );
  return { result, records };
}

/**
 * Runs an intake in this thread, which knows the vocabularies already: a thread for each crate would
 * read them again, for ten times as long as a small crate takes.
 */
export async function ingestInThisThread(
  input: IntakeInput,
  host: IntakeHost,
): Promise<IntakeResult> {
  return makeRecords(input, await openObjects(input.objects), host, boundedGraphs(input.limits));
}

/** A fault of the answer itself: a refusal without a reason, or an undocumented code. */
export function illFormed({ result }: Taken): string | undefined {
  const findings = [...("errors" in result ? result.errors : []), ...result.warnings];
  if ("errors" in result && result.errors.length === 0) return "a refusal without a reason";
  const odd = findings.find(
    ({ code, message, file, pointer }) =>
      !Object.hasOwn(FINDING_CODES, code) ||
      message.length < 5 ||
      message.length > 2000 ||
      (file?.length ?? 0) > 1100 ||
      (pointer !== null && pointer !== "" && !pointer.startsWith("/")),
  );
  return odd ? `an odd finding ${JSON.stringify(odd).slice(0, 400)}` : undefined;
}
