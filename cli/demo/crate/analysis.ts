import type { Image, Placed } from "./images.js";

/**
 * Names of the numbers that {@link embed} returns, in order; the header of the embeddings table.
 */
export const FEATURES = [
  "nucleus_mean",
  "nucleus_sd",
  "nucleus_area",
  "protein_mean",
  "protein_sd",
  "protein_area",
  "protein_in_nucleus",
  "correlation",
] as const;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}

/**
 * The computation of the crate's first script: it describes one image by eight numbers between
 * about 0 and 1.
 */
export function embed({ pixels }: Image): number[] {
  const protein: number[] = [];
  const nucleus: number[] = [];
  for (let at = 0; at < pixels.length; at += 3) {
    protein.push(pixels[at + 1]! / 255);
    nucleus.push(pixels[at + 2]! / 255);
  }
  const inNucleus = nucleus.map((value) => value > 0.25);
  const covered = (values: readonly number[], level: number) =>
    mean(values.map((value) => (value > level ? 1 : 0)));
  const total = protein.reduce((sum, value) => sum + value, 0);
  const within = protein.reduce((sum, value, at) => sum + (inNucleus[at] ? value : 0), 0);
  const [proteinMean, nucleusMean] = [mean(protein), mean(nucleus)];
  const covariance = mean(
    protein.map((value, at) => (value - proteinMean) * (nucleus[at]! - nucleusMean)),
  );
  return [
    nucleusMean,
    deviation(nucleus),
    covered(nucleus, 0.25),
    proteinMean,
    deviation(protein),
    covered(protein, 0.15),
    within / total,
    covariance / (deviation(protein) * deviation(nucleus)),
  ];
}

/**
 * Two coordinates (principal components) and one of two clusters (k-means) for each row of
 * embeddings.
 */
export function summarise(embeddings: readonly (readonly number[])[]): Placed[] {
  const columns = embeddings[0]!.map((_, column) => embeddings.map((row) => row[column]!));
  const scaled = embeddings.map((row) =>
    row.map(
      (value, column) => (value - mean(columns[column]!)) / (deviation(columns[column]!) || 1),
    ),
  );
  const first = component(scaled);
  const second = component(
    scaled.map((row) => row.map((value, column) => value - dot(row, first) * first[column]!)),
  );
  const clusters = twoMeans(scaled);
  return scaled.map((row, at) => ({
    x: dot(row, first),
    y: dot(row, second),
    cluster: clusters[at]!,
  }));
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, at) => sum + value * b[at]!, 0);

/**
 * Direction of the largest variance, by power iteration; its largest entry is made positive, so
 * that the sign is unambiguous.
 */
function component(rows: readonly (readonly number[])[]): number[] {
  let direction = rows[0]!.map((_, column) => 1 / (column + 1));
  for (let round = 0; round < 200; round++) {
    const next = direction.map((_, column) =>
      rows.reduce((sum, row) => sum + dot(row, direction) * row[column]!, 0),
    );
    const length = Math.hypot(...next) || 1;
    direction = next.map((value) => value / length);
  }
  const largest = direction.reduce(
    (best, value) => (Math.abs(value) > Math.abs(best) ? value : best),
    0,
  );
  return largest < 0 ? direction.map((value) => -value) : direction;
}

/** k-means with k = 2, from the first row and the one farthest from it. */
function twoMeans(rows: readonly (readonly number[])[]): number[] {
  const apart = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, value, at) => sum + (value - b[at]!) ** 2, 0);
  const farthest = rows.reduce(
    (best, row) => (apart(row, rows[0]!) > apart(best, rows[0]!) ? row : best),
    rows[0]!,
  );
  let centres: readonly (readonly number[])[] = [rows[0]!, farthest];
  let clusters: number[] = [];
  for (let round = 0; round < 20; round++) {
    clusters = rows.map((row) => (apart(row, centres[0]!) <= apart(row, centres[1]!) ? 0 : 1));
    centres = centres.map((centre, which) => {
      const members = rows.filter((_, at) => clusters[at] === which);
      return members.length === 0
        ? centre
        : centre.map((_, column) => mean(members.map((row) => row[column]!)));
    });
  }
  return clusters;
}
