import { arkKey, lookupArk } from "../../../identifiers/ark.js";
import type { KindName } from "../../../model/kind.js";
import type { StoredRecord } from "../../../stores/records/port.js";
import { referencesIn } from "../../crates/json-path.js";
import type { Fields } from "./fields.js";
import { isTable } from "./formats.js";

/** What is kept of a record while the others are looked at. */
export interface Member {
  /** Identity key. */
  key: string;
  ark: string;
  kind: KindName;
  /** Data that says itself where it comes from, or that a computation says it made. */
  sourced: boolean;
  /** Where a computation, or software, names its container or environment. */
  environment?: string;
  /** A dataset or file that is neither folder nor software. */
  isData: boolean;
  /** What the crate should reach by its lists of parts: data, and files of software. */
  isPart: boolean;
  /** A run whose inputs and outputs are asked for; what only arranges other runs is none. */
  run?: "computation" | "experiment";
  /** Where software says it is to be had; `null`: nowhere. */
  location?: string | null;
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

export type Role = "file" | "data" | "other";

/** What a record is to the crate: a dataset that tells of bytes is a file; a folder, which only lists its parts, is nothing. */
export function roleOf({ kind }: Pick<StoredRecord, "kind">, fields: Fields, hasContent: boolean): Role {
  if (kind === "datadownload" || (kind === "software" && hasContent)) return "file";
  if (kind !== "dataset") return "other";
  if (hasContent || fields.has("contentUrl", "sourceContentUrl", "md5", "sha256")) return "file";
  if (fields.has("hasPart")) return "other";
  return fields.has("contentSize", "format", "encodingFormat", "fileFormat") ? "file" : "data";
}

/** Types of runs, of the registry's vocabulary and of the run profiles of RO-Crate. */
export function runOf(types: readonly string[]): Member["run"] {
  if (types.includes("Experiment")) return "experiment";
  return types.some((type) => type === "Computation" || type === "CreateAction" || type === "UpdateAction") ? "computation" : undefined;
}

/** An address that somebody may ask, of a file or of software. */
export function addressOf(fields: Fields, names: readonly string[] = ["contentUrl", "sourceContentUrl", "url", "distribution", "downloadUrl"]): string | undefined {
  return fields.references(...names).find((text) => /^(?:https?|s?ftps?|s3|gs|doi|ark|git|git\+https?|globus|ipfs|swh):/i.test(text.trim()));
}

export const hasSource = (fields: Fields): boolean => fields.has(...SOURCES) || addressOf(fields, ["sourceContentUrl"]) !== undefined;
export const hasEnvironment = (fields: Fields): boolean => fields.has(...ENVIRONMENT);
export const environmentPlace = (fields: Fields): string => fields.place(...ENVIRONMENT);
/** Where software is to be had: here, or at an address. */
export const locationOf = (fields: Fields, hasContent: boolean): string | null => (hasContent || addressOf(fields, LOCATION) !== undefined ? fields.place(...LOCATION) : null);

/** What a table names as its schema; `undefined` for what is no table. */
export function tableOf(fields: Fields): TableFacts | undefined {
  const field = fields.first(...SCHEMAS);
  const [named] = referencesIn(field?.value);
  if (!field && !isTable(fields)) return undefined;
  const ark = named === undefined ? undefined : lookupArk(named);
  return { schema: ark === undefined ? (named !== undefined && /^https?:\/\//i.test(named) ? true : undefined) : arkKey(ark), ...(ark === undefined ? {} : { ark }), place: fields.place(...SCHEMAS) };
}
