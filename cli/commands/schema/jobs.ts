/**
 * `schema validate --jobs`: several files are checked at a time, each in a process of its own. What
 * the processes find is reported in the order of the files.
 */
import { type ChildProcess, fork } from "node:child_process";
import { on, once } from "node:events";
import { ErrorKind, TableError, type TableSummary } from "../../../src/tabular/rules/check.js";
import { Failure, failureLine } from "../../terminal.js";
import { CHECK_ONE } from "../../tool-command.js";
import type { Finding, Report } from "./report.js";

/** What a process is to check. */
export interface OneFile<O extends object> {
  file: string;
  /** Of the command, as they were given. */
  options: O;
}

/** What it found so far; it goes on when that is reported, so that little waits in memory. */
type Part =
  | { find: Finding }
  | { begin: string }
  | { errors: TableError[] }
  | { summary: TableSummary }
  | { failure: string };

interface Running {
  file: string;
  child: ChildProcess;
  parts: AsyncIterable<[Part]>;
}

/** Checks files, as many processes at a time as `jobs`. */
export class Jobs {
  readonly #waiting: string[];
  readonly #options: object;
  /** In the order of the files. */
  readonly #running: Running[] = [];

  constructor(files: readonly string[], options: object, jobs: number) {
    this.#waiting = [...files];
    this.#options = options;
    for (let started = 0; started < jobs; started++) this.#startNext();
  }

  /**
   * Reports what the process of the next file finds.
   * @throws Failure for a file that cannot be read
   */
  async next(report: Report): Promise<TableSummary> {
    const { file, child, parts } = this.#running.shift()!;
    try {
      for await (const [part] of parts) {
        if ("failure" in part) throw new Failure(part.failure);
        if ("summary" in part) {
          await report.end(part.summary);
          return part.summary;
        }
        await replay(part, report);
        // Of a process that has ended there are no more parts.
        child.send("next", () => {});
      }
    } finally {
      child.kill();
      this.#startNext();
    }
    throw new Failure(`${file}: the process that checked it ended unexpectedly`);
  }

  #startNext(): void {
    const file = this.#waiting.shift();
    if (file === undefined) return;
    const child = fork(process.argv[1]!, [CHECK_ONE], { serialization: "advanced" });
    child.send({ file, options: this.#options } satisfies OneFile<object>, () => {});
    const parts = on(child, "message", { close: ["exit"] }) as AsyncIterable<[Part]>;
    this.#running.push({ file, child, parts });
  }
}

async function replay(part: Part, report: Report): Promise<void> {
  if ("find" in part) {
    if (part.find.level === "error") process.exitCode = 1;
    await report.find(part.find);
  } else if ("begin" in part) await report.begin(part.begin);
  else if ("errors" in part) await report.add(part.errors.map(revived));
}

/** Messages have no prototypes. */
const revived = ({ kind, row, line, column, detail, value }: TableError): TableError =>
  new TableError(
    Object.assign(Object.create(ErrorKind.prototype) as ErrorKind, kind),
    row,
    line,
    column,
    detail,
    value,
  );

/** In the process of one file: sends each part, and waits until it is reported. */
const sendPart = async (part: Part): Promise<void> => {
  const reported = once(process, "message");
  process.send!(part);
  await reported;
};

const SENDER: Report = {
  find: (find) => sendPart({ find }),
  begin: (begin) => sendPart({ begin }),
  add: (errors) => (errors.length === 0 ? Promise.resolve() : sendPart({ errors })),
  end: async () => {},
  abandon: async () => {},
  finish: async () => {},
};

/** The process of one file. */
export async function checkOneFile<O extends object>(
  check: (one: OneFile<O>, report: Report) => Promise<TableSummary>,
): Promise<void> {
  const [one] = (await once(process, "message")) as [OneFile<O>];
  try {
    await sendPart({ summary: await check(one, SENDER) });
  } catch (error) {
    await sendPart({ failure: failureLine(error) });
  }
}
