/**
 * Serves graphs to indexes in other threads, so that neither reading nor inflating them blocks the
 * serving thread.
 */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { unpackQuads } from "../codecs.js";
import type { FeedThreadMessage } from "../threads.js";
import type { FeedAnswer, FeedGraph, FeedRequest } from "../port.js";
import { Database, type DatabaseOptions, type Session, statement } from "./statement.js";

type GraphRow = [id: number, ark: string, quads: Uint8Array | null];

const SEQUENCE = statement<[number]>("SELECT sequence FROM counter WHERE id = 1");
const TOTAL = statement<[number]>("SELECT coalesce(sum(live), 0)::bigint FROM tally");
const LIVE =
  statement<GraphRow>(`SELECT r.id, r.ark, coalesce(s.projected, s.quads) FROM record AS r JOIN state AS s
      ON s.id = r.state WHERE r.id > $1 AND r.deleted_at IS NULL ORDER BY r.id LIMIT $2`);
// The last sequence of an answer: that of its limit-th change, so that no commit is cut.
const END = statement<[number]>(
  "SELECT sequence FROM change_log WHERE sequence > $1 ORDER BY sequence LIMIT 1 OFFSET $2",
);
const CHANGED =
  statement<GraphRow>(`SELECT r.id, r.ark, CASE WHEN r.deleted_at IS NULL THEN coalesce(s.projected, s.quads) END
      FROM (SELECT record, max(sequence) AS last FROM change_log
      WHERE sequence > $1 AND sequence <= $2 GROUP BY record) AS c JOIN record AS r
      ON r.id = c.record JOIN state AS s ON s.id = r.state ORDER BY c.last, r.id`);

/** Answers the questions of a graph index; each answer is one snapshot. */
class FeedReads {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  answer(request: FeedRequest): Promise<FeedAnswer> {
    return this.#database.snapshot((session) =>
      "all" in request ? all(session, request) : since(session, request),
    );
  }
}

async function all(
  session: Session,
  { id, all: { after, limit } }: Extract<FeedRequest, { all: unknown }>,
): Promise<FeedAnswer> {
  const [[sequence], [total], rows] = await Promise.all([
    session.query(SEQUENCE),
    session.query(TOTAL),
    session.query(LIVE, [after, limit + 1]),
  ]);
  const page = rows.slice(0, limit);
  const answer = { id, graphs: page.map(graphOf), sequence: sequence![0], total: total![0] };
  return rows.length > limit ? { ...answer, next: page.at(-1)![0] } : answer;
}

async function since(
  session: Session,
  { id, since: { sequence, limit } }: Extract<FeedRequest, { since: unknown }>,
): Promise<FeedAnswer> {
  const [[newest], [last]] = await Promise.all([
    session.query(SEQUENCE),
    session.query(END, [sequence, Math.max(0, limit - 1)]),
  ]);
  const end = last?.[0] ?? newest![0];
  return {
    id,
    graphs: (await session.query(CHANGED, [sequence, end])).map(graphOf),
    sequence: Math.max(end, sequence),
    more: end < newest![0],
  };
}

const graphOf = ([, ark, quads]: GraphRow): FeedGraph => ({
  ark,
  nquads: quads && unpackQuads(quads),
});

/** Connections of the thread: one reader seldom asks twice at a time. */
const POOL = 2;

const database = new Database({
  ...(workerData as Omit<DatabaseOptions, "pool" | "log">),
  pool: POOL,
  log: () => {},
});
const feed = new FeedReads(database);
const feeds = new Set<MessagePort>();

/** An error is an answer: the reader on the other side decides whether to ask again. */
async function answer(request: FeedRequest): Promise<FeedAnswer> {
  try {
    return await feed.answer(request);
  } catch (error) {
    return { id: request?.id, error: (error as Error).message, graphs: [], sequence: 0 };
  }
}

parentPort!.on("message", (message: FeedThreadMessage) => {
  if ("close" in message) {
    for (const port of feeds) port.close();
    parentPort!.close();
    void database.close();
    return;
  }
  const port = message.open;
  feeds.add(port);
  port.on(
    "message",
    (request: FeedRequest) =>
      void answer(request).then((answered) => {
        if (feeds.has(port)) port.postMessage(answered);
      }),
  );
  port.on("close", () => feeds.delete(port));
});
