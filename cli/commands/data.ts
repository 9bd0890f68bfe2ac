/**
 * Commands on the records of a data folder or database, without a running registry: `check`,
 * `rebuild-index` and `migrate`.
 */
import { access, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  objectsOf,
  openEndpoint,
  openRecords as openRecordsOf,
  openTransfer,
} from "../../src/app/open-stores.js";
import { type Config, readConfig } from "../../src/config/config.js";
import { type CheckedIndex, checkIndex, checkObjects } from "../../src/services/check.js";
import {
  copyObjects,
  type Moved,
  moveRegistry,
  type ObjectFigures,
  type Side,
} from "../../src/services/migration/migrate.js";
import { openEndpointEngine } from "../../src/storage/graph/endpoint/index.js";
import { openOxigraphEngine, openRecordsDigester } from "../../src/storage/graph/oxigraph/index.js";
import { openObjects, prepareObjects } from "../../src/storage/objects/location.js";
import type { RecordStore } from "../../src/storage/records/port.js";
import {
  type RecordsTransfer,
  TRANSFER_TABLES,
  type TransferTable,
} from "../../src/storage/records/transfer-port.js";
import { Failure, Interruptible, note, terminalProgress, textTable } from "../terminal.js";

/**
 * Commands on the records of a data folder or database, without a running registry: `check` and
 * `rebuild-index`.
 */

/**
 * Opens the records that the settings name: a PostgreSQL database, whose nodes may keep running, or
 * a data folder. No registry may run on the data folder, because its records belong to one process
 * at a time.
 * @param options.data a data folder, which overrides the settings
 * @throws Failure, ServiceError `STORE_UNAVAILABLE` when the folder is in use or damaged, or the
 * database is unavailable
 */
async function openRecords({
  data,
}: {
  data?: string;
}): Promise<{ config: Config; records: RecordStore }> {
  const config = readConfig({
    ...process.env,
    ...(data === undefined ? {} : { DATA_DIR: data, DATABASE_URL: "" }),
  });
  if (config.DATABASE_URL === null) {
    // Opening would create a new, empty registry.
    await access(join(config.DATA_DIR, "records.db")).catch(() => {
      throw new Failure(
        `${config.DATA_DIR} holds no registry (no records.db): name its data folder with ` +
          "--data or DATA_DIR",
      );
    });
  }
  return {
    config,
    records: await openRecordsOf(config, (message) =>
      process.stderr.write(`arkgraph: ${message}\n`),
    ),
  };
}

export interface CheckOptions {
  data?: string;
  objects?: true;
}

/**
 * The number of damaged items that are printed one by one; after the loss of a disk the full list
 * would be too long to read.
 */
const MAX_PRINTED = 1000;

/**
 * Reads every record, and with `objects` hashes every stored object, and names each damaged one.
 * Then it compares the index with the records: the index on the SPARQL endpoint if the settings
 * name or start one, after an update, else an index that is built for the comparison. Status 0 if all data
 * is sound, 1 if any data is damaged or differs. The registry must not run on a data folder: its
 * records belong to one process at a time.
 * @throws Failure, ServiceError `STORE_UNAVAILABLE` when the folder is in use, `STORE_DAMAGED` when
 * its records cannot be opened at all
 */
export async function checkCommand(options: CheckOptions): Promise<void> {
  if (await damaged(options)) {
    process.exitCode = 1;
    note(
      "the records are damaged, so the index was not compared; restore them from a " +
        "backup, see Damage in docs/deployment.md",
    );
    return;
  }
  if (process.exitCode !== undefined) return;
  await compareIndex(options);
}

/** Whether any stored data is damaged. */
async function damaged({ data, objects }: CheckOptions): Promise<boolean> {
  const config = readConfig({
    ...process.env,
    ...(data === undefined ? {} : { DATA_DIR: data, DATABASE_URL: "" }),
  });
  if (config.DATABASE_URL === null) {
    await access(join(config.DATA_DIR, "records.db")).catch(() => {
      throw new Failure(
        `${config.DATA_DIR} holds no registry (no records.db): name its data folder with ` +
          "--data or DATA_DIR",
      );
    });
  }
  const transfer = await openTransfer(config, { make: false, log: note });
  try {
    const records = await damagedRecords(transfer);
    const interruptible = new Interruptible("stopped before all objects were read");
    const wrong =
      objects === true
        ? await interruptible.run(() => damagedObjects(transfer, config, interruptible.signal))
        : 0;
    return records + (wrong ?? 0) > 0;
  } finally {
    await transfer.close();
  }
}

