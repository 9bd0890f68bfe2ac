import { access } from "node:fs/promises";
import { join } from "node:path";
import { objectsOf, openEndpoint, openTransfer } from "../../src/app/open-stores.js";
import { type Config, readConfig } from "../../src/config/config.js";
import { type CheckedIndex, checkIndex, checkObjects } from "../../src/services/check.js";
import { openEndpointEngine } from "../../src/storage/graph/endpoint/index.js";
import { openOxigraphEngine, openRecordsDigester } from "../../src/storage/graph/oxigraph/index.js";
import { openObjects, prepareObjects } from "../../src/storage/objects/location.js";
import type { RecordsTransfer } from "../../src/storage/records/transfer-port.js";
import { Failure, Interruptible } from "../failure.js";
import { openRecords } from "../records.js";
import { note, terminalProgress } from "../render/progress.js";

export interface CheckOptions {
  data?: string;
  objects?: true;
}

/**
 * The number of damaged items that are printed one by one; after the loss of a disk the full list
 * would be too long to read.
 */
const MOST_PRINTED = 1000;

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
    if (++found <= MOST_PRINTED) print(`damaged: ${where}: ${what}`);
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
        if (++printed <= MOST_PRINTED)
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
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${value}\n`).join("");
}
