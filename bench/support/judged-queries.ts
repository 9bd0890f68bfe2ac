/** How well a result answers: 3 is what was sought, 1 is about the subject. */
export type Grade = 1 | 2 | 3;

/** A query and the names of the records that answer it; all others do not. */
export interface JudgedQuery {
  query: string;
  relevant: readonly (readonly [name: RegExp, grade: Grade])[];
}

const judged = (query: string, ...relevant: (readonly [RegExp, Grade])[]): JudgedQuery => ({
  query,
  relevant,
});

/** Queries with words of the records that they mean. */
export const BY_WORDS: readonly JudgedQuery[] = [
  judged("cell ranger", [/^Cell Ranger$/, 3]),
  judged("paclitaxel", [/^Paclitaxel$/, 3], [/^Paclitaxel Experiment/, 2], [/^Data from: SEC/, 2]),
  judged("vorinostat", [/^Vorinostat$/, 3], [/^Vorinostat Experiment/, 2], [/^Data from: SEC/, 2]),
  judged("breast adenocarcinoma", [/^Breast adenocarcinoma$/, 3]),
  judged("heatmap notebook", [/Heatmap Analysis$/, 3]),
  judged("UMAP", [/UMAP Analysis$/, 3]),
  judged("protospacer calls", [/^Protospacer Calls/, 3], [/^protospacer_calls$/, 3]),
  judged("mass spectrometry instrument", [/^timsTOF/, 3], [/^Spectronaut$/, 1]),
  judged("Spectronaut", [/^Spectronaut$/, 3]),
  judged(
    "perturbation cell atlas",
    [/^Perturbation Cell Atlas of/, 3],
    [/^Perturbation Cell Atlas Data Processing/, 3],
  ),
  judged(
    "aggregated data",
    [/Aggregated Data$/, 3],
    [/^Aggregation Data$/, 3],
    [/^aggregation_data$/, 2],
    [/Aggregate Schema$/, 2],
  ),
  judged("pan genome machine learning", [/Pan Genome ML/, 3], [/^Pan Genome/, 1]),
  judged("MDE coloring", [/MDE Coloring/, 3]),
  judged("pipeline demo", [/Pipeline Demo$/, 3], [/^Analysis Pipeline/, 1]),
  judged("pipeline documentation", [/Pipeline Documentation$/, 3], [/^Analysis Pipeline/, 1]),
  judged("single-cell RNA-seq", [/^Cell Ranger$/, 3]),
  judged("red channel image", [/red channel image$/, 3]),
  judged("simulated samples", [/^Simulated Samples/, 3], [/^Simulated unique/, 1]),
  judged("IF image loader", [/^IF Image Loader/, 3]),
  judged("splitter", [/^splitter$/, 3]),
  judged("merged result", [/^merged\.txt$/, 3], [/^merger$/, 2]),
  judged("seed input", [/^seed\.txt$/, 3]),
  judged("scatter gather workflow", [/^fan-out crate$/, 3], [/^merged\.txt$/, 1]),
  judged("ImageMagick", [/^ImageMagick$/, 3]),
  judged("sepia", [/^sepia_fence/, 3], [/sepia$/, 3]),
  judged("reverse line", [/^revtool\.cwl$/, 3]),
  judged("sort lines", [/^sorttool\.cwl$/, 3]),
  judged("cwltool", [/^cwltool/, 3], [/^Run of cwltool/, 2]),
  judged("counting run", [/^Counting run$/, 3]),
  judged("light microscopy", [/^Light microscopy images$/, 3], [/^Cell atlas$/, 2]),
];

/** Queries that mean the same as records in other words, two of them in another language. */
export const PARAPHRASES: readonly JudgedQuery[] = [
  judged("drug for chemotherapy of tumours", [/^Paclitaxel$/, 3], [/^Vorinostat$/, 2]),
  judged("malignant mammary tumour", [/^Breast adenocarcinoma$/, 3]),
  judged("photo turned brown like an old one", [/^sepia_fence/, 3], [/sepia$/, 3]),
  judged("order text alphabetically", [/^sorttool\.cwl$/, 3]),
  judged("write characters backwards", [/^revtool\.cwl$/, 3]),
  judged("photographs of tissue culture", [/^Light microscopy images$/, 3]),
  judged("program that recognises nuclei in pictures", [/^segment$/, 3]),
  judged("how many nuclei are in each picture", [/^Counting run$/, 3], [/^Cell counts$/, 3]),
  judged("gene silencing screen", [/^Perturbation Cell Atlas of/, 3]),
  judged("device that weighs molecules", [/^timsTOF/, 3]),
  judged("proteomics evaluation program", [/^Spectronaut$/, 3]),
  judged("map transcriptome sequencing", [/^Cell Ranger$/, 3]),
  judged("coloured matrix plot", [/Heatmap Analysis$/, 3]),
  judged("projection onto a plane", [/UMAP Analysis$/, 3], [/MDE Coloring/, 1]),
  judged("train a classifier", [/Pan Genome ML/, 3]),
  judged("assignment of guide RNAs", [/^Protospacer Calls/, 3], [/^protospacer_calls$/, 3]),
  judged("manual how to run the workflow", [/Pipeline Documentation$/, 3]),
  judged("something small to try out", [/Pipeline Demo$/, 3]),
  judged("divide a document into chunks", [/^splitter$/, 3]),
  judged("combine partial outputs", [/^merger$/, 3], [/^merged\.txt$/, 2], [/^MERGE$/, 2]),
  judged("what all parallel tasks begin with", [/^seed\.txt$/, 3]),
  judged("parallel tasks that are spread and collected", [/^fan-out crate$/, 3]),
  judged(
    "fluorescence pictures",
    [/red channel image$/, 3],
    [/^IF Image Loader/, 2],
    [/imagedownloader$/, 2],
  ),
  judged("fetch pictures", [/imagedownloader$/, 3], [/^IF Image Loader/, 2]),
  judged("HDAC inhibitor", [/^Vorinostat$/, 3], [/^Vorinostat Experiment/, 1]),
  judged(
    "protein complexes fractionated on a column",
    [/^Data from: SEC/, 3],
    [/Experiment \d: SEC-MS/, 2],
  ),
  judged("baseline without drug", [/^Control Experiment/, 3]),
  judged("photo editing", [/^ImageMagick$/, 3]),
  judged("Krebsmedikament", [/^Paclitaxel$/, 3], [/^Vorinostat$/, 3]),
  judged("Zellbilder aus dem Mikroskop", [/^Light microscopy images$/, 3]),
];

/**
 * Normalised discounted cumulative gain of the first ten results: 1 is the best order there is.
 * @param found names of the results, the best first
 * @param all names of all records
 */
export function ndcgAt10(
  { query, relevant }: JudgedQuery,
  found: readonly string[],
  all: readonly string[],
): number {
  const gain = (name: string): number =>
    2 ** (relevant.find(([pattern]) => pattern.test(name))?.[1] ?? 0) - 1;
  const sum = (gains: readonly number[]): number =>
    gains.slice(0, 10).reduce((total, one, place) => total + one / Math.log2(place + 2), 0);
  const best = sum(all.map(gain).toSorted((a, b) => b - a));
  const ratio = best === 0 ? 0 : sum(found.map(gain)) / best;
  if (ratio > 1 + 1e-9) throw new Error(`"${query}" found records that are not among all records`);
  return ratio;
}
