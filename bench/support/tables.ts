import { createWriteStream } from "node:fs";
import { once } from "node:events";

/** Always the same numbers (mulberry32), so that runs can be compared. */
function* randomNumbers(seed: number): Generator<number, never> {
  for (;;) {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    yield ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

async function writeLines(file: string, lines: Iterable<string>): Promise<void> {
  const stream = createWriteStream(file);
  let pending = "";
  for (const line of lines) {
    pending += line;
    if (pending.length < 1 << 18) continue;
    if (!stream.write(pending)) await once(stream, "drain");
    pending = "";
  }
  stream.end(pending);
  await once(stream, "close");
}

const SYMBOLS = ["BRCA1", "TP53", "EGFR", "MYC", "KRAS", "PTEN", "AKT1", "CDK2"];
const WORDS = [
  "membrane",
  "protein",
  "kinase",
  "binding",
  "factor",
  "nuclear",
  "transport",
  "complex, receptor",
  "subunit",
  "domain",
];

/** A table of eight columns, one of them in quotes; about 85 bytes a row. */
export function writeGenes(file: string, rows: number, separator = ","): Promise<void> {
  return writeLines(
    file,
    (function* () {
      const random = randomNumbers(1);
      const next = (below: number): number => Math.floor(random.next().value * below);
      const line = (text: string) =>
        separator === "," ? text : text.replaceAll(/,(?! )/g, separator);
      yield line("id,symbol,ensembl,score,reads,bait,description,plate\n");
      for (let row = 0; row < rows; row++) {
        const text = `${WORDS[next(10)]} ${WORDS[next(10)]} ${WORDS[next(10)]}`;
        yield line(
          `${row},${SYMBOLS[next(8)]},ENSG${String(next(1e11)).padStart(11, "0")},${(random.next().value * 100).toFixed(6)},` +
            `${next(100_000)},${row % 3 === 0},"${text}",B2AI_${row % 97}_${row % 13}\n`,
        );
      }
    })(),
  );
}

/** A gene and 1,024 numbers in every row. */
export function writeEmbedding(file: string, rows: number): Promise<void> {
  return writeLines(
    file,
    (function* () {
      const random = randomNumbers(2);
      const values = Array.from({ length: 5000 }, () => (random.next().value * 6 - 3).toFixed(9));
      yield `gene\t${Array.from({ length: 1024 }, (_, column) => column).join("\t")}\n`;
      for (let row = 0; row < rows; row++) {
        const vector = Array.from(
          { length: 1024 },
          () => values[Math.floor(random.next().value * values.length)],
        );
        yield `GENE${row}\t${vector.join("\t")}\n`;
      }
    })(),
  );
}

/** The schema of {@link writeGenes}. @param change replaces keys of single properties */
export function genesSchema(change: Record<string, object> = {}): object {
  const properties: Record<string, object> = {
    id: { index: 0, type: "integer", minimum: 0 },
    symbol: { index: 1, type: "string", pattern: "^[A-Za-z0-9/-]*$" },
    ensembl: { index: 2, type: "string", pattern: "^ENSG[0-9]{11}$" },
    score: { index: 3, type: "number", minimum: 0, maximum: 100 },
    reads: { index: 4, type: "integer", minimum: 0 },
    bait: { index: 5, type: "boolean" },
    description: { index: 6, type: "string", maxLength: 200 },
    plate: { index: 7, type: "string", pattern: "^B2AI_[0-9]*_.*$" },
  };
  for (const [name, keys] of Object.entries(change))
    properties[name] = { ...properties[name], ...keys };
  return {
    name: "Genes",
    description: "",
    seperator: ",",
    header: true,
    required: Object.keys(properties),
    properties,
  };
}
