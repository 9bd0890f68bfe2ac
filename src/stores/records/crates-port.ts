/** What a crate describes and was not minted for it. */
export interface CrateUses {
  /** ARK of the crate. */
  crate: string;
  /** Stored forms of the records; they replace those of before. */
  arks: string[];
  /** Records minted for the crate that it has no more: each counts from now on as minted for another crate that uses it. */
  released?: string[];
}

/** Which records a crate has beside those minted for it, which `crate` of a record names. */
export interface CrateBookkeeping {
  /** Live records that the crate uses, in order of creation. */
  usesOf(crate: string): Promise<string[]>;
  /** Those of `arks` that a crate other than this one uses. */
  usedElsewhere(arks: readonly string[], crate: string): Promise<string[]>;
  /** Text that differs after every change of the crate, of a record minted for it, or of one that it uses. */
  stateOfCrate(crate: string): Promise<string>;
}
