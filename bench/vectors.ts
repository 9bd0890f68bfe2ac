import { join } from "node:path";
import { embedderOf } from "../src/app/compose.js";
import { readConfig } from "../src/config/config.js";
import { embeddedText, embedChanges } from "../src/services/vectors/handler.js";
import type { RecordStore } from "../src/storage/records/port.js";
import { openSqliteRecordStore } from "../src/storage/records/sqlite/index.js";
import { EmbeddingsServer } from "../test/support/servers/embeddings.js";
import type { Bench, Figure } from "./bench.js";
import { alternating, timed } from "./support/measure.js";

/** Numbers of a vector, as small models make them. */
const DIMENSION = 384;
/**
 * Holds no word: every hit is a near record, and neither words nor their spellings are looked up.
 */
const WORDLESS = "…";

/** Vectors of records: how fast they are made, and how fast the nearest is found among many. */
export const vectors: Bench = async (surroundings) => [
  ...(await made(surroundings)),
  ...(await found(surroundings)),
];

/**
 * Following the change log, against the server being asked for the same texts in calls of the same
 * size.
 */
const made: Bench = async ({ sizes, stores, say }) => {
  if (!EmbeddingsServer.installed) {
    say("no embeddings server is installed");
    return [];
  }
  const server = await EmbeddingsServer.start();
  const records = await openSqliteRecordStore({
    file: join(await stores.copy(sizes.embedded), "records.db"),
  });
  const config = readConfig(server.settings);
  const embedder = (await embedderOf(config))!;
  try {
    const changed = (await records.changedTexts(embedder.model, "", 2 * sizes.embedded)).texts;
    const texts = changed.flatMap(({ text }) =>
      text === null || embeddedText(text) === "" ? [] : [embeddedText(text)],
    );
    await embedder.passages(texts.slice(0, config.EMBEDDINGS_BATCH));
    // Stored vectors are removed before each run: `forgetVectors` removes those of other models.
    const forget = async () => {
      while ((await records.forgetVectors("none", 10_000)) > 0);
    };
    const rates = await alternating(sizes.rounds, {
      kept: async () => {
        await forget();
        return (
          (texts.length /
            (await timed(() =>
              embedChanges(records, embedder, new AbortController().signal, () => {}),
            ))) *
          1000
        );
      },
      bare: async () => (texts.length / (await timed(() => embedder.passages(texts)))) * 1000,
    });
    return [
      {
        name: "records embedded and kept",
        value: rates.kept,
        unit: "records/s",
        baseline: { name: "the server alone", value: rates.bare },
        wanted: { atLeast: 0.8 },
        note: `${texts.length} records`,
      },
    ];
  } finally {
    await embedder.close();
    await records.close();
    await server.stop();
  }
};

/** The nearest of many vectors, against a plain loop over as many numbers in this process. */
const found: Bench = async ({ sizes, stores, say }) => {
  const records = await openSqliteRecordStore({
    file: join(await stores.copy(sizes.vectors), "records.db"),
  });
  const figures: Figure[] = [];
  try {
    const filled = await timed(() => fill(records, "random"));
    const query = unit();
    const search = () =>
      timed(() =>
        records.search({
          text: WORDLESS,
          match: "related",
          near: { model: "random", vector: query },
          offset: 0,
          limit: 10,
        }),
      );
    const first = await search();
    say(
      `  ${sizes.vectors} vectors kept in ${(filled / 1000).toFixed(1)} s, read by the ` +
        `first search in ${(first / 1000).toFixed(1)} s`,
    );
    const numbers = Float32Array.from({ length: sizes.vectors * DIMENSION }, () => Math.random());
    const times = await alternating(2 * sizes.rounds + 1, {
      search,
      bare: () => timed(() => scan(numbers, query)),
    });
    figures.push({
      name: "the nearest of all records",
      value: times.search,
      unit: "ms",
      baseline: { name: "a plain loop over their numbers", value: times.bare },
      wanted: { atMost: 2 },
      note: `${sizes.vectors} vectors of ${DIMENSION} numbers`,
    });
  } finally {
    await records.close();
  }
  return figures;
};

function unit(): Float32Array {
  const vector = Float32Array.from({ length: DIMENSION }, () => Math.random() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

async function fill(records: RecordStore, model: string): Promise<void> {
  for (let after = ""; ;) {
    const { texts, to } = await records.changedTexts(model, after, 500);
    if (to === undefined) return;
    await records.storeVectors(model, {
      after,
      to,
      vectors: texts.map(({ ark }) => ({ ark, digest: new Uint8Array(16), vector: unit() })),
    });
    after = to;
  }
}

/**
 * The plain loop of a first version; returns the best, so that nothing is optimised away as unused.
 */
function scan(numbers: Float32Array, query: Float32Array): number {
  let best = -Infinity;
  for (let row = 0; row < numbers.length; row += DIMENSION) {
    let sum = 0;
    for (let at = 0; at < DIMENSION; at++) sum += numbers[row + at]! * query[at]!;
    if (sum > best) best = sum;
  }
  return best;
}
