import { Connection } from "../sqlite/statement.js";

/** As the index is declared in the schema; words are stemmed by the same code. */
const TOKENIZER = "porter unicode61 remove_diacritics 2";

/** Gives the stems of words as the index stores them: an FTS5 table in memory tokenizes them. */
export class Stemmer {
  readonly #connection = new Connection(":memory:");
  readonly #add;
  readonly #stems;

  constructor() {
    this.#connection.exec(`CREATE VIRTUAL TABLE word USING fts5 (text, tokenize='${TOKENIZER}'); CREATE VIRTUAL TABLE stem USING fts5vocab ('word', 'instance')`);
    this.#add = this.#connection.prepare("INSERT INTO word (rowid, text) VALUES (?, ?)");
    this.#stems = this.#connection.prepare<[number, string]>("SELECT doc, term FROM stem");
  }

  /** The stem of each word; `undefined` for what the index takes for no word, or for several. */
  stemsOf(words: readonly string[]): (string | undefined)[] {
    const found = new Map<number, string[]>();
    this.#connection.exec("BEGIN");
    try {
      for (const [index, word] of words.entries()) this.#add.put([index + 1, word]);
      for (const [row, stem] of this.#stems.all()) (found.get(row) ?? found.set(row, []).get(row)!).push(stem);
    } finally {
      this.#connection.exec("ROLLBACK");
    }
    return words.map((_, index) => {
      const stems = found.get(index + 1);
      return stems?.length === 1 ? stems[0] : undefined;
    });
  }

  close(): void {
    this.#connection.close();
  }
}
