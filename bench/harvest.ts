import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { OAI_FORMATS } from "../src/services/harvest/oai.js";
import { pagesOf } from "../src/services/records/pages.js";
import { openSqliteRecordStore } from "../src/storage/records/sqlite/index.js";
import type { Bench } from "./bench.js";
import { type Server, startRegistry, untilLoaded } from "./support/server.js";

/** Records of one commit. */
const COMMIT = 5000;
/** ms for a sitemap of 100,000 records, index included. */
const SITEMAP_MS = 1000;
/** ms for 1,000 records of OAI-PMH. */
const OAI_MS = 1000;
/** Pages of OAI-PMH that are read in one round. */
const PAGES = 25;

/** A harvester that reads records one page after the other, and a crawler that reads the sitemap. */
export const harvest: Bench = async ({ sizes, stores, say }) => {
  const { rounds, startRecords } = sizes;
  const folder = await stores.copy(startRecords);
  await publishAll(folder);
  let server: Server | undefined;
  try {
    server = await startRegistry(folder);
    await untilLoaded(server);
    const { url } = server;
    const text = async (path: string): Promise<string> => (await fetch(new URL(path, url))).text();

    const sitemap = async (): Promise<number> => {
      const begun = performance.now();
      const index = await text("/sitemap.xml");
      let addresses = 0;
      for (const [, page] of index.matchAll(/<loc>([^<]+)<\/loc>/g))
        addresses += (await text(page!)).split("<url>").length - 1;
      const ms = performance.now() - begun;
      if (addresses < startRecords) throw new Error(`the sitemap has ${addresses} addresses`);
      return ms;
    };
    const records = async (prefix: string): Promise<number> => {
      let search = new URLSearchParams({ verb: "ListRecords", metadataPrefix: prefix });
      let read = 0;
      const begun = performance.now();
      for (let page = 0; page < PAGES; page++) {
        const answer = await text(`/oai?${search}`);
        read += answer.split("<record>").length - 1;
        const resumptionToken = /<resumptionToken[^>]*>([^<]+)</.exec(answer)?.[1];
        if (resumptionToken === undefined) break;
        search = new URLSearchParams({ verb: "ListRecords", resumptionToken });
      }
      if (read < Math.min(startRecords, 1000)) throw new Error(`OAI-PMH has ${read} records`);
      return ((performance.now() - begun) * 1000) / read;
    };
    const median = async (measure: () => Promise<number>): Promise<number> => {
      const times: number[] = [];
      await measure();
      for (let round = 0; round < rounds; round++) times.push(await measure());
      return times.toSorted((a, b) => a - b)[times.length >> 1]!;
    };
    const mapped = await median(sitemap);
    say(`sitemap of ${startRecords} records: ${mapped.toFixed(0)} ms`);
    const figures = [
      {
        name: `sitemap of ${startRecords} records`,
        value: mapped,
        unit: "ms",
        wanted: { below: SITEMAP_MS },
      },
    ];
    for (const { prefix } of OAI_FORMATS) {
      const ms = await median(() => records(prefix));
      say(`1,000 records of OAI-PMH as ${prefix}: ${ms.toFixed(0)} ms`);
      figures.push({
        name: `1,000 records of OAI-PMH as ${prefix}`,
        value: ms,
        unit: "ms",
        wanted: { below: OAI_MS },
      });
    }
    return figures;
  } finally {
    await server?.stop();
  }
};

/** The records of benches are drafts, which no feed has. */
async function publishAll(folder: string): Promise<void> {
  const store = await openSqliteRecordStore({ file: join(folder, "records.db") });
  try {
    for await (const page of pagesOf(store, { filter: {} }, { limit: COMMIT }))
      await store.commit({
        by: null,
        at: Date.now(),
        records: page.map(({ ark }) => ({
          op: "publish",
          ark,
          status: "PUBLISHED",
          embargoedUntil: null,
        })),
      });
  } finally {
    await store.close();
  }
}
