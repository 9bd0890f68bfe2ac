import { MessageChannel, type MessagePort } from "node:worker_threads";
import { eventLoop } from "../../../event-loop-budget.js";
import { unpackQuads } from "../codecs.js";
import type { FeedAnswer, FeedGraph, FeedRequest } from "../port.js";
import { type Database, type Session, statement } from "./statement.js";

type GraphRow = [id: number, ark: string, quads: Uint8Array | null];

const SEQUENCE = statement<[number]>("SELECT sequence FROM counter WHERE id = 1");
const TOTAL = statement<[number]>("SELECT coalesce(sum(live), 0)::bigint FROM tally");
const LIVE =
  statement<GraphRow>(`SELECT r.id, r.ark, coalesce(s.projected, s.quads) FROM record AS r JOIN state AS s
      ON s.id = r.state WHERE r.id > $1 AND r.deleted_at IS NULL AND r.private = 0 ORDER BY r.id LIMIT $2`);
// The last sequence of an answer: that of its limit-th change, so that no commit is cut.
const END = statement<[number]>(
  "SELECT sequence FROM change_log WHERE sequence > $1 ORDER BY sequence LIMIT 1 OFFSET $2",
);
const CHANGED =
  statement<GraphRow>(`SELECT r.id, r.ark, CASE WHEN r.deleted_at IS NULL AND r.private = 0
      THEN coalesce(s.projected, s.quads) END
      FROM (SELECT record, max(sequence) AS last FROM change_log
      WHERE sequence > $1 AND sequence <= $2 GROUP BY record) AS c JOIN record AS r
      ON r.id = c.record JOIN state AS s ON s.id = r.state ORDER BY c.last, r.id`);

async function all(
  session: Session,
  { id, all: { after, limit } }: Extract<FeedRequest, { all: unknown }>,
): Promise<FeedAnswer> {
  const [[sequence], [total], rows] = await Promise.all([
    session.one(SEQUENCE),
    session.one(TOTAL),
    session.query(LIVE, [after, limit + 1]),
  ]);
  const page = rows.slice(0, limit);
  const answer = { id, graphs: await graphsOf(page), sequence, total };
  const last = page.at(-1);
  return last && rows.length > limit ? { ...answer, next: last[0] } : answer;
}

async function since(
  session: Session,
  { id, since: { sequence, limit } }: Extract<FeedRequest, { since: unknown }>,
): Promise<FeedAnswer> {
  const [[newest], [last]] = await Promise.all([
    session.one(SEQUENCE),
    session.query(END, [sequence, Math.max(0, limit - 1)]),
  ]);
  const end = last?.[0] ?? newest;
  return {
    id,
    graphs: await graphsOf(await session.query(CHANGED, [sequence, end])),
    sequence: Math.max(end, sequence),
    more: end < newest,
  };
}

/** Large graphs are compressed: other requests are served between them. */
async function graphsOf(rows: readonly GraphRow[]): Promise<FeedGraph[]> {
  const graphs: FeedGraph[] = [];
  for (const [, ark, quads] of rows) {
    await eventLoop.pause();
    graphs.push({ ark, nquads: quads && unpackQuads(quads) });
  }
  return graphs;
}

/** Serves graphs to indexes in other threads; each answer is one snapshot. */
export class Feed {
  readonly #ports = new Set<MessagePort>();
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** A port for the reader; it may be transferred to another thread. */
  open(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#ports.add(port1);
    port1.on("close", () => this.#ports.delete(port1));
    port1.on("message", (request: FeedRequest) => {
      void this.#answer(request).then((answer) => {
        if (this.#ports.has(port1)) port1.postMessage(answer);
      });
    });
    return port2;
  }

  /** Readers see their ports close. */
  close(): void {
    for (const port of this.#ports) port.close();
    this.#ports.clear();
  }

  /** An error is an answer: the reader on the other side decides whether to ask again. */
  async #answer(request: FeedRequest): Promise<FeedAnswer> {
    try {
      return await this.#database.snapshot((session) =>
        "all" in request ? all(session, request) : since(session, request),
      );
    } catch (error) {
      return { id: request?.id, error: (error as Error).message, graphs: [], sequence: 0 };
    }
  }
}
