/**
 * The files of the example crate: images that are drawn, scripts, and what the scripts make of the
 * images.
 */
import { crc32, deflateSync } from "node:zlib";

/** An image of 8-bit red, green and blue. */
interface Image {
  readonly width: number;
  readonly height: number;
  /** Row by row, three bytes a pixel. */
  readonly pixels: Uint8Array;
}

/** The result of the second script for one image. */
interface Placed {
  /** The image. */
  path: string;
  x: number;
  y: number;
  cluster: 0 | 1;
}

const blankImage = (width: number, height: number, value = 0): Image => ({
  width,
  height,
  pixels: new Uint8Array(width * height * 3).fill(value),
});

/** Sets a pixel; pixels outside the image are ignored. */
function plot(
  { width, height, pixels }: Image,
  x: number,
  y: number,
  [red, green, blue]: readonly [number, number, number],
): void {
  if (x < 0 || y < 0 || x >= width || y >= height) return;
  pixels.set([red, green, blue], (y * width + x) * 3);
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * The image as PNG: 8-bit truecolour, no interlacing, filter 0 on each row (PNG specification,
 * sections 5 and 11).
 */
function encodePng({ width, height, pixels }: Image): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.alloc(height * (width * 3 + 1));
  for (let y = 0; y < height; y++)
    rows.set(pixels.subarray(y * width * 3, (y + 1) * width * 3), y * (width * 3 + 1) + 1);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

const FIGURE_SIZE = 240;
const MARGIN = 24;
const INK = [60, 64, 72] as const;
const COLOURS = [
  [31, 119, 180],
  [214, 96, 39],
] as const;

/** The summary figure: a scatter plot with one dot an image, coloured by cluster. */
function drawFigure(points: readonly Placed[]): Image {
  const image = blankImage(FIGURE_SIZE, FIGURE_SIZE, 255);
  for (let at = MARGIN; at <= FIGURE_SIZE - MARGIN; at++) {
    plot(image, MARGIN, at, INK);
    plot(image, at, FIGURE_SIZE - MARGIN, INK);
  }
  const scale = (values: number[]) => {
    // oxlint-disable-next-line arkgraph/spread-into-call -- points of the demo's figure
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return (value: number) =>
      MARGIN + 16 + ((value - least) / (most - least || 1)) * (FIGURE_SIZE - 2 * MARGIN - 32);
  };
  const across = scale(points.map(({ x }) => x));
  const up = scale(points.map(({ y }) => y));
  for (const { x, y, cluster } of points)
    drawDot(image, Math.round(across(x)), FIGURE_SIZE - Math.round(up(y)), COLOURS[cluster]);
  return image;
}

function drawDot(
  image: Image,
  centreX: number,
  centreY: number,
  colour: readonly [number, number, number],
): void {
  for (let y = -5; y <= 5; y++)
    for (let x = -5; x <= 5; x++)
      if (x * x + y * y <= 25) plot(image, centreX + x, centreY + y, colour);
}

/** Where the stained protein lies in a cell. */
type Phenotype = "nuclear" | "cytoplasmic";

/** One field of view. */
export interface Field {
  /** File name without folder and extension. */
  readonly name: string;
  readonly well: string;
  readonly treatment: "untreated" | "paclitaxel";
  readonly phenotype: Phenotype;
  readonly image: Image;
}

const CELLS_SIZE = 64;
const WELLS = [
  { well: "A1", treatment: "untreated", phenotype: "nuclear" },
  { well: "B1", treatment: "paclitaxel", phenotype: "cytoplasmic" },
] as const;
const FIELDS_PER_WELL = 3;
const CELLS_PER_FIELD = 6;

/**
 * The same numbers in the same order for the same seed (mulberry32): the crate must not differ from
 * run to run.
 */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Six small images as a microscope might have taken them: nuclei in blue, a protein in green, two
 * phenotypes.
 */
function drawFields(): Field[] {
  return WELLS.flatMap(({ well, treatment, phenotype }, row) =>
    Array.from({ length: FIELDS_PER_WELL }, (_, index): Field => ({
      name: `${well}_field${index + 1}`,
      well,
      treatment,
      phenotype,
      image: drawField(phenotype, randomNumbers(1000 * (row + 1) + index)),
    })),
  );
}

function drawField(phenotype: Phenotype, random: () => number): Image {
  const image = blankImage(CELLS_SIZE, CELLS_SIZE);
  const stains = Array.from({ length: CELLS_SIZE * CELLS_SIZE }, () => ({ green: 0, blue: 0 }));
  for (let cell = 0; cell < CELLS_PER_FIELD; cell++) {
    const [x, y] = [8 + random() * (CELLS_SIZE - 16), 8 + random() * (CELLS_SIZE - 16)];
    const radius = 3.5 + random() * 1.5;
    addSpot(stains, "blue", x, y, radius, 190);
    if (phenotype === "nuclear") addSpot(stains, "green", x, y, radius * 0.9, 170);
    else addSpot(stains, "green", x + 1, y - 1, radius * 2.2, 95);
  }
  for (const [pixel, { green, blue }] of stains.entries()) {
    // Camera noise; no image is clean.
    image.pixels[pixel * 3 + 1] = Math.min(255, green + random() * 14);
    image.pixels[pixel * 3 + 2] = Math.min(255, blue + random() * 14);
  }
  return image;
}

/** Adds a soft round spot of one stain. */
function addSpot(
  pixels: readonly Record<"green" | "blue", number>[],
  stain: "green" | "blue",
  centreX: number,
  centreY: number,
  radius: number,
  strength: number,
): void {
  for (const [at, pixel] of pixels.entries()) {
    const [x, y] = [at % CELLS_SIZE, Math.floor(at / CELLS_SIZE)];
    const distance = ((x - centreX) ** 2 + (y - centreY) ** 2) / radius ** 2;
    if (distance < 9) pixel[stain] += strength * Math.exp(-distance);
  }
}

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
  const embedded = fields.map((field) => ({
    path: imagePath(field),
    embedding: embed(field.image).map((value) => value.toFixed(6)),
  }));
  const placed = summarise(
    embedded.map(({ path, embedding }) => ({ path, embedding: embedding.map(Number) })),
  );
  const files: CrateFile[] = [
    {
      path: PATHS.samples,
      bytes: table(
        ["well", "cell_line", "treatment", "concentration_nM"],
        WELLS.map(({ well, treatment }) => [
          well,
          "MDA-MB-468",
          treatment,
          treatment === "untreated" ? 0 : 50,
        ]),
      ),
    },
    ...fields.map((field) => ({ path: imagePath(field), bytes: encodePng(field.image) })),
    { path: PATHS.embedScript, bytes: Buffer.from(EMBED_SCRIPT) },
    { path: PATHS.clusterScript, bytes: Buffer.from(CLUSTER_SCRIPT) },
    {
      path: PATHS.embeddings,
      bytes: table(
        ["image", ...FEATURES],
        embedded.map(({ path, embedding }) => [path, ...embedding]),
      ),
    },
    {
      path: PATHS.clusters,
      bytes: table(
        ["image", "x", "y", "cluster"],
        placed.map(({ path, x, y, cluster }) => [path, x.toFixed(6), y.toFixed(6), cluster]),
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
  for (const [at, value] of pixels.entries()) {
    if (at % 3 === 1) protein.push(value / 255);
    if (at % 3 === 2) nucleus.push(value / 255);
  }
  const inNucleus = nucleus.map((value) => value > 0.25);
  const covered = (values: readonly number[], level: number) =>
    mean(values.map((value) => (value > level ? 1 : 0)));
  const total = protein.reduce((sum, value) => sum + value, 0);
  const within = protein.reduce((sum, value, at) => sum + (inNucleus[at] ? value : 0), 0);
  const [proteinMean, nucleusMean] = [mean(protein), mean(nucleus)];
  const covariance = mean(
    pairs(protein, nucleus).map(([green, blue]) => (green - proteinMean) * (blue - nucleusMean)),
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

/** The numbers of one image, or a direction, in the order of the features. */
type Vector = readonly number[];

/** The entries of two vectors of the same length, side by side. */
function pairs(a: Vector, b: Vector): (readonly [number, number])[] {
  return a.map((value, at) => {
    const other = b[at];
    if (other === undefined) throw new RangeError("The vectors differ in length.");
    return [value, other] as const;
  });
}

const dot = (a: Vector, b: Vector): number => pairs(a, b).reduce((sum, [x, y]) => sum + x * y, 0);
const sumOf = (rows: readonly Vector[]): Vector =>
  rows.reduce((sum, row) => pairs(sum, row).map(([a, b]) => a + b));
const meanOf = (rows: readonly Vector[]): Vector => sumOf(rows).map((value) => value / rows.length);

/** Two coordinates (principal components) and one of two clusters (k-means) for each image. */
function summarise(images: readonly { path: string; embedding: Vector }[]): Placed[] {
  const standard = standardiser(images.map(({ embedding }) => embedding));
  const scaled = images.map(({ path, embedding }) => ({ path, row: standard(embedding) }));
  const rows = scaled.map(({ row }) => row);
  const first = component(rows);
  const second = component(
    rows.map((row) => {
      const along = dot(row, first);
      return pairs(row, first).map(([value, direction]) => value - along * direction);
    }),
  );
  const clusterOf = twoMeans(rows);
  return scaled.map(({ path, row }) => ({
    path,
    x: dot(row, first),
    y: dot(row, second),
    cluster: clusterOf(row),
  }));
}

/** Scales a row so that each column of these rows has the mean 0 and the deviation 1. */
function standardiser(rows: readonly Vector[]): (row: Vector) => Vector {
  const middle = meanOf(rows);
  const fromMiddle = (row: Vector): Vector =>
    pairs(row, middle).map(([value, mean]) => value - mean);
  const variances = meanOf(rows.map((row) => fromMiddle(row).map((value) => value ** 2)));
  const deviations = variances.map((variance) => Math.sqrt(variance) || 1);
  return (row) => pairs(fromMiddle(row), deviations).map(([value, size]) => value / size);
}

/**
 * Direction of the largest variance, by power iteration; its largest entry is made positive, so
 * that the sign is unambiguous.
 */
function component(rows: readonly Vector[]): Vector {
  let direction: Vector = FEATURES.map((_, column) => 1 / (column + 1));
  for (let round = 0; round < 200; round++) {
    const next = sumOf(
      rows.map((row) => {
        const along = dot(row, direction);
        return row.map((value) => along * value);
      }),
    );
    // oxlint-disable-next-line arkgraph/spread-into-call -- a vector of the demo
    const length = Math.hypot(...next) || 1;
    direction = next.map((value) => value / length);
  }
  const largest = direction.reduce(
    (best, value) => (Math.abs(value) > Math.abs(best) ? value : best),
    0,
  );
  return largest < 0 ? direction.map((value) => -value) : direction;
}

/**
 * k-means with k = 2, from the first row and the one farthest from it.
 * @returns the cluster of a row
 */
function twoMeans(rows: readonly Vector[]): (row: Vector) => 0 | 1 {
  const apart = (a: Vector, b: Vector): number =>
    pairs(a, b).reduce((sum, [x, y]) => sum + (x - y) ** 2, 0);
  const farthestFrom = (from: Vector): Vector =>
    rows.reduce((best, row) => (apart(row, from) > apart(best, from) ? row : best), from);
  const moved = (centre: Vector, members: readonly Vector[]): Vector =>
    members.length === 0 ? centre : meanOf(members);
  let one = meanOf(rows.slice(0, 1));
  let other = farthestFrom(one);
  const clusterOf = (row: Vector): 0 | 1 => (apart(row, one) <= apart(row, other) ? 0 : 1);
  for (let round = 0; round < 20; round++) {
    const ofOne = rows.filter((row) => clusterOf(row) === 0);
    const ofOther = rows.filter((row) => clusterOf(row) === 1);
    [one, other] = [moved(one, ofOne), moved(other, ofOther)];
  }
  return clusterOf;
}
