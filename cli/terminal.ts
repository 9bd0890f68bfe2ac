/** What commands show on a terminal: failures, notes, tables and progress. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { styleText } from "node:util";
import type { GenericFormatter } from "cli-progress";

const PLAIN = /^[\x20-\x7e]*$/;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]$/u;
/** Scripts and emoji that a terminal draws two columns wide (Unicode East Asian Width W and F). */
const WIDE = new RegExp(
  String.raw`^[\u1100-\u115f\u231a\u231b\u2329\u232a\u23e9-\u23ec\u23f0\u23f3\u25fd\u25fe\u2614\u2615` +
    String.raw`\u2648-\u2653\u267f\u2693\u26a1\u26aa\u26ab\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea` +
    String.raw`\u26f2\u26f3\u26f5\u26fa\u26fd\u2705\u270a\u270b\u2728\u274c\u274e\u2753-\u2755\u2757` +
    String.raw`\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf` +
    String.raw`\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-` +
    String.raw`\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f004}\u{1f0cf}\u{1f18e}` +
    String.raw`\u{1f191}-\u{1f19a}\u{1f200}-\u{1f320}\u{1f32d}-\u{1f335}\u{1f337}-\u{1f37c}\u{1f37e}-` +
    String.raw`\u{1f393}\u{1f3a0}-\u{1f3ca}\u{1f3cf}-\u{1f3d3}\u{1f3e0}-\u{1f3f0}\u{1f3f4}\u{1f3f8}-` +
    String.raw`\u{1f43e}\u{1f440}\u{1f442}-\u{1f4fc}\u{1f4ff}-\u{1f53d}\u{1f54b}-\u{1f54e}\u{1f550}-` +
    String.raw`\u{1f567}\u{1f57a}\u{1f595}\u{1f596}\u{1f5a4}\u{1f5fb}-\u{1f64f}\u{1f680}-\u{1f6c5}` +
    String.raw`\u{1f6cc}\u{1f6d0}-\u{1f6d2}\u{1f6d5}-\u{1f6d7}\u{1f6dc}-\u{1f6df}\u{1f6eb}\u{1f6ec}` +
    String.raw`\u{1f6f4}-\u{1f6fc}\u{1f7e0}-\u{1f7eb}\u{1f7f0}\u{1f90c}-\u{1f93a}\u{1f93c}-\u{1f945}` +
    String.raw`\u{1f947}-\u{1f9ff}\u{1fa70}-\u{1faff}\u{20000}-\u{3fffd}]$`,
  "u",
);

/** The number of columns that text needs on a terminal. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text)
    width += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

const blanks: string[] = [];
const blank = (count: number): string => (blanks[count] ??= " ".repeat(count));

/** Text in the middle of a cell; an odd extra blank goes left if the column is odd, else right. */
export function centred(text: string, width: number, textWidth = displayWidth(text)): string {
  const spare = width - textWidth;
  const left = spare % 2 === 0 || width % 2 === 0 ? spare >> 1 : (spare >> 1) + 1;
  return blank(left) + text + blank(spare - left);
}

/** The frame of a table with given column widths: its rows are printed one by one. */
export class TextTable {
  readonly widths: number[];

  readonly #head: readonly string[];

  constructor(head: readonly string[]) {
    this.#head = head;

    this.widths = head.map((cell) => displayWidth(cell));
  }

  /** Makes a column at least this wide. */
  widen(column: number, width: number): void {
    if (width > this.widths[column]!) this.widths[column] = width;
  }

  #rule(): string {
    return `+${this.widths.map((width) => "-".repeat(width + 2)).join("+")}+\n`;
  }

  /** The lines above the rows. */
  top(): string {
    return `${this.#rule()}${this.line(this.#head)}${this.#rule()}`;
  }

  line(cells: readonly string[]): string {
    return `| ${cells.map((cell, column) => centred(cell, this.widths[column]!)).join(" | ")} |\n`;
  }

  bottom(): string {
    return this.#rule();
  }
}

/** Renders a short table in one step. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new TextTable(head);
  for (const row of rows) row.forEach((cell, column) => table.widen(column, displayWidth(cell)));
  return table.top() + rows.map((row) => table.line(row)).join("") + table.bottom();
}

/**
 * True if text on this stream may be coloured: it is a terminal, and NO_COLOR is not set
 * (https://no-color.org).
 */
export const isColoured = (stream: { isTTY?: boolean }): boolean =>
  stream.isTTY === true && (process.env["NO_COLOR"] ?? "") === "";

/** Colours text for standard output if that is allowed. */
export function paint(style: Parameters<typeof styleText>[0], text: string): string {
  return isColoured(process.stdout) ? styleText(style, text) : text;
}

