import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { FUSEKI } from "../test/support/servers/fuseki.js";
import type { JsonObject } from "../src/model/field.js";
import { OXIGRAPH } from "../test/support/servers/oxigraph.js";
import { findProgram } from "../test/support/servers/programs.js";
import { type Make, SparqlServer } from "../test/support/servers/sparql-server.js";
import type { Bench, Figure, Surroundings } from "./bench.js";
import { Client } from "./support/client.js";
import { crateMetadata, zipped } from "./support/crate.js";
import { datasetBody, randomPaths } from "./support/documents.js";
import { alternating, median, timed } from "./support/measure.js";
import { PEER_QUERIES } from "./support/peer-queries.js";
import { fairscapeEvidence, startArklet } from "./support/python-peers.js";
import { type Server, startRegistry, untilLoaded } from "./support/server.js";

const run = promisify(execFile);
/** Statements of one update. */
const BATCH = 20_000;

/**
 * The registry beside other programs, of those that are installed: SPARQL engines with the same
 * statements and 40 queries, programs that read and validate the same crate, a resolver of ARKs,
 * and evidence in one process. Tables and fetches of whole records are compared in `tabular` and
 * `resolve`.
 */
export const peers: Bench = async (surroundings) => [
  ...(await engines(surroundings)),
  ...(await crates(surroundings)),
  ...(await resolvers(surroundings)),
  ...(await evidence(surroundings)),
];

/** Compiled for speed, and with more memory than the tests give it. */
const FUSEKI_SERVER: Make = {
  ...FUSEKI,
  command: (port, folder) =>
    FUSEKI.command(port, folder)?.flatMap((part) =>
      part === "-XX:TieredStopAtLevel=1" || part.startsWith("-XX:SharedArchiveFile")
        ? []
        : [part === "-Xmx512m" ? "-Xmx2g" : part],
    ),
};

type Ask = (query: string) => Promise<string>;
const asking =
  (url: string): Ask =>
  async (query) => {
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/sparql-query",
        Accept: "text/tab-separated-values",
      },
      body: query,
    });
    const text = await answer.text();
    if (answer.status !== 200)
      throw new Error(`${url} answered ${answer.status}: ${text.slice(0, 300)}`);
    return text;
  };

async function engines({ sizes, stores, say }: Surroundings): Promise<Figure[]> {
  const { rounds, sparqlRecords, warmQueries } = sizes;
  const open = { SPARQL_MAX_ROWS: "10000000", SPARQL_MAX_BYTES: "512MiB", SPARQL_TIMEOUT: "2m" };
  const registry = await startRegistry(await stores.copy(sparqlRecords), open);
  const stops: (() => Promise<unknown>)[] = [() => registry.stop()];
  try {
    await untilLoaded(registry);
    const sides: Record<string, Ask> = { "/sparql": asking(`${registry.url}/sparql`) };
    const own = findProgram("oxigraph");
    if (own !== undefined) {
      const native = await startRegistry(await stores.copy(sparqlRecords), {
        ...open,
        GRAPH_ENGINE: "oxigraph",
        OXIGRAPH_PROGRAM: own,
      });
      stops.push(() => native.stop());
      await untilLoaded(native);
      sides["/sparql with GRAPH_ENGINE=oxigraph"] = asking(`${native.url}/sparql`);
    }
    const graphs = await sides["/sparql"]!("SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }");
    for (const make of [OXIGRAPH, FUSEKI_SERVER]) {
      const server = new SparqlServer(make);
      if (!server.installed) {
        say(`${make.name} is not installed (${make.needs}): not compared with it`);
        continue;
      }
      stops.push(() => server.stop());
      await server.start();
      await fill(server.updateUrl, graphs);
      sides[`the ${make.name} server`] = asking(server.queryUrl);
    }
    const took = await compare(sides, rounds, warmQueries);
    const total = (name: string): number => took[name]!.reduce((sum, ms) => sum + ms, 0);
    return Object.keys(sides)
      .filter((name) => name.startsWith("the "))
      .flatMap((peer) =>
        Object.keys(sides)
          .filter((name) => name.startsWith("/sparql"))
          .map((ours) => ({
            name: `${PEER_QUERIES.length} queries at ${ours}, ${sparqlRecords} records`,
            value: total(ours),
            unit: "ms",
            baseline: { name: peer, value: total(peer) },
            wanted: { atMost: ours === "/sparql" ? 2 : 1.5 },
            note: ratios(took[ours]!, took[peer]!),
          })),
      );
  } finally {
    for (const stop of stops) await stop();
  }
}

