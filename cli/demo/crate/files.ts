import {
  drawFields,
  drawFigure,
  encodePng,
  type Field,
  type Image,
  type Placed,
} from "./images.js";

/**
 * First piece of software in the crate: it reads images and writes one row of eight numbers for
 * each image.
 */
const EMBED_SCRIPT = `"""Describe microscope images by eight numbers each.

usage: embed_images.py images/*.png > results/embeddings.csv
"""
import sys

import imageio.v3 as imageio
import numpy as np

NAMES = ["nucleus_mean", "nucleus_sd", "nucleus_area", "protein_mean",
         "protein_sd", "protein_area", "protein_in_nucleus", "correlation"]


def embed(path):
    pixels = imageio.imread(path).astype(float) / 255
    protein, nucleus = pixels[..., 1], pixels[..., 2]
    inside = nucleus > 0.25
    return [nucleus.mean(), nucleus.std(), inside.mean(),
            protein.mean(), protein.std(), (protein > 0.15).mean(),
            protein[inside].sum() / protein.sum(),
            np.corrcoef(protein.ravel(), nucleus.ravel())[0, 1]]


print("image", *NAMES, sep=",")
for path in sys.argv[1:]:
    print(path, *(f"{value:.6f}" for value in embed(path)), sep=",")
`;

/**
 * Second piece of software: it reads embeddings and writes two coordinates and a cluster for each
 * image.
 */
const CLUSTER_SCRIPT = `"""Summarise image embeddings in two dimensions and two clusters.

usage: cluster_embeddings.py results/embeddings.csv > results/clusters.csv
"""
import csv
import sys

import numpy as np


def components(rows):
    _, _, directions = np.linalg.svd(rows, full_matrices=False)
    signs = np.sign([d[np.abs(d).argmax()] for d in directions[:2]])
    return rows @ (directions[:2] * signs[:, None]).T


def two_means(rows):
    start = ((rows - rows[0]) ** 2).sum(axis=1).argmax()
    centres = np.array([rows[0], rows[start]])
    for _ in range(20):
        apart = ((rows[:, None] - centres) ** 2).sum(axis=2)
        label = apart.argmin(axis=1)
        centres = np.array([rows[label == k].mean(axis=0) for k in (0, 1)])
    return label


with open(sys.argv[1], newline="") as table:
    images, *columns = zip(*list(csv.reader(table))[1:])
rows = np.array(columns, dtype=float).T
rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
print("image,x,y,cluster")
for image, (x, y), cluster in zip(images, components(rows), two_means(rows)):
    print(image, f"{x:.6f}", f"{y:.6f}", cluster, sep=",")
`;

/** A file of the crate. */
export interface CrateFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Paths inside the crate, once. */
export const PATHS = {
  samples: "samples.csv",
  images: "images/",
  embedScript: "software/embed_images.py",
  clusterScript: "software/cluster_embeddings.py",
  embeddings: "results/embeddings.csv",
  clusters: "results/clusters.csv",
  figure: "results/clusters.png",
} as const;
export const imagePath = (field: Field): string => `${PATHS.images}${field.name}.png`;

const table = (
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): Buffer => Buffer.from([header, ...rows].map((row) => `${row.join(",")}\n`).join(""));

/**
 * Runs the pipeline: draws the images, computes the results of the scripts, in the order of the
 * crate's files.
 */
export function makeFiles(): { fields: Field[]; files: CrateFile[] } {
  const fields = drawFields();
  // The second step reads the output of the first, which has six decimals.
  const embeddings = fields.map(({ image }) => embed(image).map((value) => value.toFixed(6)));
  const placed = summarise(embeddings.map((row) => row.map(Number)));
  const files: CrateFile[] = [
    {
      path: PATHS.samples,
      bytes: table(
        ["well", "cell_line", "treatment", "concentration_nM"],
        [...new Set(fields.map(({ well }) => well))].map((well) => {
          const { treatment } = fields.find((field) => field.well === well)!;
          return [well, "MDA-MB-468", treatment, treatment === "untreated" ? 0 : 50];
        }),
      ),
    },
    ...fields.map((field) => ({ path: imagePath(field), bytes: encodePng(field.image) })),
    { path: PATHS.embedScript, bytes: Buffer.from(EMBED_SCRIPT) },
    { path: PATHS.clusterScript, bytes: Buffer.from(CLUSTER_SCRIPT) },
    {
      path: PATHS.embeddings,
      bytes: table(
        ["image", ...FEATURES],
        fields.map((field, at) => [imagePath(field), ...embeddings[at]!]),
      ),
    },
    {
      path: PATHS.clusters,
      bytes: table(
        ["image", "x", "y", "cluster"],
        fields.map((field, at) => [
          imagePath(field),
          placed[at]!.x.toFixed(6),
          placed[at]!.y.toFixed(6),
          placed[at]!.cluster,
        ]),
      ),
    },
    { path: PATHS.figure, bytes: encodePng(drawFigure(placed)) },
  ];
  return { fields, files };
}

/**
 * Names of the numbers that {@link embed} returns, in order; the header of the embeddings table.
 */
const FEATURES = [
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
function embed({ pixels }: Image): number[] {
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
function summarise(embeddings: readonly (readonly number[])[]): Placed[] {
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
