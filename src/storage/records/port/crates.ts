import type { DanglingLink } from "./links.js";
import type { Page, StoredRecord, Viewer } from "./record.js";

/** The records that a crate describes and that were not minted for it. */
export interface CrateUses {
  /** ARK of the crate. */
  crate: string;
  /** Stored forms of the records; they replace the earlier ones. */
  arks: string[];
  /**
   * Records minted for the crate that it has no more: each counts from now on as minted for another
   * crate that uses it.
   */
  released?: string[];
}

/**
 * The fields that decide who may read the content of some members of a crate, with the first of
 * these members as an example.
 */
export type ClosedMember = Pick<
  StoredRecord,
  "ark" | "kind" | "owner" | "publicationStatus" | "embargoedUntil" | "crate" | "private"
>;

/** A live record with the end of its embargo, and the crate that it came with. */
export interface Embargo {
  ark: string;
  revision: number;
  until: string;
  crate: string | null;
}

/** Which records a crate has beside those minted for it, which `crate` of a record names. */
export interface CrateBookkeeping {
  /** Of the EMBARGOED records with an end those after a position, in order of creation. */
  embargoes(options: { after?: string; limit: number }): Promise<Page<Embargo>>;
  /** Live records that the crate uses, in order of creation. */
  usesOf(crate: string, viewer?: Viewer): Promise<string[]>;
  /** Those of `arks` that a crate other than this one uses. */
  usedElsewhere(arks: readonly string[], crate: string): Promise<string[]>;
  /**
   * Of `limit` of its live records after a position those that have content and are not PUBLISHED:
   * one for all that agree in kind, owner, status, embargo, crate and being private, in no order.
   */
  closedMembers(
    crate: string,
    options: { after?: string; limit: number },
  ): Promise<Page<ClosedMember>>;
  /**
   * Of `limit` links of the crate and of its live records after a position those that lead to no
   * live record that the viewer sees, in order of the records.
   */
  danglingLinks(
    crate: string,
    options: { after?: string; limit: number; viewer?: Viewer | undefined },
  ): Promise<Page<DanglingLink>>;
  /**
   * Text that differs after every change of the crate, of a record minted for it, or of one that it
   * uses. Private records count for a private crate only.
   */
  stateOfCrate(crate: string): Promise<string>;
}