/** Loads lines of graph, subject, predicate and object. */
async function fill(update: string, tsv: string): Promise<void> {
  const lines = tsv.trimEnd().split("\n").slice(1);
  for (let start = 0; start < lines.length; start += BATCH) {
    const data = lines
      .slice(start, start + BATCH)
      .map((line) => {
        const [graph, ...terms] = line.split("\t");
        return `GRAPH ${graph!} { ${terms.join(" ")} }`;
      })
      .join("\n");
    const answer = await fetch(update, {
      method: "POST",
      headers: { "Content-Type": "application/sparql-update" },
      body: `INSERT DATA { ${data} }`,
    });
    if (!answer.ok) throw new Error(`${update} answered ${answer.status}: ${await answer.text()}`);
  }
}

/** Medians of each query, in ms. @throws Error where two sides give different numbers of rows */
async function compare(
  sides: Readonly<Record<string, Ask>>,
  rounds: number,
  warm: number,
): Promise<Record<string, number[]>> {
  const took: Record<string, number[]> = Object.fromEntries(
    Object.keys(sides).map((name) => [name, []]),
  );
  for (let each = 0; each < Math.ceil(warm / PEER_QUERIES.length); each++)
    for (const { query } of PEER_QUERIES) for (const ask of Object.values(sides)) await ask(query);
  for (const { sort, query } of PEER_QUERIES) {
    const rows = new Set<number>();
    const measured = await alternating(
      rounds,
      Object.fromEntries(
        Object.entries(sides).map(([name, ask]) => [
          name,
          () =>
            timed(async () => {
              rows.add((await ask(query)).trimEnd().split("\n").length);
            }),
        ]),
      ),
    );
    if (rows.size > 1) throw new Error(`the engines do not agree on a query: ${sort}, ${query}`);
    for (const [name, ms] of Object.entries(measured)) took[name]!.push(ms);
  }
  return took;
}

/** The median ratio, and the sort of queries in which the first side is slowest. */
function ratios(ours: readonly number[], theirs: readonly number[]): string {
  const middle = median(ours.map((ms, at) => ms / theirs[at]!));
  const bySort = new Map<string, number[]>();
  for (const [at, { sort }] of PEER_QUERIES.entries())
    (bySort.get(sort) ?? bySort.set(sort, []).get(sort)!).push(ours[at]! / theirs[at]!);
  const [sort, of] = [...bySort]
    .map(([sort, of]): [string, number] => [sort, median(of)])
    .reduce((a, b) => (b[1] > a[1] ? b : a));
  return `median ratio ${middle.toFixed(2)}; worst "${sort}", ${of.toFixed(2)}`;
}

/** Reads a crate with ro-crate-py, and its statements with rdflib. */
const READ_CRATE = `import sys
from rocrate.rocrate import ROCrate
from rdflib import Graph
crate = ROCrate(sys.argv[1])
graph = Graph().parse(data=open(sys.argv[2]).read(), format="json-ld")
print(len(graph))
`;

