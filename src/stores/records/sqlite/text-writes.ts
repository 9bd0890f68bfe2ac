import type { GroupTail } from "./group-tail.js";
import type { PreparedState } from "./prepared-write.js";
import type { Connection } from "./statement.js";

type Text = [name: string, description: string, keywords: string, other: string];

/** Keywords for the filter of lists, and the text that keyword search sees. Both hold live records only. */
export class TextWrites {
  readonly #addWord;
  readonly #dropWord;
  readonly #stored;
  readonly #insert;
  readonly #drop;

  constructor(connection: Connection, private readonly tail: GroupTail) {
    this.#addWord = connection.prepare("INSERT INTO keyword (word, record, kind) VALUES (?, ?, ?)");
    this.#dropWord = connection.prepare("DELETE FROM keyword WHERE word = ? AND record = ?");
    this.#stored = connection.prepare<[...Text, words: string]>("SELECT name, description, keywords, other, words FROM text WHERE id = ?");
    this.#insert = connection.prepare("INSERT INTO text (id, name, description, keywords, other, words) VALUES (?, ?, ?, ?, ?, ?)");
    this.#drop = connection.prepare("DELETE FROM text WHERE id = ?");
  }

  add(record: number, state: PreparedState): void {
    const text = textOf(state);
    this.#insert.put([record, ...text, state.keywords.join("\n")]);
    this.tail.index([record, ...text]);
    for (const word of state.keywords) this.#addWord.put([word, record, state.kind]);
  }

  replace(record: number, state: PreparedState, kindChanged: boolean): void {
    const stored = this.#stored.get([record]);
    const same = stored && !kindChanged && [...textOf(state), state.keywords.join("\n")].every((part, i) => part === stored[i]);
    if (same) return;
    this.remove(record);
    this.add(record, state);
  }

  remove(record: number): void {
    const stored = this.#stored.get([record]);
    if (!stored) return;
    const [name, description, keywords, other, words] = stored;
    this.tail.unindex([record, name, description, keywords, other]);
    this.#drop.put([record]);
    if (words !== "") for (const word of words.split("\n")) this.#dropWord.put([word, record]);
  }
}

const textOf = ({ text: { name, description, keywords, other } }: PreparedState): Text => [name, description, keywords, other];
