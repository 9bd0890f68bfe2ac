import { arkKey, lookupArk } from "../../../identifiers/ark.js";
import type { KindName } from "../../../model/kind.js";
import type { StoredRecord } from "../../../stores/records/port.js";
import { referencesIn } from "../../crates/json-path.js";
import type { Fields } from "./fields.js";
import { isTable } from "./formats.js";

/** What is kept of a record while the others are looked at. */
export interface Member {
  ark: string;
  kind: KindName;
  /** Data that says itself where it comes from, or that a computation says it made. */
  sourced: boolean;
  /** Where a computation, or software, names its container or environment. */
  environment?: string;
  /** A file, or data that is no folder. */
  isData: boolean;
  /** Work at the bench, which needs no software. */
  isExperiment: boolean;
  /** Of a table. */
  table?: TableFacts;
}

/** What a table names as its schema: the identity key of an ARK, or true for an address elsewhere; `undefined` for none. */
export interface TableFacts { schema: string | true | undefined; /** That ARK as it was written. */ ark?: string; place: string }

/** Names by which crates say where data come from, beside the statements of provenance. */
const SOURCES = ["isBasedOn", "isBasedOnUrl", "source", "sourceUrl", "sourceOrganization", "hadPrimarySource", "wasDerivedFrom", "wasGeneratedBy", "wasAttributedTo", "provider", "provenance"];
const ENVIRONMENT = ["container", "containerImage", "containerId", "environment", "runtimePlatform", "softwareRequirements", "dependencies", "operatingSystem", "processorRequirements", "availableOnDevice", "dockerImage", "conda", "buildInstructions"];
const LOCATION = ["contentUrl", "sourceContentUrl", "url", "codeRepository", "downloadUrl", "installUrl", "distribution", "sameAs", "identifier"];
const SCHEMAS = ["schema", "tableSchema", "dataSchema", "hasSchema"];

export type Role = "file" | "data" | "software" | "computation" | "other";

/** What a record is to the crate; a folder, which only lists its parts, is neither file nor data. */
export function roleOf({ kind }: Pick<StoredRecord, "kind">, fields: Fields, hasContent: boolean): Role {
  if (kind === "computation") return "computation";
  if (kind === "software") return hasContent ? "file" : "software";
  if (kind === "datadownload") return "file";
  if (kind !== "dataset") return "other";
  if (hasContent || fields.has("contentUrl", "sourceContentUrl", "md5", "sha256")) return "file";
  return fields.has("hasPart") ? "other" : "data";
}

/** An address that somebody may ask, of a file or of software. */
export function addressOf(fields: Fields, names: readonly string[] = ["contentUrl", "sourceContentUrl", "url", "distribution", "downloadUrl"]): string | undefined {
  return fields.references(...names).find((text) => /^(?:https?|s?ftps?|s3|gs|doi|ark|git|git\+https?|globus|ipfs|swh):/i.test(text.trim()));
}

export const hasSource = (fields: Fields): boolean => fields.has(...SOURCES) || addressOf(fields, ["sourceContentUrl"]) !== undefined;
export const hasEnvironment = (fields: Fields): boolean => fields.has(...ENVIRONMENT);
export const hasLocation = (fields: Fields, hasContent: boolean): boolean => hasContent || addressOf(fields, LOCATION) !== undefined;
export const environmentPlace = (fields: Fields): string => fields.place(...ENVIRONMENT);
export const locationPlace = (fields: Fields): string => fields.place(...LOCATION);

/** What a table names as its schema; `undefined` for what is no table. */
export function tableOf(fields: Fields): TableFacts | undefined {
  const field = fields.first(...SCHEMAS);
  const [named] = referencesIn(field?.value);
  if (!field && !isTable(fields)) return undefined;
  const ark = named === undefined ? undefined : lookupArk(named);
  return { schema: ark === undefined ? (named !== undefined && /^https?:\/\//i.test(named) ? true : undefined) : arkKey(ark), ...(ark === undefined ? {} : { ark }), place: fields.place(...SCHEMAS) };
}
