import type { Config } from "../../config/config.js";

/** Form of the upload: an archive, or a metadata file alone. */
export type CrateFormat = "zip" | "metadata";

/** Settings that limit the cost of a crate. */
export type CrateLimits = Pick<
  Config,
  | "MAX_CRATE_ENTRIES"
  | "MAX_CRATE_INFLATED_BYTES"
  | "MAX_CRATE_RATIO"
  | "MAX_MEMBER_NAME_BYTES"
  | "MAX_METADATA_BYTES"
  | "MAX_ENTITY_BYTES"
  | "MAX_JSON_DEPTH"
  | "MAX_CRATE_ENTITIES"
  | "MAX_CRATE_CONTEXTS"
  | "MAX_CRATE_TERMS"
  | "MAX_CRATE_REFERENCES"
  | "MAX_CRATE_NESTING"
  | "MAX_CRATE_RECORD_BYTES"
>;

/** Most bytes of an upload that are received. */
export function uploadLimit(
  config: Config,
  format: CrateFormat,
): { limit: number; limitName: string } {
  const limitName = format === "zip" ? "MAX_UPLOAD_BYTES" : "MAX_METADATA_BYTES";
  return { limit: config[limitName], limitName };
}

const NAMES: (keyof CrateLimits)[] = [
  "MAX_CRATE_ENTRIES",
  "MAX_CRATE_INFLATED_BYTES",
  "MAX_CRATE_RATIO",
  "MAX_MEMBER_NAME_BYTES",
  "MAX_METADATA_BYTES",
  "MAX_ENTITY_BYTES",
  "MAX_JSON_DEPTH",
  "MAX_CRATE_ENTITIES",
  "MAX_CRATE_CONTEXTS",
  "MAX_CRATE_TERMS",
  "MAX_CRATE_REFERENCES",
  "MAX_CRATE_NESTING",
  "MAX_CRATE_RECORD_BYTES",
];

/** The limits alone: the data passed to a thread holds no secret. */
export function crateLimits(config: Config): CrateLimits {
  return Object.fromEntries(NAMES.map((name) => [name, config[name]])) as unknown as CrateLimits;
}
