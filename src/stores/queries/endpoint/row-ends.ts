/**
 * Where rows begin and end in results that come in parts, byte by byte: marks are ASCII, which no other character's
 * bytes can be taken for.
 */
export interface RowScanner {
  /**
   * @param onEnd offset after a row; false ends the scan
   * @param onBegin offset at which a row of JSON begins, and in the other forms the first one; negative: in an earlier part
   */
  scan(part: Uint8Array, onEnd: (end: number) => boolean, onBegin?: (begin: number) => void): void;
}

const code = (character: string): number => character.codePointAt(0)!;
const [OPEN, CLOSE, LIST, LIST_END, QUOTE, BACKSLASH, NEWLINE] = ["{", "}", "[", "]", '"', "\\", "\n"].map(code) as [number, number, number, number, number, number, number];
/** Depth at which `results.bindings` is; a list of `head` at that depth holds no objects. */
const BINDINGS = 3;

class JsonScanner implements RowScanner {
  #depth = 0;
  #quoted = false;
  #escaped = false;

  scan(part: Uint8Array, onEnd: (end: number) => boolean, onBegin: (begin: number) => void = () => {}): void {
    for (let at = 0; at < part.length; at++) {
      const byte = part[at]!;
      if (this.#quoted) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#quoted = false;
      } else if (byte === QUOTE) {
        this.#quoted = true;
      } else if (byte === OPEN || byte === LIST) {
        if (++this.#depth === BINDINGS + 1 && byte === OPEN) onBegin(at);
      } else if (byte === CLOSE || byte === LIST_END) {
        if (this.#depth-- === BINDINGS + 1 && byte === CLOSE && !onEnd(at + 1)) return;
      }
    }
  }
}

const [BEGINNING, ENDING] = ["<result>", "</result>"].map((mark) => new TextEncoder().encode(mark)) as [Uint8Array, Uint8Array];

/** Within a value `<` is escaped. */
class XmlScanner implements RowScanner {
  #mark = BEGINNING;
  #matched = 0;

  scan(part: Uint8Array, onEnd: (end: number) => boolean, onBegin: (begin: number) => void = () => {}): void {
    for (let at = 0; at < part.length; at++) {
      this.#matched = part[at] === this.#mark[this.#matched] ? this.#matched + 1 : part[at] === this.#mark[0] ? 1 : 0;
      if (this.#matched < this.#mark.length) continue;
      this.#matched = 0;
      if (this.#mark === BEGINNING) onBegin(at + 1 - BEGINNING.length);
      else if (!onEnd(at + 1)) return;
      this.#mark = ENDING;
    }
  }
}

/** A line each; in CSV a line break within quotes is part of a value (RFC 4180). */
class LineScanner implements RowScanner {
  #quoted = false;

  /** @param heads lines before the first row */
  constructor(private heads: number, private readonly quotes: boolean) {}

  scan(part: Uint8Array, onEnd: (end: number) => boolean, onBegin: (begin: number) => void = () => {}): void {
    for (let at = 0; at < part.length; at++) {
      const byte = part[at];
      if (this.quotes && byte === QUOTE) this.#quoted = !this.#quoted;
      if (byte !== NEWLINE || this.#quoted) continue;
      if (this.heads > 0) {
        if (--this.heads === 0) onBegin(at + 1);
        continue;
      }
      if (!onEnd(at + 1)) return;
    }
  }
}

export function rowScanner(format: "json" | "xml" | "csv" | "tsv" | "nt"): RowScanner {
  if (format === "json") return new JsonScanner();
  if (format === "xml") return new XmlScanner();
  return new LineScanner(format === "nt" ? 0 : 1, format === "csv");
}
