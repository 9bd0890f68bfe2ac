/** How large every bench is: `--set name=number` changes one, `--tiny` takes the second column. */
export const SIZES = {
  rounds: [3, 1, "how often each side of a comparison is measured; the median counts"],
  pairs: [
    9,
    1,
    "how often the two sides of creates are measured; the pair of the middle ratio counts",
  ],
  seconds: [2, 0.1, "length of one measurement under load"],
  warmUp: [
    8,
    0.1,
    "seconds of load before the first measurement: as long as the compiler takes to settle, " +
      "since a registry runs for months",
  ],
  connections: [32, 4, "requests at a time when records are resolved"],
  keys: [
    32_000,
    400,
    "different keys asked for in one run, when records are resolved: more than a page cache " +
      "of the store could hide",
  ],
  fewRecords: [1_000, 100, "records in the small store"],
  manyRecords: [200_000, 300, "records in the large store"],
  startRecords: [100_000, 200, "records in the store that start and memory are measured with"],
  warmStarts: [1, 0, "starts of each sort before the first measurement"],
  starts: [5, 1, "starts of each sort"],
  settle: [3, 0.2, "seconds a registry is left alone before its memory is read"],
  writers: [64, 4, "creates at a time"],
  hostile: [3_000, 60, "hostile requests, large, deep, wide, slow and repeated"],
  entities: [10_000, 60, "entities of the crate that is taken in"],
  payloadBytes: [
    2_000_000_000,
    300_000,
    "bytes of the members of the crate whose rate is measured",
  ],
  memoryBytes: [5_000_000_000, 500_000, "bytes of the largest crate that memory is watched with"],
  objectBytes: [
    1_000_000_000,
    12_000_000,
    "bytes of the object that is put into S3 and read again",
  ],
  chain: [1_000, 20, "nodes in the chain whose evidence is asked for"],
  graph: [10_000, 30, "nodes of the evidence graph that is measured beside a bare query"],
  largeGraph: [100_000, 200, "nodes of the evidence graph whose memory is measured"],
  sparqlRecords: [20_000, 100, "records that SPARQL queries are about"],
  warmQueries: [
    40,
    1,
    "SPARQL queries before the first measurement: after them an engine is as quick as it gets",
  ],
  cartesian: [10, 1, "seconds that a query without an end may run"],
  tableRows: [1_000_000, 2_000, "rows of the table of eight columns that is checked"],
  embeddingRows: [6_000, 1_000, "rows of the table of 1,025 columns that is checked"],
} as const satisfies Record<string, readonly [usual: number, tiny: number, about: string]>;

export type SizeName = keyof typeof SIZES;
export type Sizes = Readonly<Record<SizeName, number>>;

/**
 * @param settings `name=number` each
 * @throws Error that names the sizes there are
 */
export function readSizes(tiny: boolean, settings: readonly string[]): Sizes {
  const names = Object.keys(SIZES) as SizeName[];
  const sizes = Object.fromEntries(
    names.map((name) => [name, SIZES[name][tiny ? 1 : 0]]),
  ) as Record<SizeName, number>;
  for (const setting of settings) {
    const [name = "", text = ""] = setting.split("=");
    const value = Number(text);
    if (!Object.hasOwn(SIZES, name) || !(value > 0))
      throw new Error(
        `--set ${setting}: it takes name=number with one of the names ${names.join(", ")}`,
      );
    sizes[name as SizeName] = value;
  }
  return sizes;
}
