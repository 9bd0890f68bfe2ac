import { repacked } from "../codecs.js";
import { type Database, statement } from "./statement.js";

const STATES = statement<[id: number, quads: Uint8Array, projected: Uint8Array | null]>(
  "SELECT id, quads, projected FROM state WHERE id > $1 ORDER BY id LIMIT $2",
);
const REWRITE = statement(
  `UPDATE state SET quads = decode(again.hex, 'hex')
    FROM unnest($1::bigint[], $2::text[]) AS again (id, hex) WHERE state.id = again.id`,
);
// A commit may have written others meanwhile, in the coding of now.
const REWRITE_PROJECTED = statement(
  `UPDATE state SET projected = decode(again.hex, 'hex')
    FROM unnest($1::bigint[], $2::text[], $3::text[]) AS again (id, hex, earlier)
    WHERE state.id = again.id AND state.projected = decode(again.earlier, 'hex')`,
);

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Quads of earlier versions; see {@link import("../port.js").QuadsRewrite}. */
export class QuadsRewrites {
  readonly #writing: Database;

  constructor(writing: Database) {
    this.#writing = writing;
  }

  async rewriteQuads(after: number, limit: number): Promise<number | undefined> {
    const states = await this.#writing.query(STATES, [after, limit]);
    const written = states.flatMap(([id, quads]) => {
      const again = repacked(quads);
      return again ? [{ id, again: hexOf(again) }] : [];
    });
    const projected = states.flatMap(([id, , earlier]) => {
      const again = earlier && repacked(earlier);
      return again ? [{ id, again: hexOf(again), earlier: hexOf(earlier) }] : [];
    });
    if (written.length > 0)
      await this.#writing.query(REWRITE, [
        written.map(({ id }) => id),
        written.map(({ again }) => again),
      ]);
    if (projected.length > 0)
      await this.#writing.query(REWRITE_PROJECTED, [
        projected.map(({ id }) => id),
        projected.map(({ again }) => again),
        projected.map(({ earlier }) => earlier),
      ]);
    return states.at(-1)?.[0];
  }
}
