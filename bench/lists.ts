import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { arkKey } from "../src/identifiers/ark.js";
import type { JsonObject } from "../src/model/field.js";
import { KINDS } from "../src/model/kinds.js";
import { licenceOf } from "../src/model/licences.js";
import type { RecordFilter, RecordOrder } from "../src/storage/records/port/selection.js";
import { openSqliteRecordStore } from "../src/storage/records/sqlite/index.js";
import type { Bench, Figure } from "./bench.js";

/** Records of one page. */
const PAGE = 50;
/** ms at the 95th percentile for a page by one filter. */
const TARGET_MS = 20;
/** ms for counts by kind and month. */
const STATISTICS_MS = 100;

/**
 * Counts, and pages by one filter, in each order and from both ends, straight from the store: what
 * the API adds is in the bench `graphql`.
 */
export const lists: Bench = async ({ sizes, stores, say }) => {
  const { rounds, startRecords } = sizes;
  const folder = await stores.of(startRecords);
  const store = await openSqliteRecordStore({ file: join(folder, "records.db") });
  try {
    const order = { by: "created", descending: false } as const;
    const { items } = await store.select({ filter: {}, order, limit: 1000 });
    const middle = items[items.length >> 1]!;
    const document = JSON.parse(Buffer.from(middle.document).toString("utf8")) as JsonObject & {
      keywords?: string[];
    };
    const { keywords } = document;
    const filters: Readonly<Record<string, RecordFilter>> = {
      kind: { kinds: [middle.kind] },
      "a common part of the name": { nameContains: (middle.name ?? "").slice(0, 4) },
      "a rare part of the name": { nameContains: "no such name" },
      "the beginning of the name": { nameStartsWith: (middle.name ?? "").slice(0, 6) },
      "the name": { nameIs: middle.name ?? "" },
      keyword: { keywords: keywords?.slice(0, 1) ?? [] },
      owner: { owners: [arkKey(middle.owner ?? "")] },
      status: { statuses: [middle.publicationStatus] },
      "a status that none has": { statuses: ["ARCHIVED"] },
      licence: { licences: [licenceOf(KINDS[middle.kind], document) ?? ""] },
      "a score below 60 %": { score: { below: 60 } },
      "a word of all": { text: "spinning" },
      "a word of a tenth": { text: "segment" },
      "a word of one": { text: `"${(middle.name ?? "").split(" ").at(-1)!}"` },
      "a group": { group: arkKey(middle.owner ?? "") },
      created: { created: { since: middle.createdAt } },
      modified: { modified: { since: middle.modifiedAt } },
    };
    const orders: RecordOrder[] = (["created", "modified", "name"] as const).flatMap((by) =>
      [false, true].map((descending) => ({ by, descending })),
    );
    const figures: Figure[] = [];
    for (const [name, filter] of Object.entries(filters)) {
      const times: number[] = [];
      for (const order of orders)
        for (let round = 0; round < rounds * 4; round++) {
          const begun = performance.now();
          const page = await store.select({ filter, order, limit: PAGE });
          times.push(performance.now() - begun);
          if (page.more) {
            const again = performance.now();
            await store.select({ filter, order, limit: PAGE, after: page.positions.at(-1)! });
            times.push(performance.now() - again);
          }
        }
      times.sort((a, b) => a - b);
      const p95 = times[Math.floor(times.length * 0.95)]!;
      say(`  ${name}: median ${times[times.length >> 1]!.toFixed(2)} ms, p95 ${p95.toFixed(2)} ms`);
      figures.push({
        name: `page of ${PAGE} by ${name}, p95`,
        value: p95,
        unit: "ms",
        wanted: { below: TARGET_MS },
      });
    }
    for (const by of [
      ["kind", "month"],
      ["owner"],
      ["keyword"],
      ["status"],
      ["licence"],
      ["scoreBand"],
    ] as const) {
      const times: number[] = [];
      for (let round = 0; round < rounds * 4; round++) {
        const begun = performance.now();
        await store.statistics({ filter: {}, by, limit: 100 });
        times.push(performance.now() - begun);
      }
      times.sort((a, b) => a - b);
      figures.push({
        name: `counts by ${by.join(" and ")}, median`,
        value: times[times.length >> 1]!,
        unit: "ms",
        ...(by.length > 1 ? { wanted: { below: STATISTICS_MS } } : {}),
      });
    }
    return figures;
  } finally {
    await store.close();
  }
};
