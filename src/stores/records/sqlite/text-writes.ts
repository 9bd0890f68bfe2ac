import type { RecordState } from "../port.js";
import { fold, indexable } from "./fold.js";
import type { Connection } from "./statement.js";

/** Keywords for the filter of lists, and the text that keyword search sees. Both hold live records only. */
export class TextWrites {
  readonly #words;
  readonly #addWord;
  readonly #dropWords;
  readonly #text;
  readonly #putText;
  readonly #dropText;
  readonly #index;
  readonly #unindex;

  constructor(connection: Connection) {
    this.#words = connection.prepare<[string, string]>("SELECT word, kind FROM keyword WHERE record = ?");
    this.#addWord = connection.prepare("INSERT INTO keyword (word, record, kind) VALUES (?, ?, ?)");
    this.#dropWords = connection.prepare("DELETE FROM keyword WHERE record = ?");
    this.#text = connection.prepare<[string, string, string, string]>("SELECT name, description, keywords, other FROM text WHERE id = ?");
    this.#putText = connection.prepare("INSERT OR REPLACE INTO text (id, name, description, keywords, other) VALUES (?, ?, ?, ?, ?)");
    this.#dropText = connection.prepare("DELETE FROM text WHERE id = ?");
    this.#index = connection.prepare("INSERT INTO search (rowid, name, description, keywords, other) VALUES (?, ?, ?, ?, ?)");
    // External content: the index must be told what it indexed, exactly.
    this.#unindex = connection.prepare("INSERT INTO search (search, rowid, name, description, keywords, other) VALUES ('delete', ?, ?, ?, ?, ?)");
  }

  add(record: number, state: RecordState): void {
    this.#add(record, textOf(state));
    this.#addWords(record, state);
  }

  replace(record: number, state: RecordState): void {
    const before = this.#text.get([record]);
    const now = textOf(state);
    if (!before || before.some((part, i) => part !== now[i])) {
      if (before) this.#unindex.run([record, ...before]);
      this.#add(record, now);
    }
    const words = new Set(state.keywords.map((word) => indexable(fold(word))));
    const stored = this.#words.all([record]);
    if (stored.length === words.size && stored.every(([word, kind]) => words.has(word) && kind === state.kind)) return;
    this.#dropWords.run([record]);
    this.#addWords(record, state);
  }

  remove(record: number): void {
    const before = this.#text.get([record]);
    if (before) {
      this.#unindex.run([record, ...before]);
      this.#dropText.run([record]);
    }
    this.#dropWords.run([record]);
  }

  #add(record: number, text: [string, string, string, string]): void {
    this.#putText.run([record, ...text]);
    this.#index.run([record, ...text]);
  }

  #addWords(record: number, state: RecordState): void {
    for (const word of new Set(state.keywords.map((keyword) => indexable(fold(keyword))))) this.#addWord.run([word, record, state.kind]);
  }
}

const textOf = ({ text }: RecordState): [string, string, string, string] =>
  [indexable(text.name), indexable(text.description), indexable(text.keywords), indexable(text.other)];
