import { availableParallelism } from "node:os";
import jsonld from "jsonld";
import { Store } from "oxigraph";
import { readConfig } from "../src/config/config.js";
import { openLog } from "../src/adapters/log.js";
import { bundledLoader } from "../src/rdf/contexts.js";
import { serve } from "../src/app/serve.js";
import type { Bench } from "./bench.js";
import { Client } from "./support/client.js";
import { crateMetadata, zipped } from "./support/crate.js";
import { alternating, timed } from "./support/measure.js";
import { registryEnv } from "./support/server.js";

/**
 * A metadata-only crate, from its upload until it is ingested, against the least that any
 * implementation must do with it: read its JSON-LD, load the statements.
 */
export const intake: Bench = async ({ sizes, folder }) => {
  // In this process, like the baseline: both have the same threads, heap and warm code.
  const settings = { ...registryEnv(await folder()), JOB_CONCURRENCY: "2" };
  const registry = await serve(readConfig(settings), openLog("error"));
  try {
    const client = await Client.register(registry);
    let crates = 0;
    const upload = async () => {
      const archive = await zipped(crateMetadata(sizes.entities, `Crate ${crates++}`));
      return timed(() => client.upload(archive));
    };
    const metadata = crateMetadata(sizes.entities, "Crate");
    let quads = "";
    const parse = () =>
      timed(
        async () =>
          (quads = (await jsonld.toRDF(metadata, {
            documentLoader: bundledLoader as never,
            format: "application/n-quads",
            base: "https://crate.example/",
          })) as unknown as string),
      );
    const load = () => timed(() => new Store().load(quads, { format: "application/n-quads" }));
    await upload();
    await parse();
    let cores = 0;
    const both = async () => {
      const before = process.cpuUsage();
      const ms = await timed(() => Promise.all([upload(), upload()]));
      const { user, system } = process.cpuUsage(before);
      cores = (user + system) / 1000 / ms;
      return ms;
    };
    const inTurn = async () => (await upload()) + (await upload());
    const measured = await alternating(sizes.rounds, { upload, parse, load, both, inTurn });
    return [
      {
        name: `crate of ${sizes.entities} entities, upload to finished`,
        value: measured.upload,
        unit: "ms",
        baseline: { name: "jsonld.toRDF + Oxigraph load", value: measured.parse + measured.load },
        wanted: { atMost: 3 },
      },
      {
        name: `two of them at once, with JOB_CONCURRENCY=2`,
        value: measured.both,
        unit: "ms",
        baseline: { name: "one after the other", value: measured.inTurn },
        note: `${cores.toFixed(1)} cores of ${availableParallelism()} used`,
      },
      { name: "of the baseline: jsonld.toRDF", value: measured.parse, unit: "ms" },
      { name: "of the baseline: Oxigraph load", value: measured.load, unit: "ms" },
    ];
  } finally {
    await registry.stop();
  }
};
