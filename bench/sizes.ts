/** How large every bench is: `--quick` takes the second number, `--set name=number` changes one. */
export const SIZES = {
  rounds: [3, 2, "how often each side of a comparison is measured; the median counts"],
  pairs: [9, 3, "how often creates are measured; the pair with the median ratio counts"],
  seconds: [2, 1, "length of one measurement under load"],
  warmUp: [8, 2, "seconds of load before the first measurement: V8 takes about 8 s to settle"],
  connections: [32, 32, "requests at a time when records are resolved"],
  keys: [32_000, 10_000, "different records that are resolved in one run"],
  fewRecords: [1_000, 1_000, "records in the small store"],
  manyRecords: [200_000, 20_000, "records in the large store"],
  startRecords: [100_000, 10_000, "records in the store of start and memory"],
  draftsRecords: [200_000, 20_000, "records of which nine of ten are private drafts of others"],
  soakMinutes: [120, 1, "minutes of the mixed load"],
  millionRecords: [1_000_000, 10_000, "records beside the Oxigraph server"],
  scaleRecords: [10_000_000, 20_000, "records in the large PostgreSQL store"],
  sparqlRecords: [20_000, 20_000, "records that SPARQL queries read"],
  warmStarts: [1, 1, "starts of each sort before the first measurement"],
  starts: [5, 2, "starts of each sort"],
  settle: [3, 1, "seconds a registry is left alone before its memory is read"],
  writers: [64, 64, "creates at a time"],
  fetches: [300, 50, "fetches of a page or a format in one measurement"],
  hostile: [5_000, 100, "hostile requests, large, deep, wide, slow and repeated"],
  readSeconds: [10, 2, "seconds of reads under load; the limit of a SPARQL query without an end"],
  entities: [10_000, 5_000, "entities of an uploaded crate"],
  crateBytes: [2_000_000_000, 50_000_000, "bytes of the files of a large crate"],
  objectBytes: [1_000_000_000, 100_000_000, "bytes of the files that a backup copies, five times"],
  chain: [1_000, 1_000, "nodes in the chain whose evidence is requested"],
  graph: [10_000, 5_000, "nodes of the evidence graph that is compared with a bare query"],
  warmQueries: [40, 20, "SPARQL queries before the first measurement"],
  tableRows: [1_000_000, 200_000, "rows of the table of 8 columns"],
  embeddingRows: [6_000, 1_500, "rows of the table of 1,025 columns"],
} as const satisfies Record<string, readonly [full: number, quick: number, about: string]>;

export type SizeName = keyof typeof SIZES;
export type Sizes = Readonly<Record<SizeName, number>>;

/**
 * @param settings `name=number` each
 * @throws Error that names the sizes there are
 */
export function readSizes(quick: boolean, settings: readonly string[]): Sizes {
  const names = Object.keys(SIZES) as SizeName[];
  const sizes = Object.fromEntries(
    names.map((name) => [name, SIZES[name][quick ? 1 : 0]]),
  ) as Record<SizeName, number>;
  for (const setting of settings) {
    const [name = "", text = ""] = setting.split("=");
    const value = Number(text);
    if (!Object.hasOwn(SIZES, name) || text === "" || !(value >= 0))
      throw new Error(
        `--set ${setting}: it takes name=number with one of the names ${names.join(", ")}`,
      );
    sizes[name as SizeName] = value;
  }
  return sizes;
}
