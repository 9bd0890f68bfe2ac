import type { ErrorCode } from "../../../errors.js";
import type { Progress } from "../../../jobs/port.js";
import type { Finding } from "../../../model/findings.js";
import type { KindName } from "../../../model/kind.js";
import type { ObjectsLocation } from "../../../storage/objects/location.js";
import type { CrateRecord } from "../build-records.js";
import type { IdentifySettings, RegisteredCrate } from "../identifiers/identify.js";
import type { CrateFormat, CrateLimits } from "../limits.js";

/** What a thread is started with. Holds no secret. */
export interface IntakeInput {
  objects: ObjectsLocation;
  /** `staged` names bytes that are not stored under their key. */
  archive: { sha256: string; name: string; staged?: string };
  format: CrateFormat;
  limits: CrateLimits;
  identify: IdentifySettings;
  baseUrl: string;
  /** ARK of the uploader. */
  owner: string;
  /** Sent to bring a crate up to date. */
  update?: boolean;
  /** Finds everything, to the end of the crate, and stores nothing. */
  dryRun?: boolean;
}

/** An identifier that the crate is about to take. */
export interface Claim {
  ark: string;
  kind: KindName;
  root: boolean;
  /** `@id` as the crate writes it. */
  id: string;
  /** The `@id` is an ARK and stays; otherwise one is minted. */
  kept: boolean;
  /**
   * A crate that the uploader registered apart from this one: described by its own metadata file
   * here, or only named.
   */
  linked?: "described" | "named";
  file: string;
  pointer: string;
}
/** A claim that cannot be met, by its place in the list. */
export interface Refusal {
  index: number;
  code: "CRATE_EXISTS" | "IDENTIFIER_TAKEN" | "IDENTIFIER_BELOW" | "INVALID_ID";
  message: string;
}

/** What the intake needs of the side that holds the truth. */
export interface IntakeHost {
  progress(progress: Progress): void;
  /** Records that these objects are about to be put; resolves when they may be. */
  intend(sha256s: string[]): Promise<void>;
  /**
   * Which of these are live crates of the uploader's that were registered apart from the crate
   * `root`.
   */
  registered(arks: string[], root: string | undefined): Promise<RegisteredCrate[]>;
  claim(claims: Claim[]): Promise<Refusal[]>;
  /** Hands over a batch of records; it may be moved, not copied. */
  records(records: CrateRecord[]): void;
}
export type IntakeResult =
  { root: string; warnings: Finding[] } | { errors: Finding[]; warnings: Finding[] };

/** Thread to main side. */
export type FromThread =
  | { type: "progress"; progress: Progress }
  | { type: "intend"; id: number; sha256s: string[] }
  | { type: "registered"; id: number; arks: string[]; root: string | undefined }
  | { type: "claim"; id: number; claims: Claim[] }
  | { type: "records"; records: CrateRecord[] }
  | { type: "result"; result: IntakeResult }
  /** Of the process that a crate has for itself: its thread needed more memory than it may. */
  | { type: "outOfMemory" }
  /** A fault that is not the crate's: trying again may help. */
  | {
      type: "fault";
      message: string;
      /** Where it is one that callers are told of. */ code?: ErrorCode;
    };
/** Main side to thread. */
export type ToThread =
  | { id: number; refusals?: Refusal[]; registered?: RegisteredCrate[]; fault?: string }
  | { stop: true };
