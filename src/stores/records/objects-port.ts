/** A stored object as a record refers to it. */
export interface ObjectReference {
  /** SHA-256, lower-case hex: the key of the object. */
  sha256: string;
  size: number;
  mediaType: string;
  /** Name offered for download, or the member's path. */
  name: string;
  /** What the bytes are to the record: its content, a crate's archive, its original metadata, an undescribed member. */
  role: "content" | "archive" | "metadata" | "member";
}

/** Which objects are needed; the object store itself does not know. */
export interface ObjectBookkeeping {
  /**
   * Records that these objects are about to be put, before any put. Answers the hashes that a sweep is
   * removing right now: wait and ask again for those.
   */
  intend(holder: { kind: "submission" | "upload"; id: string; attempt: number }, sha256s: readonly string[], at: number): Promise<{ removing: string[] }>;
  /** Ends the intents of a holder (its commit ended them already when it succeeded). */
  release(holder: { kind: "submission" | "upload"; id: string }): Promise<void>;
  /** Objects of a record; `revision` absent means now. */
  objectsOf(ark: string, options?: { role?: ObjectReference["role"]; /** Only those of this name. */ name?: string; revision?: number }): Promise<ObjectReference[]>;
  /** True when the record once had an object of this role (content unless said otherwise), and has none now. */
  contentWasDeleted(ark: string, role?: ObjectReference["role"]): Promise<boolean>;
  /** In one transaction: those that neither a record nor a live intent nor an unfinished submission names are marked as being removed, and answered. */
  claimUnreferenced(sha256s: readonly string[], options: { now: number; intentLifetime: number }): Promise<string[]>;
  /** Ends the marks of {@link claimUnreferenced} after the bytes are gone. */
  removed(sha256s: readonly string[]): Promise<void>;
  /** Every hash a record or unfinished submission refers to, in pages by hash. */
  referenced(options: { after?: string; limit: number }): Promise<{ items: string[]; next?: string }>;
}