/** The context, so that no program needs a network. */
async function crates({
  sizes: { entities, rounds },
  folder,
  say,
}: Surroundings): Promise<Figure[]> {
  const place = join(await folder(), "crate");
  await mkdir(place);
  const metadata = crateMetadata(entities, "Crate");
  const file = join(place, "ro-crate-metadata.json");
  await writeFile(file, JSON.stringify(metadata));
  // rdflib would fetch the crate's context: it gets a vocabulary in its place.
  const plain = join(place, "..", "plain.json");
  await writeFile(
    plain,
    JSON.stringify({ ...metadata, "@context": { "@vocab": "https://schema.org/" } }),
  );
  const script = join(place, "..", "read.py");
  await writeFile(script, READ_CRATE);
  const registry = await startRegistry(await folder());
  try {
    await untilLoaded(registry);
    const client = await Client.register(registry);
    let count = 0;
    const ours = async () => {
      const archive = await zipped(crateMetadata(entities, `Crate ${count++}`));
      return timed(() => client.upload(archive));
    };
    const tools: [name: string, program: string, args: string[], needs: string][] = [
      ["ro-crate-py and rdflib", "python3", [script, place, plain], "pip install rocrate rdflib"],
      [
        "roc-validator",
        "rocrate-validator",
        ["-y", "validate", "--offline", "--no-paging", "-p", "ro-crate-1.1", place],
        "pip install roc-validator",
      ],
    ];
    await ours();
    const figures: Figure[] = [];
    for (const [name, program, args, needs] of tools) {
      const theirs = (): Promise<number> => timed(() => ended(program, args));
      try {
        await theirs();
      } catch (error) {
        const reason = (error as Error).message.split("\n").find((line) => line !== "");
        say(`${name} is not installed (${needs}), or did not run: ${reason}`);
        continue;
      }
      const measured = await alternating(rounds, { ours, theirs });
      figures.push({
        name: `crate of ${entities} entities validated and ingested`,
        value: measured.ours,
        unit: "ms",
        baseline: { name, value: measured.theirs },
        wanted: { atMost: 1 },
      });
    }
    return figures;
  } finally {
    await registry.stop();
  }
}

/** A validator that finds something wrong has validated as well; its status is 1. */
async function ended(program: string, args: readonly string[]): Promise<void> {
  try {
    await run(program, args, { maxBuffer: 2 ** 28 });
  } catch (error) {
    if (program === "python3" || (error as { code?: unknown }).code !== 1) throw error;
  }
}

const reasonOf = (error: unknown): string =>
  (error as Error).message.trimEnd().split("\n").at(-1) ?? "";