async function damagedRecords(transfer: RecordsTransfer): Promise<number> {
  let found = 0;
  for await (const { where, what } of transfer.damage())
    if (++found <= MAX_PRINTED) print(`damaged: ${where}: ${what}`);
  print(
    found === 0
      ? "every record can be read"
      : `${found} damaged ${found === 1 ? "part" : "parts"} in the records`,
  );
  return found;
}

async function damagedObjects(
  transfer: RecordsTransfer,
  config: Config,
  signal: AbortSignal,
): Promise<number> {
  const location = objectsOf(config);
  await prepareObjects(location, { create: false });
  let total = 0;
  for (let after: string | undefined; ;) {
    const page: { items: { size: number | null }[]; next?: string } = await transfer.neededObjects({
      limit: 1000,
      ...(after !== undefined && { after }),
    });
    for (const { size } of page.items) total += size ?? 0;
    if (page.next === undefined) break;
    after = page.next;
  }
  const bar = await terminalProgress("objects");
  let printed = 0;
  try {
    const { objects, bytes, wrong } = await checkObjects({
      transfer,
      objects: await openObjects(location),
      signal,
      progress: (done, read) => bar.update(read, total, `${done} objects`),
      wrong: ({ sha256, what, neededBy }) => {
        if (++printed <= MAX_PRINTED)
          print(
            `damaged: object ${sha256}: ${what}; needed by ` +
              (neededBy.length === 0 ? "no record" : neededBy.join(", ")),
          );
      },
    });
    bar.stop();
    print(
      wrong === 0
        ? `every object is intact (${objects} objects, ${bytes} bytes)`
        : `${wrong} of ${objects} objects are damaged or missing`,
    );
    return wrong;
  } finally {
    bar.stop();
  }
}

