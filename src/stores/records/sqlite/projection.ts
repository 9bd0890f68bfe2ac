import type { Link } from "../../../model/link.js";
import { respell } from "../../../rdf/respell.js";
import { packQuads, unpackQuads } from "../quads-codec.js";
import type { Connection } from "./statement.js";

/** Keys whose owners are remembered between commits; some MiB. */
const MOST_KNOWN = 20_000;

/**
 * The graph as seen by the index: link targets spelled as the records that own their keys spell them. It is
 * always made from the quads as written, so that it is the same whichever record came first.
 */
export class Projection {
  readonly #owners;
  readonly #put;
  readonly #current;
  readonly #links;
  /** Spellings that own a key. They change only with a record that arrives, which is told by {@link owns}. */
  readonly #known = new Map<string, string[]>();

  constructor(connection: Connection) {
    this.#owners = connection.prepare<[string]>("SELECT ark FROM record WHERE key = ?");
    this.#put = connection.prepare("UPDATE state SET projected = ? WHERE id = ?");
    this.#current = connection.prepare<[number, Uint8Array, Uint8Array | null]>("SELECT s.id, s.quads, s.projected FROM record AS r JOIN state AS s ON s.id = r.state WHERE r.id = ? AND r.deleted_at IS NULL");
    this.#links = connection.prepare<[string, string]>("SELECT DISTINCT target, target_key FROM link WHERE source = ?");
  }

  /** Call when a commit begins. */
  begin(): void {
    if (this.#known.size > MOST_KNOWN) this.forget();
  }

  /** Call after a rollback: owners of keys are looked up anew. */
  forget(): void {
    this.#known.clear();
  }

  /** Tells the owners of a key that this commit itself brought, which saves looking them up. */
  owns(key: string, ark: string, shared: boolean): void {
    if (shared) this.#known.delete(key);
    else this.#known.set(key, [ark]);
  }

  /** Projects packed quads just written. */
  project(state: number, packed: Uint8Array, links: readonly Link[]): void {
    const spelling = this.#spelling(links);
    if (spelling.size === 0) return;
    const quads = unpackQuads(packed);
    const projected = respell(quads, spelling);
    if (projected !== quads) this.#put.put([packQuads(projected), state]);
  }

  /** Projects the current quads of a record again; true when they changed. */
  projectAgain(record: number): boolean {
    const row = this.#current.get([record]);
    if (!row) return false;
    const [state, written, before] = row;
    const quads = unpackQuads(written);
    const now = respell(quads, this.#spelling(this.#links.all([record]).map(([target, targetKey]) => ({ target, targetKey }))));
    if (now === (before ? unpackQuads(before) : quads)) return false;
    this.#put.put([now === quads ? null : packQuads(now), state]);
    return true;
  }

  /** As written → as owned. A key with several owners (members of one crate) is left as written. */
  #spelling(links: readonly Pick<Link, "target" | "targetKey">[]): Map<string, string> {
    const spelling = new Map<string, string>();
    for (const { target, targetKey } of links) {
      let owners = this.#known.get(targetKey);
      if (!owners) this.#known.set(targetKey, owners = this.#owners.all([targetKey]).map(([ark]) => ark));
      if (owners.length === 1 && owners[0] !== target) spelling.set(target, owners[0]!);
    }
    return spelling;
  }
}
