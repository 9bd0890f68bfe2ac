import type { FeedAnswer, FeedGraph, FeedRequest } from "../port.js";
import { unpackQuads } from "../codecs.js";
import type { Connection } from "./statement.js";

type GraphRow = [id: number, ark: string, quads: Uint8Array | null];

/** Answers the questions of a graph index; each answer is one snapshot. */
export class FeedReads {
  readonly #sequence;
  readonly #total;
  readonly #live;
  readonly #end;
  readonly #changed;

  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;

    this.#sequence = connection.prepare<[number]>(
      "SELECT coalesce(max(sequence), 0) FROM change_log",
    );
    this.#total = connection.prepare<[number]>("SELECT coalesce(sum(live), 0) FROM tally");
    this.#live =
      connection.prepare<GraphRow>(`SELECT r.id, r.ark, coalesce(s.projected, s.quads) FROM record AS r CROSS
          JOIN state AS s ON s.id = r.state WHERE r.id > ? AND r.deleted_at IS NULL
          ORDER BY r.id LIMIT ?`);
    // The last sequence of an answer: that of its limit-th change, so that no commit is cut.
    this.#end = connection.prepare<[number]>(
      "SELECT sequence FROM change_log WHERE sequence > ? ORDER BY sequence LIMIT 1 OFFSET ?",
    );
    this.#changed = connection.prepare<GraphRow>(`SELECT r.id, r.ark, CASE WHEN r.deleted_at IS NULL
          THEN coalesce(s.projected, s.quads) END
          FROM (SELECT record, max(sequence) AS last FROM change_log
          WHERE sequence > ? AND sequence <= ? GROUP BY record) AS c CROSS JOIN record AS r
          ON r.id = c.record CROSS JOIN state AS s ON s.id = r.state ORDER BY c.last, r.id`);
  }

  answer(request: FeedRequest): FeedAnswer {
    return this.#connection.transaction(
      () => ("all" in request ? this.#all(request) : this.#since(request)),
      "DEFERRED",
    );
  }

  #all({ id, all: { after, limit } }: Extract<FeedRequest, { all: unknown }>): FeedAnswer {
    const sequence = this.#sequence.get()![0];
    const rows = this.#live.all([after, limit + 1]);
    const page = rows.slice(0, limit);
    const total = this.#total.get()![0];
    const answer = { id, graphs: page.map(graphOf), sequence, total };
    return rows.length > limit ? { ...answer, next: page.at(-1)![0] } : answer;
  }

  #since({ id, since: { sequence, limit } }: Extract<FeedRequest, { since: unknown }>): FeedAnswer {
    const newest = this.#sequence.get()![0];
    const end = this.#end.get([sequence, Math.max(0, limit - 1)])?.[0] ?? newest;
    return {
      id,
      graphs: this.#changed.all([sequence, end]).map(graphOf),
      sequence: Math.max(end, sequence),
      more: end < newest,
    };
  }
}

const graphOf = ([, ark, quads]: GraphRow): FeedGraph => ({
  ark,
  nquads: quads && unpackQuads(quads),
});
