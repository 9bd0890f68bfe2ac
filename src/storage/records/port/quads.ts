/** Quads that an earlier version stored in a coding of its own. */
export interface QuadsRewrite {
  /**
   * Stores the quads of up to `limit` states behind a number as {@link import("../codecs.js").packQuads}
   * packs them now.
   * @returns number of the last state that was examined; `undefined` when there is none behind `after`
   */
  rewriteQuads(after: number, limit: number): Promise<number | undefined>;
}
