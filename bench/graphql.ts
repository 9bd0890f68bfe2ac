import type { Bench } from "./bench.js";
import { arkOf, roleOf } from "./support/documents.js";
import { alternating } from "./support/measure.js";
import { startRegistry, untilLoaded, type Server } from "./support/server.js";

const PAGE = 100;
const QUERY =
  `{ datasets(first: ${PAGE}) { nodes { id name description keywords owner { id name } ` +
  "generatedBy(first: 5) { nodes { id name } } } } }";
const RECORD = "query ($id: ID!) { record(id: $id) { id kind document } }";

/**
 * A page of datasets with owner and generating computation over GraphQL against the same records
 * over REST; and a single record. Both sides ask one server in alternating runs.
 */
export const graphql: Bench = async ({ sizes, stores, load, say }) => {
  const { rounds, seconds, warmUp, fewRecords } = sizes;
  let server: Server | undefined;
  try {
    server = await startRegistry(await stores.of(fewRecords));
    await untilLoaded(server);
    const { url } = server;
    const post = (body: object) => ({
      url: `${url}/graphql`,
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await (
      await fetch(`${url}/graphql`, { ...post({ query: QUERY }) })
    ).json()) as {
      data?: {
        datasets: {
          nodes: {
            id: string;
            owner: unknown;
            generatedBy: { nodes: { id: string; name: string | null }[] };
          }[];
        };
      };
    };
    const nodes = answer.data?.datasets.nodes ?? [];
    const page = nodes.length;
    const computations = new Set(
      nodes.flatMap(({ generatedBy }) =>
        generatedBy.nodes.flatMap(({ id, name }) => (name === null ? [] : [id])),
      ),
    );
    if (page === 0 || computations.size === 0)
      throw new Error(`the page is not what is measured: ${JSON.stringify(answer).slice(0, 300)}`);
    say(`a page of ${page} datasets and ${computations.size} computations`);

    const ark = arkOf(
      Array.from({ length: fewRecords }, (_, index) => index).find(
        (index) => roleOf(index) === "written",
      )!,
    );
    // One connection: the cost of an answer, not how many wait for one. As a caller in Node sees
    // it, itself included.
    const ms = async (work: Promise<{ perSecond: number }>) => 1000 / (await work).perSecond;
    const run = (options: object, connections = 1, length = seconds) =>
      load.run({ url, connections, seconds: length, inNode: true, ...options });
    const sides = {
      page: () => ms(run(post({ query: QUERY }))),
      list: () => ms(run({ url: `${url}/dataset?limit=${PAGE}` })),
      linked: () => ms(run({ url: `${url}/computation/${[...computations][0]!}` })),
      single: async () =>
        (await run(post({ query: RECORD, variables: { id: ark } }), 16)).perSecond,
      resolve: async () => (await run({ url: `${url}/dataset/${ark}` }, 16)).perSecond,
    };
    await run(post({ query: QUERY }), 4, warmUp);
    await run({ url: `${url}/dataset?limit=${PAGE}` }, 4, warmUp);
    await run(post({ query: RECORD, variables: { id: ark } }), 4, warmUp);
    const measured = await alternating(rounds, sides);
    const rest = measured.list + measured.linked * (computations.size + 1);
    return [
      {
        name: `GraphQL page of ${page} with owner and computation`,
        value: measured.page,
        unit: "ms",
        baseline: {
          name: `REST: the page, then ${computations.size} computations and the owner`,
          value: rest,
        },
        wanted: { atMost: 2 },
      },
      {
        name: `GraphQL page of ${page} with owner and computation`,
        value: measured.page,
        unit: "ms",
        baseline: { name: "REST: the page alone", value: measured.list },
      },
      {
        name: "GraphQL, one record",
        value: measured.single,
        unit: "/s",
        baseline: { name: "REST, one record", value: measured.resolve },
        wanted: { atLeast: 0.4 },
      },
    ];
  } finally {
    await server?.stop();
  }
};
