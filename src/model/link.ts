/** One stated relation between two records, read off the record's own quads. */
export interface Link {
  /** CURIE of {@link import("./field.js").PREFIXES} where one fits, else the full IRI. */
  predicate: string;
  /** Stored form of the target, spelled as written here. */
  target: string;
  /** Identity key of the target. */
  targetKey: string;
}
