import { Findings } from "../../src/services/crates/findings.js";
import { describeCrate, type MetadataBytes } from "../../src/services/crates/metadata.js";
import { resolveEntities } from "../../src/services/crates/resolve.js";
import type { ResolvedCrate } from "../../src/services/crates/steps.js";
import { LIMITS } from "./crates.js";

const SETTINGS = { naan: "99999", acceptedNaans: "*" };

/**
 * The crate that these metadata files describe, the crate's own first, with nothing looked up in a
 * registry.
 * @throws CrateError with all errors
 */
export function resolveHere(
  metadata: readonly MetadataBytes[],
  members: Parameters<typeof resolveEntities>[0]["members"],
  settings: Partial<typeof SETTINGS> & { limits?: typeof LIMITS } = {},
  findings = new Findings(),
): ResolvedCrate {
  const { limits = LIMITS, ...identify } = settings;
  return resolveEntities(
    {
      descriptions: describeCrate(metadata, limits, findings),
      metadata: metadata.map(({ file }) => file),
      members,
    },
    { ...SETTINGS, ...identify },
    findings,
  );
}
