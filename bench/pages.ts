import { get } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";
import type { Bench, Figure } from "./bench.js";
import type { Sizes } from "./sizes.js";
import { randomPaths } from "./support/documents.js";
import { alternating, median, percentile, timed } from "./support/measure.js";
import { type Server, startRegistry, untilLoaded } from "./support/server.js";

/** ms at the 95th percentile for the page of a record, on the server. */
const PAGE_MS = 50;
/** KB of a page with all that it loads, compressed. */
const WIRE_KB = 100;
/** ms until a page is usable, and until an explorer is, on a slow line and processor. */
const USABLE_MS = 1500;
const EXPLORER_MS = 5000;
/** The line of a phone, and how much slower its processor is. */
const LINE = { latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 750e3 / 8 };
const SLOWER = 4;

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Web pages: time on the server, bytes on the wire, and time until a slow browser can use them. */
export const pages: Bench = async ({ sizes, stores, say }) => {
  const server = await startRegistry(await stores.of(sizes.startRecords));
  try {
    await untilLoaded(server);
    const record = randomPaths(1, sizes.startRecords)[0]!;
    const shown: Readonly<Record<string, string>> = {
      home: "/",
      search: "/search?q=segment",
      "a record": record,
    };
    const figures: Figure[] = await served(server, sizes, say);
    for (const [name, path] of Object.entries(shown)) {
      const kilobytes = (await weigh(server.url, path)) / 1000;
      say(`${name}: ${kilobytes.toFixed(0)} KB`);
      figures.push({
        name: `${name} with what it loads, compressed`,
        value: kilobytes,
        unit: "KB",
        wanted: { below: WIRE_KB },
      });
    }
    const program = CHROMIUM.find((path) => existsSync(path));
    if (program === undefined) {
      say("Chromium is not installed: no figures of browsers");
      return figures;
    }
    const browser = await chromium.launch({
      executablePath: program,
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    });
    try {
      const wanted = { ...shown, "/graphql": "/graphql", "/docs": "/docs" };
      for (const [name, path] of Object.entries(wanted)) {
        const times: number[] = [];
        for (let round = 0; round < sizes.rounds; round++)
          times.push(await usable(browser, server.url + path, READY[path]));
        say(`${name}: usable after ${times.map((ms) => ms.toFixed(0)).join(", ")} ms`);
        figures.push({
          name: `${name}, usable at 1.6 Mbit/s with a processor slowed ${SLOWER} times`,
          value: median(times),
          unit: "ms",
          wanted: { below: READY[path] === undefined ? USABLE_MS : EXPLORER_MS },
        });
      }
    } finally {
      await browser.close();
    }
    return figures;
  } finally {
    await server.stop();
  }
};

/** What an explorer shows when it can be used. */
const READY: Readonly<Record<string, string>> = {
  "/graphql": ".graphiql-execute-button",
  "/docs": ".opblock-tag",
};

/** The page of a record against its document, each of another record, one after the other. */
async function served(
  { url, pid }: Server,
  { startRecords, rounds, warmUp, fetches }: Sizes,
  say: (line: string) => void,
): Promise<Figure[]> {
  const times: number[] = [];
  const fetching = (accept: string, count: number, into?: number[]) => async () => {
    const paths = randomPaths(count, startRecords);
    return (
      (await timed(async () => {
        for (const path of paths) {
          const ms = await timed(() => received(url + path, { accept }));
          into?.push(ms);
        }
      })) / count
    );
  };
  const until = performance.now() + warmUp * 1000;
  while (performance.now() < until) await fetching("text/html", 50)();
  const sides = await alternating(rounds, {
    page: fetching("text/html", fetches, times),
    document: fetching("application/ld+json", fetches),
  });
  const p95 = percentile(times, 0.95);
  const before = cpuOf(pid);
  await fetching("text/html", fetches)();
  const cpu = before === undefined ? undefined : (cpuOf(pid)! - before) / fetches;
  say(`page of a record: mean ${sides.page.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`);
  return [
    {
      name: "page of a record, p95 on the server",
      value: p95,
      unit: "ms",
      wanted: { below: PAGE_MS },
    },
    {
      name: "the same, mean",
      value: sides.page,
      unit: "ms",
      baseline: { name: "its document", value: sides.document },
    },
    ...(cpu === undefined ? [] : [{ name: "CPU time of a page", value: cpu, unit: "ms" }]),
  ];
}

/** CPU time of a process in ms, all threads, where the system shows it. */
function cpuOf(pid: number): number | undefined {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  const fields = readFileSync(file, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  // In hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Bytes of a page and of the scripts, styles and pictures that it names, as they are sent. */
async function weigh(url: string, path: string): Promise<number> {
  const plain = await (await fetch(url + path, { headers: { accept: "text/html" } })).text();
  const assets = new Set(
    [...plain.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, asset]) => asset!),
  );
  let bytes = 0;
  for (const each of [path, ...assets])
    bytes += await received(url + each, { accept: "text/html,*/*", "accept-encoding": "br" });
  return bytes;
}

/** Requests an address. @returns bytes of the body as it was sent */
const received = (url: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { headers }, (answer) => {
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => (bytes += chunk.length));
      answer.on("end", () =>
        answer.statusCode === 200
          ? resolve(bytes)
          : reject(new Error(`${url} answered ${answer.statusCode}`)),
      );
      answer.on("error", reject);
    }).on("error", reject);
  });

/**
 * ms from the start until the page is loaded with its scripts, or shows `ready`, with nothing in
 * the cache.
 */
async function usable(browser: Browser, url: string, ready?: string): Promise<number> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", { offline: false, ...LINE });
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
    return await timed(async () => {
      await page.goto(url, { waitUntil: ready === undefined ? "load" : "commit" });
      if (ready !== undefined) await page.waitForSelector(ready, { timeout: 60_000 });
    });
  } finally {
    await context.close();
  }
}
