/** What the steps of the pipeline get, ask and hand on. */
import type { Progress } from "../../jobs/port.js";
import type { Finding } from "../../model/findings.js";
import type { KindName } from "../../model/kind.js";
import type { ObjectsLocation } from "../../storage/objects/location.js";
import type { RecordWrite } from "../../storage/records/port.js";
import type { CrateFile, MatchedFile } from "./files/match-files.js";
import type { Findings, Place } from "./findings.js";
import type { RegisteredCrate } from "./identifiers/identify.js";
import type { LinkedEntity } from "./identifiers/rewrite.js";
import type { CrateDescriptions } from "./layout.js";
import type { CrateFormat, CrateLimits } from "./upload.js";
import type { Archive } from "./zip/archive.js";
import type { Member } from "./zip/members.js";

/** Bytes in the object store, and how to ingest them. */
export interface CrateUpload {
  sha256: string;
  /** Names bytes that are not stored under their hash. */
  staged?: string;
  /** Name of the uploaded file. */
  name?: string;
  /** `zip` by default. */
  format?: CrateFormat;
  /** ARK of the uploader. */
  user: string;
  /** The upload updates the crate that the uploader has. */
  update?: boolean;
  /** The update may remove all statements of a crate that the crate links. */
  emptyLinked?: boolean;
  /** ARK of the crate to update, where the upload names it. */
  crate?: string;
  /** Stores nothing, and reports all findings, to the end of the crate. */
  dryRun?: boolean;
}

/** What the first three steps know of an upload. It is passed to a thread and holds no secret. */
export interface IntakeInput extends CrateUpload {
  objects: ObjectsLocation;
  limits: CrateLimits;
  /** Setting ARK_NAAN: authority of a minted crate. */
  naan: string;
  /** Setting ACCEPTED_NAANS; `*` accepts all. */
  acceptedNaans: string;
  baseUrl: string;
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
  /** Identifiers that the crate cannot use. */
  claim(claims: Claim[]): Promise<Conflict[]>;
  /** Passes on a batch of records; it may be transferred, not copied. */
  records(records: CrateRecord[]): void;
}
export type IntakeResult =
  { root: string; warnings: Finding[] } | { errors: Finding[]; warnings: Finding[] };

/** An upload whose metadata was read. */
export interface ReadCrate {
  /** The crate's own first, then those of nested crates. */
  descriptions: CrateDescriptions;
  /** Metadata files, also those that could not be read. */
  metadata: readonly string[];
  /** Files and folders of the archive; none for a document. */
  members: readonly Member[];
  /** Absent for a metadata document that was uploaded alone. */
  archive?: Archive;
  /** Bytes of the upload. */
  size: number;
}

/** An entity with its kind and its file, before anything is stored. */
export interface ResolvedEntity extends LinkedEntity {
  kind: KindName;
  file?: MatchedFile;
  embargoed: boolean;
  /** Metadata file that this entity is the root of. */
  metadata?: string;
}
/** A crate whose entities have their identifiers, kinds and files; nothing of it is stored. */
export interface ResolvedCrate {
  /** The crate itself comes first. */
  entities: ResolvedEntity[];
  root: ResolvedEntity;
  /** Files that no entity describes. */
  undescribed: CrateFile[];
  findings: Findings;
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

export interface Conflict extends Pick<Place, "file" | "pointer"> {
  ark: string;
  code:
    | "CRATE_EXISTS"
    | "IDENTIFIER_TAKEN"
    | "IDENTIFIER_BELOW"
    | "INVALID_ID"
    | "CHANGED_MEANWHILE"
    | "CRATE_EMPTIED";
  message: string;
}

/** A built record. */
export type CrateRecord = Extract<RecordWrite, { op: "create" }>;
