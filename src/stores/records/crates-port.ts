import type { Page, StoredRecord } from "./port.js";

/** What a crate describes and was not minted for it. */
export interface CrateUses {
  /** ARK of the crate. */
  crate: string;
  /** Stored forms of the records; they replace those of before. */
  arks: string[];
  /** Records minted for the crate that it has no more: each counts from now on as minted for another crate that uses it. */
  released?: string[];
}

/** What decides who may read the content of some members of a crate, with the first of those as an example. */
export type ClosedMember = Pick<StoredRecord, "ark" | "kind" | "owner" | "publicationStatus" | "embargoedUntil" | "crate">;

/** Which records a crate has beside those minted for it, which `crate` of a record names. */
export interface CrateBookkeeping {
  /** Live records that the crate uses, in order of creation. */
  usesOf(crate: string): Promise<string[]>;
  /** Those of `arks` that a crate other than this one uses. */
  usedElsewhere(arks: readonly string[], crate: string): Promise<string[]>;
  /** Of `limit` of its live records after a position those that have content and are not PUBLISHED: one for all that agree in kind, owner, status, embargo and crate, in no order. */
  closedMembers(crate: string, options: { after?: string; limit: number }): Promise<Page<ClosedMember>>;
  /** Text that differs after every change of the crate, of a record minted for it, or of one that it uses. */
  stateOfCrate(crate: string): Promise<string>;
}