/** A record here, and the redirection of an ARK there. */
async function resolvers({ sizes, stores, folder, load, say }: Surroundings): Promise<Figure[]> {
  const { rounds, seconds, warmUp, connections, keys, fewRecords } = sizes;
  const paths = randomPaths(keys, fewRecords);
  const servers: Server[] = [];
  try {
    const arklet = await startArklet(await folder(), paths, availableParallelism());
    servers.push(arklet);
    const registry = await startRegistry(await stores.of(fewRecords));
    servers.push(registry);
    await untilLoaded(registry);
    const side =
      ({ url }: Server) =>
      async (length = seconds) =>
        (await load.run({ url, connections, seconds: length, paths })).perSecond;
    const sides = { ours: side(registry), theirs: side(arklet) };
    for (const warm of Object.values(sides)) await warm(warmUp);
    const measured = await alternating(rounds, {
      ours: () => sides.ours(),
      theirs: () => sides.theirs(),
    });
    return [
      {
        name: `resolve, ${fewRecords} records`,
        value: measured.ours,
        unit: "/s",
        baseline: { name: "arklet behind gunicorn, redirections", value: measured.theirs },
        wanted: { atLeast: 2 },
      },
    ];
  } catch (error) {
    if (servers.length > 0) throw error;
    say(
      `arklet is not installed (pip install arklet gunicorn), or did not run: ${reasonOf(error)}`,
    );
    return [];
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** Evidence of the end of a chain: datasets, each made by a run that used the one before. */
async function evidence({ sizes, folder, say }: Surroundings): Promise<Figure[]> {
  const { rounds, chain } = sizes;
  const data = await folder();
  const registry = await startRegistry(data);
  try {
    await untilLoaded(registry);
    const client = await Client.register(registry);
    const documents = Array.from({ length: Math.ceil(chain / 2) }, (_, index) =>
      linkOf(index, client.user),
    );
    await client.create("/dataset", tableOf(-1, client.user));
    await client.create("/software", programOf(client.user));
    for (let start = 0; start < documents.length; start += 50)
      await Promise.all(
        documents
          .slice(start, start + 50)
          .flatMap(({ dataset, run }) => [
            client.create("/dataset", dataset),
            client.create("/computation", run),
          ]),
      );
    const end = documents.at(-1)!.dataset["@id"] as string;
    let commits = 0;
    let nodes = 0;
    /** A commit in between, after which no answer is stored. */
    const first = async (): Promise<number> => {
      await client.patch(`/${PROGRAM}`, { version: `1.${++commits}` });
      return again();
    };
    const again = (): Promise<number> =>
      timed(async () => {
        const answer = await client.get(`/evidencegraph/query/${end}`);
        nodes = ((await answer.json()) as { "@graph": unknown[] })["@graph"].length;
      });
    const all = [
      tableOf(-1, client.user),
      programOf(client.user),
      ...documents.flatMap(({ dataset, run }) => [dataset, run]),
    ].map(linked);
    const place = await folder();
    const theirs = () => fairscapeEvidence(place, all, end, REPEATED);
    const peer = await theirs().catch((error: unknown) => {
      say(
        "fairscape-graph-tools is not installed (pip install fairscape-graph-tools), or did not " +
          `run: ${reasonOf(error)}`,
      );
      return undefined;
    });
    if (!peer) return [];
    await first();
    if (peer.nodes !== nodes)
      throw new Error(`fairscape-graph-tools finds ${peer.nodes} nodes, the registry ${nodes}`);
    const often = (work: () => Promise<number>) => async (): Promise<number> => {
      const took: number[] = [];
      for (let each = 0; each < REPEATED; each++) took.push(await work());
      return median(took);
    };
    const measured = await alternating(rounds, {
      first: often(first),
      again: often(again),
      theirs: async () => (await theirs()).ms,
    });
    const baseline = { name: "fairscape-graph-tools, in process", value: measured.theirs };
    const name = `evidence of a chain of ${nodes} nodes, over HTTP`;
    return [
      { name: `${name}, after a commit`, value: measured.first, unit: "ms", baseline },
      {
        name: `${name}, again before the next`,
        value: measured.again,
        unit: "ms",
        baseline,
      },
    ];
  } finally {
    await registry.stop();
  }
}

/** Evidence graphs in one round. */
const REPEATED = 15;

/** References as the registry's API has them; {@link linked} writes them as crates do. */
function linkOf(index: number, owner: string): { dataset: JsonObject; run: JsonObject } {
  const run = `ark:99999/computation-peer${index}`;
  return {
    dataset: { ...tableOf(index, owner), generatedBy: run },
    run: {
      "@id": run,
      "@type": "evi:Computation",
      name: `Segmentation run ${index}`,
      description: "Cells were found in the images, counted and written as a table.",
      owner,
      author: "Ada Example",
      sourceOrganization: "ark:99999/organization-lab",
      sourceProject: "ark:99999/project-atlas",
      dateCreated: "2024-05-02T09:00:00Z",
      dateFinished: "2024-05-02T09:42:00Z",
      container: "docker.io/library/python:3.12",
      containerId: null,
      command: ["python", "segment.py"],
      usedDataset: table(index - 1),
      usedSoftware: PROGRAM,
      generated: [],
    },
  };
}

const PROGRAM = "ark:99999/software-peer";
const table = (index: number): string => `ark:99999/dataset-peer${index + 1}`;
const tableOf = (index: number, owner: string): JsonObject => {
  const { generatedBy: _, ...body } = datasetBody(owner, `Table of cells ${index}`);
  return { ...body, "@id": table(index) };
};
const programOf = (owner: string): JsonObject => ({
  "@id": PROGRAM,
  metadataType: "evi:Software",
  name: "Segmentation program",
  description: "Finds cells in images.",
  keywords: ["segmentation"],
  owner,
  author: "Ada Example",
  sourceOrganization: "ark:99999/organization-lab",
  sourceProject: "ark:99999/project-atlas",
  dateModified: "2024-05-01",
  citation: "none",
});

const linked = (document: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(document).map(([name, value]) => [
      name === "metadataType" ? "@type" : name,
      ["generatedBy", "usedDataset", "usedSoftware"].includes(name) ? [{ "@id": value! }] : value,
    ]),
  );