async function compareIndex(options: CheckOptions): Promise<void> {
  const { config, records } = await openRecords(options);
  const openFeed = () => records.openFeed();
  try {
    const endpoint = await openEndpoint(config, records);
    const queries = endpoint
      ? await openEndpointEngine(endpoint.options)
      : await openOxigraphEngine({ openFeed, queryTimeout: config.QUERY_TIMEOUT });
    try {
      const checked = await checkIndex({
        openDigester: () => openRecordsDigester(openFeed),
        queries,
      });
      process.stdout.write(figures(checked));
      if (checked.agree !== true) process.exitCode = 1;
    } finally {
      await queries.close();
      await endpoint?.close();
    }
  } finally {
    await records.close();
  }
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

function figures({ agree, records, index }: CheckedIndex): string {
  const rows: [string, string | number][] = [
    ["commit", records.sequence],
    ["quads in the records", records.quads],
    ["quads in the index", index.quads],
    ["digest of the records", records.digest],
    ["digest of the index", index.digest],
    ["lines the index cannot store", records.leftOut],
    [
      "result",
      agree === true
        ? "the index agrees with the records"
        : agree === false
          ? "the index differs from the records"
          : "not comparable: the records changed during the check",
    ],
  ];
  // oxlint-disable-next-line arkgraph/spread-into-call -- rows of a printed table
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${value}\n`).join("");
}

/** ms between polls of the progress. */
const LOOK = 100;

/**
 * Deletes all content of the SPARQL endpoint and fills it from the records of a data folder.
 * @throws Failure when no endpoint is set; ServiceError `STORE_UNAVAILABLE` while it is unavailable
 */
export async function rebuildIndexCommand(options: { data?: string }): Promise<void> {
  const { config, records } = await openRecords(options);
  try {
    const log = { info() {}, warn: say, error: say };
    const endpoint = await openEndpoint(config, records, { log });
    if (!endpoint)
      throw new Failure(
        "no SPARQL endpoint is set (SPARQL_QUERY_URL and SPARQL_UPDATE_URL, or " +
          "GRAPH_ENGINE=oxigraph): the built-in index needs no rebuild, because it is built at " +
          "each start",
      );
    const queries = await openEndpointEngine(endpoint.options);
    try {
      await queries.rebuild();
      while (queries.state().state === "loading") {
        await queries.health();
        await pause(LOOK);
      }
      const { sequence } = queries.state();
      process.stdout.write(
        `The SPARQL endpoint holds the graphs of all records as of commit ${sequence}; ` +
          `arkgraph check compares the two.\n`,
      );
    } finally {
      await queries.close();
      await endpoint.close();
    }
  } finally {
    await records.close();
  }
}

function say(fields: object, message: string): void {
  const { reason } = fields as { reason?: string };
  process.stderr.write(`arkgraph: ${message}${reason === undefined ? "" : `: ${reason}`}\n`);
}

/** The content of each table, in the users' words. */
const CALLED: Readonly<Record<TransferTable, string>> = {
  setting: "settings",
  account: "accounts",
  credential: "sessions and access tokens",
  identity: "linked identities",
  access_request: "requests for access",
  audit: "entries of the audit log",
  review_link: "review links",
  submission: "submissions",
  record: "records, including deleted ones",
  state: "documents and graphs of all revisions",
  revision: "revisions",
  via: "kinds of links",
  link: "links",
  text: "texts for search",
  private_text: "texts of private records",
  change_log: "changes",
  object_ref: "uses of objects",
  intent: "started uploads",
  crate_use: "uses by crates",
  lease: "leases",
};
/** The number of digits of a digest that are shown. */
const SHOWN = 12;

type Line = [label: string, from: string | number, to: string | number];

/** All figures side by side, and the result of the comparison. */
function movedTable(moved: Moved): string {
  const { from, to, graphs, objects } = moved;
  const kinds = [...new Set([...Object.keys(from.kinds), ...Object.keys(to.kinds)])].sort();
  const tables = TRANSFER_TABLES.filter((table) => table !== "lease");
  const lines: Line[] = [
    ["commit", from.sequence, to.sequence],
    ...kinds.map((kind): Line => [
      `live records: ${kind}`,
      from.kinds[kind] ?? 0,
      to.kinds[kind] ?? 0,
    ]),
    ...tables.map((table): Line => [
      CALLED[table],
      rowsOf(from.tables[table]),
      rowsOf(to.tables[table]),
    ]),
    ["quads", graphs.from.quads, graphs.to.quads],
    ["digest of the quads", graphs.from.digest.slice(0, SHOWN), graphs.to.digest.slice(0, SHOWN)],
    ["objects that are needed", objects.needed, objects.needed - objects.wrong],
  ];
  const rows = lines.map(([label, a, b]) => [
    label,
    String(a),
    String(b),
    a === b ? "agree" : "DIFFER",
  ]);
  const result = moved.agree
    ? "source and target agree"
    : moved.changed
      ? "the source changed meanwhile"
      : "source and target DIFFER";
  return (
    textTable(["", "source", "target", ""], rows) +
    wrongObjects(objects) +
    `${objects.copied} objects copied; ${objects.bytes} bytes are in the ` +
    `target.\nResult: ${result}.\n`
  );
}

const objectsTable = (objects: ObjectFigures): string =>
  `${wrongObjects(objects)}${objects.copied} of ${objects.needed} objects copied; ` +
  `${objects.bytes} bytes are in the target.\nResult: ` +
  (objects.wrong === 0
    ? "every object that the records need is in the target.\n"
    : `${objects.wrong} objects are missing or damaged in the target.\n`);

const rowsOf = ({ rows, sha256 }: { rows: number; sha256: string }): string =>
  rows === 0 ? "0" : `${rows} · ${sha256.slice(0, SHOWN)}`;

function wrongObjects({ wrong, named }: ObjectFigures): string {
  const more = wrong > named.length ? `… and ${wrong - named.length} more\n` : "";
  return named.map(({ sha256, reason }) => `object ${sha256}: ${reason}\n`).join("") + more;
}

export interface MigrateOptions {
  from: string;
  to: string;
  verify?: true;
  objectsOnly?: true;
  showJwtSecret?: true;
}

/** The word for the cluster that the settings name. */
const CLUSTER = "cluster";
const OF_A_CLUSTER = [
  "DATABASE_URL",
  "S3_ENDPOINT",
  "S3_ACCESS_KEY",
  "S3_SECRET_KEY",
  "S3_BUCKET",
] as const;

/**
 * The settings of one side: those of the environment for a cluster, else records and objects in a
 * folder.
 */
function configOf(where: string, objectsOnly: boolean): Config {
  if (where !== CLUSTER)
    return readConfig({
      ...process.env,
      DATA_DIR: where,
      PROFILE: "",
      ...Object.fromEntries(OF_A_CLUSTER.map((name) => [name, ""])),
    });
  const config = readConfig(process.env);
  if (config.DATABASE_URL === null && !objectsOnly)
    throw new Failure(
      "no database is configured for the cluster: set DATABASE_URL, and S3_ENDPOINT with " +
        "its settings, to the values of the cluster's nodes",
    );
  if (config.S3_ENDPOINT === null)
    throw new Failure(
      "no object store is configured for the cluster: set S3_ENDPOINT, S3_BUCKET, " +
        "S3_ACCESS_KEY and S3_SECRET_KEY to the values of the cluster's nodes",
    );
  return config;
}

async function openObjectsOf(config: Config): Promise<Side["objects"]> {
  const location = objectsOf(config);
  await prepareObjects(location, { create: config.S3_CREATE_BUCKET === "yes" });
  return openObjects(location);
}

/**
 * Moves a registry from a data folder into a cluster, or back, and compares both. Status 0 only if
 * all data agrees.
 * @throws Failure, TransferRefused, ServiceError `STORE_UNAVAILABLE`
 */
export async function migrateCommand(options: MigrateOptions): Promise<void> {
  const { objectsOnly = false, verify = false } = options;
  if (
    options.from === options.to ||
    (options.from !== CLUSTER &&
      options.to !== CLUSTER &&
      resolve(options.from) === resolve(options.to))
  )
    throw new Failure("--from and --to name the same place");
  if (objectsOnly && verify) throw new Failure("--objects-only and --verify exclude each other");
  const [source, target] = [configOf(options.from, objectsOnly), configOf(options.to, objectsOnly)];
  if (options.from === CLUSTER)
    note("stop all nodes of the source first: writes during the move are not copied");
  if (options.to === CLUSTER && !verify)
    note("keep all nodes of the target stopped until the move has ended");
  const progress = await terminalProgress("migrate");
  const interruptible = new Interruptible(
    "stopped before the end: the source is unchanged; run the same command again to " +
      "continue (objects in the target are not copied again)",
  );
  try {
    const agree = await interruptible.run(() =>
      objectsOnly
        ? moveObjects(source, target, interruptible.signal, progress.update)
        : moveAll(source, target, verify, interruptible.signal, progress),
    );
    if (agree === undefined) return;
    if (!agree) process.exitCode = 1;
    else await keyAdvice(options, source, target);
  } finally {
    progress.stop();
  }
}

async function moveAll(
  source: Config,
  target: Config,
  verifyOnly: boolean,
  signal: AbortSignal,
  progress: Awaited<ReturnType<typeof terminalProgress>>,
): Promise<boolean> {
  const from = await openTransfer(source, { make: false, log: note });
  try {
    const to = await openTransfer(target, { make: !verifyOnly, log: note });
    try {
      const side = async (transfer: typeof from, config: Config): Promise<Side> => ({
        transfer,
        objects: await openObjectsOf(config),
        openDigester: () => openRecordsDigester(() => transfer.openFeed()),
      });
      const moved = await moveRegistry({
        from: await side(from, source),
        to: await side(to, target),
        verifyOnly,
        signal,
        progress: (stage, done, total) =>
          progress.update(
            done,
            total,
            total === null ? `${stage} ${done}` : `${stage} ${done}/${total}`,
          ),
      });
      progress.stop();
      process.stdout.write(movedTable(moved));
      if (moved.changed)
        note(
          "the source changed during the move: stop its nodes, empty the target, and run " +
            "the command again",
        );
      return moved.agree;
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** Moves only the objects, for a registry whose records stay in place. */
async function moveObjects(
  source: Config,
  target: Config,
  signal: AbortSignal,
  update: (done: number, total: number | null, stage?: string) => void,
): Promise<boolean> {
  const transfer = await openTransfer(source, { make: false, log: note });
  try {
    const figures = await copyObjects({
      transfer,
      from: await openObjectsOf(source),
      to: await openObjectsOf(target),
      signal,
      progress: (done) => update(done, null, `objects ${done}`),
    });
    process.stdout.write(objectsTable(figures));
    return figures.wrong === 0;
  } finally {
    await transfer.close();
  }
}

/**
 * Reports whether tokens stay valid, which needs the same signing key. It prints the key itself
 * only with `--show-jwt-secret`.
 */
async function keyAdvice(
  { from, to, showJwtSecret }: MigrateOptions,
  source: Config,
  target: Config,
): Promise<void> {
  const key = await keyOf(from, source);
  if (key !== undefined && key === (await keyOf(to, target)))
    note("tokens stay valid: both sides have the same key");
  else {
    const where =
      from === CLUSTER
        ? "that of the cluster"
        : key === undefined
          ? "that of the source"
          : `what ${join(source.DATA_DIR, "jwt-secret")} holds`;
    note(
      "tokens stay valid only with the same key: set JWT_SECRET of the target to " +
        `${where}${showJwtSecret || key === undefined ? "" : " (--show-jwt-secret prints it)"}, ` +
        "otherwise all users have to log in again",
    );
  }
  if (!showJwtSecret) return;
  if (key === undefined)
    note(
      "there is no key to print: the source has no file jwt-secret; its key is the " +
        "JWT_SECRET that it was started with",
    );
  else process.stdout.write(`JWT_SECRET=${key}\n`);
}

/**
 * The key of one side. The key of a folder is read from the folder, because JWT_SECRET in the
 * environment is the cluster's.
 */
async function keyOf(where: string, { DATA_DIR, JWT_SECRET }: Config): Promise<string | undefined> {
  if (where === CLUSTER) return JWT_SECRET ?? undefined;
  return readFile(join(DATA_DIR, "jwt-secret"), "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );
}
