import { repacked } from "../codecs.js";
import type { Connection } from "./statement.js";

/** The bytes of an F32_BLOB, as libSQL compares them. */
export const bytesOf = (vector: Float32Array): Uint8Array => new Uint8Array(vector.slice().buffer);

/** Quads of earlier versions; see {@link import("../port.js").QuadsRewrite}. */
export class QuadsRewrites {
  readonly #states;
  readonly #rewrite;

  constructor(connection: Connection) {
    this.#states = connection.prepare<[number, Uint8Array, Uint8Array | null]>(
      "SELECT id, quads, projected FROM state WHERE id > ? ORDER BY id LIMIT ?",
    );
    this.#rewrite = connection.prepare("UPDATE state SET quads = ?2, projected = ?3 WHERE id = ?1");
  }

  rewrite(after: number, limit: number): number | undefined {
    const states = this.#states.all([after, limit]);
    for (const [id, quads, projected] of states) {
      const again = [repacked(quads), projected === null ? undefined : repacked(projected)];
      if (again.some((bytes) => bytes !== undefined))
        this.#rewrite.put([id, again[0] ?? quads, again[1] ?? projected]);
    }
    return states.at(-1)?.[0];
  }
}
