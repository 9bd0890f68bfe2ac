import type { ErrorCode } from "../../../errors.js";
import type { Progress } from "../../../jobs/port.js";
import type { Finding } from "../../../model/findings.js";
import type { KindName } from "../../../model/kind.js";
import type { ObjectsLocation } from "../../../storage/objects/location.js";
import type { CrateRecord } from "../build-records.js";
import type { IdentifySettings, RegisteredCrate } from "../identifiers/identify.js";
import type { CrateFormat, CrateLimits } from "../limits.js";

/** Start data of a thread. Holds no secret. */
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
  /** Sent to update a crate. */
  update?: boolean;
  /** Reports all findings, to the end of the crate, and stores nothing. */
  dryRun?: boolean;
}

/** An identifier that the crate is about to register. */
export interface Claim {
  ark: string;
  kind: KindName;
  root: boolean;
  /** `@id` as the crate writes it. */
  id: string;
  /** The `@id` is an ARK and is preserved; otherwise one is minted. */
  kept: boolean;
  /**
   * A crate that the uploader registered apart from this one: described by its own metadata file
   * here, or only named.
   */
  linked?: "described" | "named";
  file: string;
  pointer: string;
}
/** A claim that is refused, by its place in the list. */
export interface Refusal {
  index: number;
  code: "CRATE_EXISTS" | "IDENTIFIER_TAKEN" | "IDENTIFIER_BELOW" | "INVALID_ID";
  message: string;
}

/** Services that the intake needs from the process with the record store. */
export interface IntakeHost {
  progress(progress: Progress): void;
  /** Announces that these objects are about to be put; resolves when they may be put. */
  intend(sha256s: string[]): Promise<void>;
  /**
   * Which of these are live crates of the uploader's that were registered apart from the crate
   * `root`.
   */
  registered(arks: string[], root: string | undefined): Promise<RegisteredCrate[]>;
  claim(claims: Claim[]): Promise<Refusal[]>;
  /** Passes on a batch of records; it may be transferred, not copied. */
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
  /** From the separate process of a crate: its thread exceeded its memory limit. */
  | { type: "outOfMemory" }
  /** A fault that is not the crate's: a retry may help. */
  | {
      type: "fault";
      message: string;
      /** Present if callers may see it. */ code?: ErrorCode;
    };
/** Main side to thread. */
export type ToThread =
  | { id: number; refusals?: Refusal[]; registered?: RegisteredCrate[]; fault?: string }
  | { stop: true };
