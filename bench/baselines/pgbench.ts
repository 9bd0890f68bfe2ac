import { unpackLinks } from "../../src/storage/records/codecs.js";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { postgresProgram } from "../../test/support/servers/postgres.js";
import { FIND, INSERTS, type Rows } from "./postgres.js";

const run = promisify(execFile);
const program = postgresProgram("pgbench");
/** Whether PostgreSQL's own load generator is installed (Debian: it comes with `postgresql`). */
export const hasPgbench = program !== undefined;

/** Seconds after which a server without progress is given up. */
const LONGEST = 20;

/**
 * One transaction of {@link INSERTS}, of a record of its own each time: the values of `$1`, `$2`, …
 */
const OF_A_RECORD: Readonly<Record<keyof typeof INSERTS, readonly string[]>> = {
  state: [":id", ":document", ":quads"],
  text: [
    ":id",
    ":kind",
    ":name",
    ":description",
    ":keywords",
    ":other",
    ":words",
    ...":a :b :c :d".split(" "),
  ],
  record: [
    ":id",
    "'ark:99999/pgbench-' || :id",
    "'ark:99999/pgbench' || :id",
    ":kind",
    ":name",
    ":folded",
    ":owner",
    ":owner_key",
    ":at",
  ],
  revision: [":id", ":at"],
  keyword: [":word_list", ":id", ":kind"],
  link: [":id", ":positions", ":targets", ":target_keys"],
  log: [":id"],
};
const CREATE = [
  "\\set n :n + 1",
  "\\set id :base + :client_id * 1000000 + :n",
  "BEGIN;",
  ...Object.entries(INSERTS).map(
    ([into, sql]) =>
      `${sql.replace(/\$(\d+)/g, (_, number: string) => OF_A_RECORD[into as keyof typeof INSERTS][Number(number) - 1]!)};`,
  ),
  "COMMIT;",
].join("\n");
/** Written datasets only: of ten records in a row those from the fourth on. */
const READ = (records: number): string =>
  [
    `\\set n random(0, ${Math.floor(records / 10) * 7 - 1})`,
    "\\set number :n / 7 * 10 + 3 + :n % 7",
    `${FIND.replace("$1", "'ark:99999/dataset-b' || lpad(:number, 8, '0')")};`,
  ].join("\n");

/**
 * pgbench, the load generator of PostgreSQL, written in C and with a connection for each client:
 * how many of a record's statements the database itself can do. Values go as parameters of prepared
 * statements.
 */
export class Pgbench {
  #base = 0;

  readonly #url: string;
  readonly #folder: string;

  constructor(url: string, folder: string) {
    this.#url = url;
    this.#folder = folder;
  }

  /** Creates a second. The record's text is always the same, its identifier is not. */
  create({ write, quads, parts }: Rows, clients: number, seconds: number): Promise<number> {
    const { kind, name, owner, text, keywords, links, document } = write;
    const stated = unpackLinks(links);
    const bytes = (of: Uint8Array): string => `\\x${Buffer.from(of).toString("hex")}`;
    const list = (of: readonly (string | number)[]): string =>
      `{${of.map((one) => JSON.stringify(one)).join(",")}}`;
    return this.#run(CREATE, clients, seconds, {
      n: 0,
      base: (this.#base += 1_000_000_000),
      at: Date.now(),
      document: bytes(document),
      quads: bytes(quads),
      ...Object.fromEntries(parts.map((part, index) => ["abcd"[index]!, part])),
      kind,
      name: name!,
      folded: name!.toLowerCase(),
      owner: owner!,
      owner_key: owner!,
      description: text.description,
      keywords: text.keywords,
      other: text.other,
      words: keywords.join("\n"),
      word_list: list(keywords),
      positions: list(stated.map((_, position) => position)),
      targets: list(stated.map(({ target }) => target)),
      target_keys: list(stated.map(({ targetKey }) => targetKey)),
    });
  }

  /** Reads a second, of random ones among the first records of the store at the same address. */
  read(records: number, clients: number, seconds: number): Promise<number> {
    return this.#run(READ(records), clients, seconds, {});
  }

  /**
   * A machine so busy that no transaction was done in the time gets more time.
   * @throws Error when a transaction failed
   */
  async #run(
    script: string,
    clients: number,
    seconds: number,
    variables: Readonly<Record<string, string | number>>,
  ): Promise<number> {
    const file = join(this.#folder, "script.sql");
    await writeFile(file, script);
    const define = Object.entries(variables).flatMap(([name, value]) => ["-D", `${name}=${value}`]);
    for (let length = Math.max(1, Math.round(seconds)); ; length *= 2) {
      const { stdout } = await run(program!, [
        "-n",
        "-M",
        "prepared",
        "-f",
        file,
        "-c",
        String(clients),
        "-j",
        "1",
        "-T",
        String(length),
        ...define,
        this.#url,
      ]);
      const rate = Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
      if (rate > 0 && /^number of failed transactions: 0 /m.test(stdout)) return rate;
      if (length > LONGEST || !/actually processed: 0$/m.test(stdout))
        throw new Error(`pgbench did not measure: ${stdout}`);
    }
  }
}
