import type { Page, Viewer } from "./record.js";

/** A stored object as a record refers to it. */
export interface ObjectReference {
  /** SHA-256, lower-case hex: the key of the object. */
  sha256: string;
  size: number;
  mediaType: string;
  /** Name offered for download, or the member's path. */
  name: string;
  /**
   * The role of the bytes: the record's content, a crate's archive, its original metadata, an
   * undescribed member.
   */
  role: "content" | "archive" | "metadata" | "member";
}

/** A file of a crate, and the record that has it. */
export interface FileReference extends ObjectReference {
  ark: string;
  position: string;
}

/** Which objects are needed; the object store itself does not know it. */
export interface ObjectBookkeeping {
  /**
   * Stores the intent to put these objects, before any put. Returns the hashes that a sweep is
   * removing right now: wait and ask again for those.
   */
  intend(
    holder: { kind: "submission" | "upload"; id: string; attempt: number },
    sha256s: readonly string[],
    at: number,
  ): Promise<{ removing: string[] }>;
  /** Ends the intents of a holder (its commit ended them already when it succeeded). */
  release(holder: { kind: "submission" | "upload"; id: string }): Promise<void>;
  /** Objects of a record; `revision` absent means now. */
  objectsOf(
    ark: string,
    options?: {
      role?: ObjectReference["role"];
      /** Only those of this name. */
      name?: string;
      revision?: number;
    },
  ): Promise<ObjectReference[]>;
  /**
   * The files of a crate: contents of its live records, of those minted for it and of those that it
   * uses, and files that no record describes (the record is then the crate). In order of the
   * records.
   * @param options.minSize only files of at least so many bytes
   */
  filesOf(
    crate: string,
    options: { after?: string; limit: number; minSize?: number; viewer?: Viewer | undefined },
  ): Promise<Page<FileReference>>;
  /**
   * True when the record once had an object of this role (content unless said otherwise), and has
   * none now.
   */
  contentWasDeleted(ark: string, role?: ObjectReference["role"]): Promise<boolean>;
  /**
   * In one transaction: marks objects that no record, no live intent and no unfinished submission
   * names as being removed, and returns them.
   */
  claimUnreferenced(
    sha256s: readonly string[],
    options: { now: number; intentLifetime: number },
  ): Promise<string[]>;
  /** Ends the marks of {@link claimUnreferenced} after the bytes are gone. */
  removed(sha256s: readonly string[]): Promise<void>;
  /** Every hash a record or unfinished submission refers to, in pages by hash. */
  referenced(options: {
    after?: string;
    limit: number;
  }): Promise<{ items: string[]; next?: string }>;
}
