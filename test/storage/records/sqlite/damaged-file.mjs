// Damages copies of a file of records, each by its seed, and reads them: prints one line of JSON for
// each. A crash ends the lines.
import {
  copyFileSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
  closeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { parseArk } from "../../../../dist/src/identifiers/ark.js";
import { openSqliteRecordStore } from "../../../../dist/src/storage/records/sqlite/index.js";
import { openSqliteTransfer } from "../../../../dist/src/storage/records/sqlite/transfer.js";
import { parseDocument } from "../../../../dist/src/services/records/view.js";

const [, , source, first, last] = process.argv;
const PAGE = 4096;

function dice(seed) {
  let state = seed >>> 0;
  return (below) =>
    Math.floor(((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32) * below);
}

/**
 * Zeros, flipped bits or noise over 1 byte to a whole page, in up to 12 places; every third file
 * also in its first page.
 */
function damage(file, seed) {
  const roll = dice(seed);
  const fd = openSync(file, "r+");
  const pages = fstatSync(fd).size / PAGE;
  for (let place = roll(12); place >= 0; place--) {
    const page = seed % 3 === 0 && place === 0 ? 0 : 1 + roll(pages - 1);
    const offset = page * PAGE + roll(PAGE);
    const bytes = Buffer.alloc(
      Math.min([1, 1, 8, 64, 512, PAGE][roll(6)], (page + 1) * PAGE - offset),
    );
    const how = roll(3);
    if (how > 0) readSync(fd, bytes, 0, bytes.length, offset);
    if (how > 0)
      for (let at = 0; at < bytes.length; at++) bytes[at] ^= how === 1 ? 1 << roll(8) : roll(256);
    writeSync(fd, bytes, 0, bytes.length, offset);
  }
  closeSync(fd);
}

for (let seed = Number(first); seed <= Number(last); seed++) {
  const folder = mkdtempSync(join(dirname(source), "damaged-"));
  const file = join(folder, "records.db");
  copyFileSync(source, file);
  damage(file, seed);
  const answers = {};
  const ask = async (what) => {
    try {
      await what();
      answers.ok = (answers.ok ?? 0) + 1;
    } catch (error) {
      const name = error.code ?? `${error.constructor.name}: ${error.message}`;
      answers[name] = (answers[name] ?? 0) + 1;
    }
  };
  let store;
  await ask(async () => {
    store = await openSqliteRecordStore({ file });
  });
  if (store) {
    const { records } = JSON.parse(process.env.READS);
    for (const ark of records) {
      await ask(async () => {
        const found = await store.find(parseArk(ark));
        if (found?.record) parseDocument(found.record.document);
      });
      await ask(() => store.quads(ark));
      await ask(() => store.history(ark, { limit: 10 }));
      await ask(() => store.linksFrom([ark], { limit: 10 }));
      await ask(() => store.objectsOf(ark));
    }
    await ask(() => store.findMany(records));
    for (const kind of ["dataset", "software"])
      for (const by of ["created", "name"]) {
        const order = { by, descending: false };
        await ask(() => store.select({ filter: { kinds: [kind] }, order, limit: 200 }));
      }
    await ask(() => store.search({ text: "record table", match: "all", offset: 0, limit: 10 }));
    await ask(() => store.unfinished());
    await ask(() => store.referenced({ limit: 100 }));
    await ask(() => store.setSetting("written", String(seed)));
    await ask(() => store.health());
    await store.close();
  }
  const found = [];
  try {
    const transfer = await openSqliteTransfer({ file, make: false });
    for await (const { where, what } of transfer.damage()) found.push(`${where}: ${what}`);
    await transfer.close();
  } catch (error) {
    found.push(`${error.code}: ${error.message}`);
  }
  process.stdout.write(
    `${JSON.stringify({ seed, answers, found: found.slice(0, 20), count: found.length })}\n`,
  );
  rmSync(folder, { recursive: true });
}
