import { arkKey } from "../../../../identifiers/ark.js";
import { fold, indexable } from "../../fold.js";
import type { TransferRow, TransferTable } from "../../transfer-port.js";
import { Analyzer } from "../search/analyzer.js";
import { shortWord } from "../short-word.js";
import { sortedName } from "../sorted-name.js";
import { statement } from "../statement.js";
import type { Sending } from "../writes/sending.js";
import { ADD_TERMS, ADD_TEXTS } from "../writes/write-states.js";
import { type Column, insertOf } from "./tables.js";

const RECORD_MORE: readonly Column[] = [{ name: "folded", type: "text" }, { name: "sorted", type: "text" }, { name: "owner_key", type: "text" }];
const ADD_STATES = statement(`INSERT INTO state (id, document, quads, projected)
  SELECT v.id, substring($1::bytea FROM v.d FOR v.dl), substring($1::bytea FROM v.q FOR v.ql), CASE WHEN v.has = 1 THEN substring($1::bytea FROM v.p FOR v.pl) END
  FROM unnest($2::bigint[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[], $9::int[]) AS v (id, has, d, dl, q, ql, p, pl)`);
/** What a text belongs to, which was sent before it. */
const OWNERS = statement<[record: number, state: number, kind: string]>("SELECT id, state, kind FROM record WHERE id = ANY($1::bigint[])");
const ADD_KEYWORDS = statement("INSERT INTO keyword (word, record, kind) SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])");
// A fence never goes back, also where the target gave some out itself.
const ADD_LEASES = statement(`INSERT INTO lease (name, fence, expires_at) SELECT v.name, v.fence, now() FROM unnest($1::text[], $2::bigint[]) AS v (name, fence)
  ON CONFLICT (name) DO UPDATE SET holder = NULL, fence = greatest(lease.fence, excluded.fence)`);
const NOTHING = new Uint8Array(0);

/** Writes rows as they come, and what the database keeps beside them. */
export class ImportRows {
  readonly #analyzer = new Analyzer();
  readonly #inserts = new Map<TransferTable, ReturnType<typeof insertOf>>();
  readonly #stems = new Set<string>();

  constructor(private readonly sending: Sending) {}

  async put(table: TransferTable, rows: readonly TransferRow[]): Promise<void> {
    if (table === "state") return this.#states(rows);
    if (table === "text") return this.#texts(rows);
    if (table === "lease") return this.sending.rows(ADD_LEASES, rows);
    let insert = this.#inserts.get(table);
    if (!insert) this.#inserts.set(table, insert = insertOf(table, table === "record" ? RECORD_MORE : []));
    await this.sending.rows(insert, rows.map((row) => [...row.map((value) => (typeof value === "boolean" ? Number(value) : value)), ...(table === "record" ? recordMore(row) : [])]));
  }

  close(): void {
    this.#analyzer.close();
  }

  async #states(rows: readonly TransferRow[]): Promise<void> {
    await this.sending.rowsWithBytes(ADD_STATES, rows.map(([id, document, quads, projected]) =>
      ({ columns: [id, projected === null ? 0 : 1], bytes: [document as Uint8Array, quads as Uint8Array, (projected as Uint8Array | null) ?? NOTHING] })));
  }

  async #texts(rows: readonly TransferRow[]): Promise<void> {
    const texts = rows.map(([record, name, description, keywords, other, words]) => ({ record, name, description, keywords, other, words }) as { record: number; name: string; description: string; keywords: string; other: string; words: string });
    const owners = new Map((await this.sending.send(OWNERS, [texts.map(({ record }) => record)])).map(([record, state, kind]) => [record, { state, kind }]));
    const analyses = this.#analyzer.analyze(texts);
    await this.sending.rows(ADD_TEXTS, texts.map(({ record, name, description, keywords, other, words }, index) => {
      const { state, kind } = owners.get(record)!;
      return [state, kind, name, description, keywords, other, words, analyses[index]!.vector];
    }));
    await this.sending.rows(ADD_KEYWORDS, texts.flatMap(({ record, words }) =>
      (words === "" ? [] : [...new Set(words.split("\n").map(shortWord))].map((word) => [word, record, owners.get(record)!.kind]))));
    const stems = [...new Set(analyses.flatMap(({ stems }) => stems))].filter((stem) => !this.#stems.has(stem));
    if (this.#stems.size > MOST_KNOWN) this.#stems.clear();
    for (const stem of stems) this.#stems.add(stem);
    if (stems.length > 0) void this.sending.send(ADD_TERMS, [stems.map(({ length }) => length), stems], stems.length);
    await this.sending.breathe();
  }
}

/** Stems that are not sent again; some MiB. */
const MOST_KNOWN = 100_000;

/** Place of a record's name and owner in its row. */
const [NAME, OWNER] = [4, 5];

function recordMore(row: TransferRow): (string | null)[] {
  const [name, owner] = [row[NAME] as string | null, row[OWNER] as string | null];
  const folded = indexable(fold(name ?? ""));
  return [folded, sortedName(folded), owner === null ? null : arkKey(owner)];
}
