import type { Bench } from "./bench.js";
import { Client } from "./support/client.js";
import { datasetBody } from "./support/documents.js";
import { alternating, timed } from "./support/measure.js";
import { startRegistry, untilLoaded } from "./support/server.js";

/**
 * Evidence graphs of a record without support, and of the end of a chain, against fetching the
 * record.
 */
export const evidence: Bench = async ({ sizes, folder, load }) => {
  const { rounds, seconds, warmUp, chain } = sizes;
  const server = await startRegistry(await folder());
  try {
    await untilLoaded(server);
    const client = await Client.register(server);
    const { generatedBy: _, ...lone } = datasetBody(client.user);
    const alone = (await client.create("/dataset", lone))["@id"];
    // Written from the end, so that links may dangle until all records are stored.
    const link = (index: number) => `ark:99999/dataset-chain${index}`;
    for (let index = 0; index < chain; index += 100) {
      await Promise.all(
        Array.from({ length: Math.min(100, chain - index) }, (_each, offset) =>
          client.create("/dataset", {
            ...lone,
            "@id": link(index + offset),
            ...(index + offset === 0 ? {} : { derivedFrom: link(index + offset - 1) }),
          }),
        ),
      );
    }
    const end = link(chain - 1);
    const answer = (await (await client.get(`/evidencegraph/query/${end}`)).json()) as {
      "@graph": unknown[];
    };
    if (answer["@graph"].length !== chain)
      throw new Error(
        `the chain's evidence has ${answer["@graph"].length} nodes instead of ${chain}`,
      );

    // One at a time: then a rate gives the mean time of an answer. It is the time that a caller in
    // Node waits, including its own.
    const mean =
      (path: string) =>
      async (length = seconds) =>
        1000 /
        (await load.run({ url: server.url + path, connections: 1, seconds: length, inNode: true }))
          .perSecond;
    const sides = { fetched: mean(`/${alone}`), lone: mean(`/evidencegraph/query/${alone}`) };
    await sides.fetched(warmUp);
    await sides.lone(warmUp);
    const measured = await alternating(rounds, {
      fetched: () => sides.fetched(),
      lone: () => sides.lone(),
      chain: () => timed(async () => (await client.get(`/evidencegraph/query/${end}`)).text()),
    });
    const baseline = { name: "plain fetch of the record", value: measured.fetched };
    return [
      {
        name: "evidence graph of a lone record",
        value: measured.lone,
        unit: "ms",
        baseline,
        wanted: { atMost: 5 },
      },
      {
        name: `evidence graph of a chain of ${chain}`,
        value: measured.chain,
        unit: "ms",
        baseline,
      },
    ];
  } finally {
    await server.stop();
  }
};
