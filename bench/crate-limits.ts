import { setTimeout as pause } from "node:timers/promises";
import { buffer } from "node:stream/consumers";
import yazl from "yazl";
import type { Bench, Figure } from "./bench.js";
import { Client } from "./support/client.js";
import { timed } from "./support/measure.js";
import { resident } from "./support/resident.js";
import { registryEnv, SERVER, startNode, untilLoaded } from "./support/server.js";

const HEAD =
  '{"@context":"https://w3id.org/ro/crate/1.1/context","@graph":[{"@id":"ro-crate-metadata.json","@type":"CreativeWork","about":{"@id":"./"},"conformsTo":{"@id":"https://w3id.org/ro/crate/1.1"}},{"@id":"./","@type":"Dataset","name":"Large"';

/**
 * Metadata beyond the default limits of a registry: how soon each is refused, and how much memory
 * stays in use after them.
 */
export const crateLimits: Bench = async ({ sizes, folder }) => {
  const { metadataBytes } = sizes;
  const cases: { about: string; setting: string; text: () => string }[] = [
    {
      about: "one entity of text",
      setting: "MAX_ENTITY_BYTES",
      text: () => `${HEAD},"description":"${"A word or two. ".repeat(metadataBytes / 15)}"}]}`,
    },
    {
      about: "one entity of numbers",
      setting: "MAX_ENTITY_BYTES",
      text: () => `${HEAD},"size":[${"12345678,".repeat(metadataBytes / 9)}1]}]}`,
    },
    {
      about: "brackets",
      setting: "MAX_JSON_DEPTH",
      text: () =>
        `${HEAD},"about":${"[".repeat(metadataBytes / 2)}${"]".repeat(metadataBytes / 2)}}]}`,
    },
    {
      about: "JSON 10,000 deep",
      setting: "MAX_JSON_DEPTH",
      text: () => `${HEAD},"about":${"[".repeat(10_000)}${"]".repeat(10_000)}}]}`,
    },
    {
      about: "entities of 40 bytes",
      setting: "MAX_CRATE_ENTITIES",
      text: () =>
        `${HEAD}},${'{"@id":"#a","@type":"Thing","name":"a b"},'.repeat(metadataBytes / 42)}{}]}`,
    },
  ];
  // A tiny run has tiny limits; a ratio would refuse these archives before anything else does.
  const limits: Record<string, string> =
    metadataBytes < 50e6 ? { MAX_ENTITY_BYTES: "1M", MAX_CRATE_ENTITIES: "1000" } : {};
  const server = await startNode([SERVER], {
    ...registryEnv(await folder()),
    MAX_CRATE_RATIO: "100000",
    ...limits,
  });
  try {
    await untilLoaded(server);
    const client = await Client.register(server);
    await pause(sizes.settle * 1000);
    const idle = resident(server.pid);
    const figures: Figure[] = [];
    for (const { about, setting, text } of cases) {
      const archive = new yazl.ZipFile();
      archive.addBuffer(Buffer.from(text()), "ro-crate-metadata.json", { compressionLevel: 1 });
      archive.end();
      const bytes = new Uint8Array(await buffer(archive.outputStream));
      let refusal = "";
      const ms = await timed(() =>
        client.upload(bytes).catch((error: Error) => (refusal = error.message)),
      );
      if (!refusal.includes(setting))
        throw new Error(
          `${about}: a refusal by ${setting} was expected, the answer is ` +
            (refusal || "no refusal"),
        );
      figures.push({ name: `refusal of metadata, ${about}`, value: ms, unit: "ms", note: setting });
    }
    await pause(sizes.settle * 1000);
    const stays = resident(server.pid) - idle;
    return [
      ...figures,
      {
        name: "memory that stays after them",
        value: Math.max(0.1, stays),
        unit: "MiB",
        wanted: { below: 64 },
        note: `idle ${idle.toFixed(0)} MiB`,
      },
    ];
  } finally {
    await server.stop();
  }
};