/** A size in human-readable form: `412 B`, `27.1 KB`. */
export function humanSize(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/**
 * Text from files or servers may hold control characters, which would move the cursor, change
 * colours or break a table.
 */
export const visible = (text: string): string =>
  text.replace(
    /\p{Cc}/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );

/** A record as lists show it: its name, and what else there is to say about it. */
export function headline(name: string, about: readonly (string | null | undefined)[]): string {
  const said = about.filter((text) => text !== null && text !== undefined && text !== "");
  return `${name} ${paint("dim", visible(`(${said.join(", ")})`))}`;
}

/**
 * A record and the identifiers below it: `ark:99999/crate/data/a.csv` is below `ark:99999/crate`.
 */
const BELOW = /^ark:[^/]+\/[^/]+\//;

/**
 * Short forms of identifiers that are shown together. Identifiers of one crate have the same
 * prefix; the short form replaces it. Only the crate with the most identifiers is shortened, so
 * that a short form has one meaning.
 */
export class ShortIds {
  readonly #start: string | undefined;

  constructor(ids: readonly string[]) {
    const times = new Map<string, number>();
    for (const id of ids) {
      const start = BELOW.exec(id)?.[0];
      if (start !== undefined) times.set(start, (times.get(start) ?? 0) + 1);
    }
    const [most] = [...times].toSorted(([, a], [, b]) => b - a);
    this.#start = most !== undefined && most[1] > 1 ? most[0] : undefined;
  }

  shorten(text: string): string {
    return this.#start === undefined ? text : text.replaceAll(this.#start, "…/");
  }

  /** The prefix that the short form replaces; `undefined` if no identifier is shortened. */
  get legend(): string | undefined {
    return this.#start === undefined ? undefined : `…/ stands for ${this.#start}`;
  }
}

/** Shows the progress of one operation. */
interface ProgressLine {
  /** @param total null while it is not known */
  update(done: number, total: number | null, stage?: string): void;
  stop(): void;
}

/** The width of a bar, in characters. */
const WIDTH = 24;

/** A bar on a terminal; elsewhere a plain line for each new stage. */
export async function openProgress(
  label: string,
  stream: NodeJS.WriteStream = process.stdout,
): Promise<ProgressLine> {
  return stream.isTTY ? bar(label, stream) : plainLines(label, stream);
}

const NONE: ProgressLine = { update() {}, stop() {} };

/** A progress bar if standard error is a terminal; otherwise nothing. */
export const terminalProgress = async (label: string): Promise<ProgressLine> =>
  process.stderr.isTTY ? bar(label, process.stderr) : NONE;

/** Prints one line for the user on standard error, beside the results. */
export const note = (line: string): void => void process.stderr.write(`arkgraph: ${line}\n`);

async function bar(label: string, stream: NodeJS.WriteStream): Promise<ProgressLine> {
  // Most commands draw no bar.
  const { SingleBar } = await import("cli-progress");
  const format: GenericFormatter = (_options, { progress }, { stage }: { stage: string }) => {
    const filled = Math.round(Math.min(1, progress) * WIDTH);
    return (
      `  ${paint("cyan", "…")} ${label.padEnd(11)} ` +
      `${paint("cyan", "█".repeat(filled))}${paint("dim", "░".repeat(WIDTH - filled))} ` +
      stage
    );
  };
  const single = new SingleBar({
    format,
    stream,
    clearOnComplete: true,
    hideCursor: true,
    fps: 20,
  });
  let started = false;
  return {
    update(done, total, stage = "") {
      if (!started) single.start(total ?? 1, 0, { stage });
      started = true;
      single.setTotal(total ?? Math.max(done, 1));
      single.update(total === null ? 0 : done, { stage });
    },
    stop() {
      if (started) single.stop();
    },
  };
}

function plainLines(label: string, stream: NodeJS.WriteStream): ProgressLine {
  let last = "";
  return {
    update(_done, _total, stage = "") {
      if (stage === "" || stage === last) return;
      last = stage;
      stream.write(`  … ${label.padEnd(11)} ${stage}\n`);
    },
    stop() {},
  };
}

/** A failure whose message is written for the person at the terminal. */
export class Failure extends Error {}

/** Any error as one line without a stack. */
export function failureLine(error: unknown): string {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const place = path === undefined ? "" : `${path}: `;
  if (code === "ENOENT") return `${place}there is no such file or folder`;
  if (code === "EACCES" || code === "EPERM") return `${place}permission denied`;
  if (code === "EADDRINUSE") return "the address is in use: set PORT to another one";
  return (message ?? String(error)).replaceAll(/\s*\n\s*/g, " ");
}

/**
 * Ends the process when standard output cannot be written. A reader that closed the pipe (`| head`)
 * is not a failure; anything else, such as a full disk, is one line and status 1.
 */
export function endWithOutput(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(process.exitCode ?? 1);
    const reason = error.code === "ENOSPC" ? "no space left on device" : error.message;
    process.stderr.write(`arkgraph: standard output cannot be written: ${reason}\n`);
    process.exit(1);
  });
}

/** The exit status that programs use after Ctrl+C. */
export const INTERRUPTED = 130;

/**
 * Handles Ctrl+C while a command runs: it ends the operation, and one line says how to continue.
 */
export class Interruptible {
  readonly #ended = new AbortController();
  /** The line to print; a command changes it with its progress. */
  hint: string;

  constructor(hint: string) {
    this.hint = hint;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Runs an operation that observes {@link signal}. */
  async run<T>(work: () => Promise<T>): Promise<T | undefined> {
    const stop = (): void => this.#ended.abort();
    process.once("SIGINT", stop).once("SIGTERM", stop);
    try {
      return await work();
    } catch (error) {
      if (!this.signal.aborted) throw error;
      note(this.hint);
      process.exitCode = INTERRUPTED;
      return undefined;
    } finally {
      process.off("SIGINT", stop).off("SIGTERM", stop);
    }
  }
}

/**
 * The error of opening a file for writing. If its folder is missing, the error says so and how to
 * fix it.
 */
export async function writeFailure(target: string, error: unknown): Promise<unknown> {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "ENOENT" && code !== "ENOTDIR") return error;
  const folder = dirname(target);
  // Any part of the path may be a file.
  for (let at = folder; ; at = dirname(at)) {
    const found = await stat(at).catch(() => undefined);
    if (found && !found.isDirectory())
      return new Failure(`${at}: it is a file, not a folder; write to another path`, {
        cause: error,
      });
    if (found || at === dirname(at)) break;
  }
  if (await stat(folder).catch(() => undefined)) return error;
  return new Failure(
    `${folder}: there is no such folder; create it first (mkdir -p), or write to another path`,
    { cause: error },
  );
}
