/** What evidence needs of all statements, in columns of numbers that grow. */
import { createHash } from "node:crypto";
import { expandCurie } from "../../../model/field.js";
import {
  inferredGraph,
  PROVENANCE,
  type ProvenanceName,
  SUPPORTED_BY,
  statedAs,
} from "../../../model/provenance.js";
import type { FeedGraph } from "../../records/port.js";
import { type Arm, type EvidenceQuestion, isIri, type Nodes, type Way } from "../port.js";

/** Numbers of four bytes, or of one, in memory that grows by half. */
class Numbers {
  #values: Int32Array | Uint8Array;
  #length: number;

  /** @param zeros numbers to begin with */
  constructor(
    zeros = 0,
    readonly kind: typeof Int32Array | typeof Uint8Array = Int32Array,
  ) {
    this.#values = new kind(1024);
    this.#length = zeros;
  }

  /** @returns its place */
  push(value: number): number {
    if (this.#length === this.#values.length) {
      const larger = new this.kind(this.#length + (this.#length >> 1));
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    return this.#length++;
  }

  at(place: number): number {
    return this.#values[place]!;
  }

  get length(): number {
    return this.#length;
  }

  /** The numbers so far, in the memory that holds them: those of one column may change later. */
  view(): Int32Array | Uint8Array {
    return this.#values.subarray(0, this.#length);
  }

  /** Makes so many numbers of it, to be filled by the caller, and memory for some more. */
  refill(length: number): Int32Array | Uint8Array {
    this.#values = new this.kind(length + (length >> 4) + 1024);
    this.#length = length;
    return this.view();
  }

  set(place: number, value: number): void {
    this.#values[place] = value;
  }
}

/** Bytes of a block; a longer text is a block by itself. */
const BLOCK = 2 ** 22;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Texts as UTF-8, in blocks: no object for each, and nothing is copied when more come. */
class Texts {
  readonly #blocks: Uint8Array[] = [];
  /** Bytes used of the last block. */
  #end = BLOCK;
  readonly #block = new Numbers();
  readonly #start = new Numbers();
  readonly #bytes = new Numbers();

  /** @returns its place */
  push(text: string): number {
    const bytes = encoder.encode(text);
    if (this.#end + bytes.length > BLOCK) {
      this.#blocks.push(new Uint8Array(Math.max(BLOCK, bytes.length)));
      this.#end = 0;
    }
    this.#blocks.at(-1)!.set(bytes, this.#end);
    this.#block.push(this.#blocks.length - 1);
    this.#start.push(this.#end);
    this.#end += bytes.length;
    return this.#bytes.push(bytes.length);
  }

  /** Where each text is, and the blocks; texts that come later are in neither. */
  view(): { places: readonly Numbers[]; blocks: Uint8Array[] } {
    return {
      places: [this.#block, this.#start, this.#bytes],
      blocks: this.#blocks.map((block, index) =>
        index === this.#blocks.length - 1 ? block.subarray(0, this.#end) : block,
      ),
    };
  }

  /** Makes blocks of so many bytes, to be filled by the caller, as {@link view} returned them. */
  refill(blocks: readonly number[]): Uint8Array[] {
    for (const length of blocks) this.#blocks.push(new Uint8Array(length));
    this.#end = BLOCK;
    return this.#blocks;
  }

  at(place: number): string {
    return decoder.decode(this.#bytesOf(place));
  }

  /** Overwrites a text that is not needed any more. */
  erase(place: number): void {
    this.#bytesOf(place).fill(0);
  }

  #bytesOf(place: number): Uint8Array {
    const start = this.#start.at(place);
    return this.#blocks[this.#block.at(place)]!.subarray(start, start + this.#bytes.at(place));
  }
}

/** Characters of a description that are stored: one more than evidence shows. */
const LONGEST = 301;

const NAMES = Object.keys(PROVENANCE) as ProvenanceName[];
/** Codes of predicates; 0 is a statement that was removed. */
const [TYPE, NAME, DESCRIPTION, SAME_AS, HAS_PART, SUPPORT, FIRST_NAME] = [1, 2, 3, 4, 5, 6, 7];
const CODE_OF_NAME = new Map(NAMES.map((name, index) => [name, FIRST_NAME + index]));
const CODES: ReadonlyMap<string, number> = new Map([
  [expandCurie("rdf:type"), TYPE],
  [expandCurie("schema:name"), NAME],
  [expandCurie("schema:description"), DESCRIPTION],
  [expandCurie("schema:sameAs"), SAME_AS],
  [expandCurie("schema:hasPart"), HAS_PART],
  [SUPPORTED_BY, SUPPORT],
  ...NAMES.map((name): [string, number] => [statedAs(name), CODE_OF_NAME.get(name)!]),
]);
/** Those whose objects are texts; the objects of the others are IRIs. */
const isText = (code: number): boolean => code === NAME || code === DESCRIPTION;
/** Those that are never asked for by their object. */
const isOneWay = (code: number): boolean => code === TYPE || isText(code);

/** What a store holds, for a snapshot. */
export interface StoreView {
  counts: {
    rewrites: number;
    records: number;
    statements: number;
    used: readonly number[];
    terms: number;
    texts: number;
    rows: number;
    blocks: readonly number[];
  };
  columns: readonly (Int32Array | Uint8Array)[];
  blocks: readonly Uint8Array[];
  /** As many as `terms`; more may come. */
  iris: readonly string[];
}

/**
 * What evidence needs to know of the graph, as numbers: each IRI once, and for each statement its
 * terms and the next statement of the same subject, object and record. A twentieth of the memory of
 * an engine that answers SPARQL.
 */
export class EvidenceStore {
  /** What it reads of the records, and the numbers it gives to that. */
  static readonly reads = createHash("sha256")
    .update(JSON.stringify([...CODES, LONGEST, "records"]))
    .digest("hex");

  /**
   * Number of records replaced or removed; their statements stay, as removed ones, and their names
   * and descriptions until the next {@link view}.
   */
  rewrites = 0;
  records = 0;
  /** Statements of the records, stored or not. */
  statements = 0;

  readonly #ids = new Map<string, number>();
  readonly #iris: string[] = [];
  /** By term: the newest statement with it as subject, as object, and of it as record; 0 for none. */
  readonly #ofSubject = new Numbers();
  readonly #ofObject = new Numbers();
  readonly #ofRecord = new Numbers();
  /** By term: the lines of its record. */
  readonly #lines = new Numbers();

  /** By statement. The first is none. A graph that is not the record's own is inferred. */
  readonly #subject = new Numbers(1);
  readonly #code = new Numbers(1, Uint8Array);
  readonly #object = new Numbers(1);
  readonly #graph = new Numbers(1);
  readonly #nextOfSubject = new Numbers(1);
  readonly #nextOfObject = new Numbers(1);
  readonly #nextOfRecord = new Numbers(1);
  readonly #texts = new Texts();
  /** Places of texts that were removed and are not overwritten yet. */
  #removedTexts: number[] = [];
  /** Statements in use, by code. */
  readonly #used = new Uint32Array(FIRST_NAME + NAMES.length);

  readonly #onRefused: (ark: string, lines: number) => void;

  /** @param onRefused called with lines that cannot be stored; the rest of the record is stored */
  constructor(onRefused: (ark: string, lines: number) => void = () => {}) {
    this.#onRefused = onRefused;
  }

  /** Brings each record to the given state. */
  apply(graphs: readonly FeedGraph[]): void {
    for (const { ark, nquads } of graphs) {
      const record = this.#ids.get(ark);
      if (record !== undefined && this.#lines.at(record) > 0) this.#remove(record);
      if (nquads !== null) this.#add(ark, nquads);
    }
  }

  /** Number of different IRIs. */
  get terms(): number {
    return this.#iris.length;
  }

  /**
   * All that is stored, as of now: columns that change later are copied, the others only grow. For
   * {@link refill}. Texts that were removed are overwritten here and not at once: a view that is
   * being written must not change. So one view at a time.
   */
  view(): StoreView {
    for (const place of this.#removedTexts) this.#texts.erase(place);
    this.#removedTexts = [];
    const { places, blocks } = this.#texts.view();
    return {
      counts: {
        rewrites: this.rewrites,
        records: this.records,
        statements: this.statements,
        used: [...this.#used],
        terms: this.#iris.length,
        texts: places[0]!.length,
        rows: this.#code.length,
        blocks: blocks.map(({ length }) => length),
      },
      columns: [
        ...this.#changing().map((column) => column.view().slice()),
        ...[...this.#growing(), ...places].map((column) => column.view()),
      ],
      blocks,
      iris: this.#iris,
    };
  }

  /**
   * Memory for what a view held, to be filled by the caller. The store must be empty.
   * @returns its columns and blocks; `add` takes each IRI, in order
   */
  refill({
    rewrites,
    records,
    statements,
    used,
    terms,
    texts,
    rows,
    blocks,
  }: StoreView["counts"]): {
    columns: (Int32Array | Uint8Array)[];
    blocks: Uint8Array[];
    add(iri: string): void;
  } {
    this.rewrites = rewrites;
    this.records = records;
    this.statements = statements;
    this.#used.set(used);
    const { places } = this.#texts.view();
    return {
      columns: [
        ...this.#changing().map((column) => column.refill(column === this.#code ? rows : terms)),
        ...this.#growing().map((column) => column.refill(rows)),
        ...places.map((column) => column.refill(texts)),
      ],
      blocks: this.#texts.refill(blocks),
      add: (iri) => {
        this.#ids.set(iri, this.#iris.length);
        this.#iris.push(iri);
      },
    };
  }

  #changing(): Numbers[] {
    return [this.#ofSubject, this.#ofObject, this.#ofRecord, this.#lines, this.#code];
  }

  #growing(): Numbers[] {
    return [
      this.#subject,
      this.#object,
      this.#graph,
      this.#nextOfSubject,
      this.#nextOfObject,
      this.#nextOfRecord,
    ];
  }

  /** The answer as SPARQL 1.1 TSV: IRIs in angle brackets, texts as N-Quads has them. */
  answer(question: EvidenceQuestion): string {
    switch (question.ask) {
      case "properties":
        return table(
          "?p",
          NAMES.filter((name) => this.#used[CODE_OF_NAME.get(name)!]! > 0).map(
            (name) => `<${statedAs(name)}>`,
          ),
        );
      case "neighbour":
        return table("?o", this.#neighbour(question.of, question.way));
      case "nodes":
        return table(
          "?n",
          this.#nodes(question.of).map((node) => this.#term(node)),
        );
      case "edges":
        return this.#edges(question.of, question.arms, question.limit ?? Number.POSITIVE_INFINITY);
      case "parts":
        return table("?w\t?g\t?n", this.#parts(question.of));
      case "aliases":
        return table("?u", this.#aliases(question.of));
      case "records":
        return table(
          "?n\t?g",
          question.of.flatMap((url) => this.#records(url)),
        );
      case "selves":
        return table(
          "?n\t?type\t?name\t?description",
          this.#nodes(question.of).flatMap((node) => this.#described(node, node, "")),
        );
      case "described":
        return table(
          "?n\t?g\t?type\t?name\t?description",
          question.of.flatMap(([node, graph]) => {
            const [n, g] = [this.#ids.get(node), this.#ids.get(graph)];
            return n === undefined || g === undefined
              ? []
              : this.#described(n, g, `\t${this.#term(g)}`);
          }),
        );
    }
  }

  #term(id: number): string {
    return `<${this.#iris[id]!}>`;
  }

  /** @returns -1 for text that is no IRI */
  #id(iri: string): number {
    const known = this.#ids.get(iri);
    if (known !== undefined) return known;
    if (!isIri(iri)) return -1;
    const id = this.#iris.length;
    // A part of a text would hold on to all of the text.
    const own = Buffer.from(iri).toString();
    this.#ids.set(own, id);
    this.#iris.push(own);
    for (const column of [this.#ofSubject, this.#ofObject, this.#ofRecord, this.#lines])
      column.push(0);
    return id;
  }

  #remove(record: number): void {
    for (let at = this.#ofRecord.at(record); at !== 0; at = this.#nextOfRecord.at(at)) {
      const code = this.#code.at(at);
      this.#used[code]!--;
      if (isText(code)) this.#removedTexts.push(this.#object.at(at));
      this.#code.set(at, 0);
    }
    this.#ofRecord.set(record, 0);
    this.statements -= this.#lines.at(record);
    this.#lines.set(record, 0);
    this.rewrites++;
    this.records--;
  }

  #add(ark: string, nquads: string): void {
    const record = this.#id(ark);
    const inferred = inferredGraph(ark);
    let lines = 0;
    let refused = 0;
    for (let start = 0; start < nquads.length;) {
      const line = nquads.indexOf("\n", start);
      const end = line === -1 ? nquads.length : line;
      if (end > start) {
        lines++;
        if (record < 0 || !this.#addLine(nquads.slice(start, end), record, inferred)) refused++;
      }
      start = end + 1;
    }
    if (record >= 0) {
      this.#lines.set(record, lines);
      if (lines > 0) this.records++;
      this.statements += lines;
    }
    if (refused > 0) this.#onRefused(ark, refused);
  }

  /** @returns false for a line with a text that cannot be an IRI where one should be */
  #addLine(line: string, record: number, inferred: string): boolean {
    const predicate = line.indexOf(" ") + 1;
    const object = line.indexOf(" ", predicate) + 1;
    const code = CODES.get(line.slice(predicate + 1, object - 2));
    if (code === undefined) return true;
    // The graph is the last term: `<graph> .`
    const graph = line.lastIndexOf(" <") + 1;
    const name = line.slice(graph + 1, line.lastIndexOf(">"));
    // Text in place of an identifier is no edge, part or alias.
    if (!isText(code) && line.charCodeAt(object) !== LESS) return true;
    const s = this.#id(line.slice(1, predicate - 2));
    const g = name === inferred ? record : this.#id(name);
    const o = isText(code)
      ? this.#texts.push(textOf(line.slice(object, graph - 1), code))
      : this.#id(line.slice(object + 1, graph - 2));
    if (s < 0 || g < 0 || o < 0) return false;
    const at = this.#code.push(code);
    this.#used[code]!++;
    this.#subject.push(s);
    this.#object.push(o);
    // An inferred graph is asked for by nobody; as a number it is none.
    this.#graph.push(name === inferred ? -1 : g);
    this.#nextOfSubject.push(this.#ofSubject.at(s));
    this.#ofSubject.set(s, at);
    this.#nextOfRecord.push(this.#ofRecord.at(record));
    this.#ofRecord.set(record, at);
    if (isOneWay(code)) this.#nextOfObject.push(0);
    else {
      this.#nextOfObject.push(this.#ofObject.at(o));
      this.#ofObject.set(o, at);
    }
    return true;
  }

  /** The statements of a node as subject, or as object. */
  *#around(node: number, forward: boolean): Generator<number, void, undefined> {
    const [first, next] = forward
      ? [this.#ofSubject, this.#nextOfSubject]
      : [this.#ofObject, this.#nextOfObject];
    for (let at = first.at(node); at !== 0; at = next.at(at)) if (this.#code.at(at) !== 0) yield at;
  }

  #neighbour(of: string, way: Way): string[] {
    const node = this.#ids.get(of);
    if (node === undefined) return [];
    const forward = way === "upstream";
    for (const at of this.#around(node, forward)) {
      const code = this.#code.at(at);
      const other = forward ? this.#object.at(at) : this.#subject.at(at);
      if (code === SUPPORT || (!isOneWay(code) && other === node)) return [this.#term(other)];
    }
    return [];
  }

  /** All nodes that statements with this code lead to, the start included, nearest first. */
  #beyond(start: number, code: number, forward: boolean): number[] {
    const seen = new Set([start]);
    for (const node of seen)
      for (const at of this.#around(node, forward))
        if (this.#code.at(at) === code)
          seen.add(forward ? this.#object.at(at) : this.#subject.at(at));
    return [...seen];
  }

  #nodes(of: Nodes): number[] {
    if ("nodes" in of)
      return of.nodes.flatMap((node) => {
        const id = this.#ids.get(node);
        return id === undefined ? [] : [id];
      });
    const start = this.#ids.get(of.from);
    return start === undefined ? [] : this.#beyond(start, SUPPORT, of.way === "upstream");
  }

  #edges(of: Nodes, arms: readonly Arm[], limit: number): string {
    const placesOf = (forward: boolean): ReadonlyMap<number, string> =>
      new Map(
        arms.flatMap((arm, place) =>
          arm.forward === forward ? [[CODE_OF_NAME.get(arm.name)!, "\t".repeat(place + 1)]] : [],
        ),
      );
    const sides = [true, false].map((forward) => ({ forward, places: placesOf(forward) }));
    const rows: string[] = [];
    for (const node of this.#nodes(of)) {
      for (const { forward, places } of sides) {
        if (places.size === 0) continue;
        for (const at of this.#around(node, forward)) {
          const place = places.get(this.#code.at(at));
          const graph = this.#graph.at(at);
          if (place === undefined || graph < 0) continue;
          const other = forward ? this.#object.at(at) : this.#subject.at(at);
          rows.push(`${this.#term(node)}\t${this.#term(graph)}${place}${this.#term(other)}`);
          if (rows.length >= limit) return table(EDGES, rows);
        }
      }
    }
    return table(EDGES, rows);
  }

  /** The statements of parts of a node and of its parts, without inferred ones. */
  #parts(of: string): string[] {
    const start = this.#ids.get(of);
    const rows: string[] = [];
    const wholes = new Set(start === undefined ? [] : [start]);
    for (const whole of wholes)
      for (const at of this.#around(whole, true)) {
        const graph = this.#graph.at(at);
        if (this.#code.at(at) !== HAS_PART || graph < 0) continue;
        const part = this.#object.at(at);
        rows.push(`${this.#term(whole)}\t${this.#term(graph)}\t${this.#term(part)}`);
        wholes.add(part);
      }
    return rows;
  }

  #aliases(of: string): string[] {
    const record = this.#ids.get(of);
    const found = new Set<number>();
    for (const at of record === undefined ? [] : this.#around(record, true)) {
      const alias = this.#object.at(at);
      if (this.#code.at(at) !== SAME_AS || this.#graph.at(at) !== record) continue;
      for (const other of this.#around(alias, true))
        if (this.#code.at(other) === TYPE && this.#graph.at(other) === record) found.add(alias);
    }
    return [...found].map((alias) => this.#term(alias));
  }

  #records(url: string): string[] {
    const node = this.#ids.get(url);
    const rows: string[] = [];
    for (const at of node === undefined ? [] : this.#around(node, false)) {
      const record = this.#subject.at(at);
      if (this.#code.at(at) === SAME_AS && this.#graph.at(at) === record)
        rows.push(`<${url}>\t${this.#term(record)}`);
    }
    return rows;
  }

  /** A row for each type, name and description; none for a record that does not state its type. */
  #described(node: number, graph: number, key: string): string[] {
    const start = `${this.#term(node)}${key}`;
    const rows: string[] = [];
    let hasType = false;
    for (const at of this.#around(node, true)) {
      if (this.#graph.at(at) !== graph) continue;
      const code = this.#code.at(at);
      if (code === TYPE) {
        hasType = true;
        rows.push(`${start}\t${this.#term(this.#object.at(at))}`);
      } else if (isText(code))
        rows.push(
          `${start}${code === NAME ? "\t\t" : "\t\t\t"}${this.#texts.at(this.#object.at(at))}`,
        );
    }
    return key === "" && !hasType ? [] : rows;
  }
}

const EDGES = "?n\t?g";
const LESS = 60;

const table = (head: string, rows: readonly string[]): string =>
  rows.length === 0 ? `${head}\n` : `${head}\n${rows.join("\n")}\n`;

/** A character of a literal as N-Quads writes it. */
const CHARACTER = /\\(?:u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}|.)|[^\\]/suy;

/** The literal on one line without tabs; of a long description only the beginning. */
function textOf(literal: string, code: number): string {
  const line = literal.replaceAll("\t", String.raw`\t`);
  if (code !== DESCRIPTION || line.length <= LONGEST) return line;
  const end = line.lastIndexOf('"');
  let length = 0;
  CHARACTER.lastIndex = 1;
  while (length < LONGEST && CHARACTER.lastIndex < end && CHARACTER.test(line)) length++;
  const cut = CHARACTER.lastIndex;
  CHARACTER.lastIndex = 0;
  return cut >= end ? line : `${line.slice(0, cut)}"${line.slice(end + 1)}`;
}
