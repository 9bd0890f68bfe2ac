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
  x: number;
  y: number;
  cluster: number;
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
    drawDot(
      image,
      Math.round(across(x)),
      FIGURE_SIZE - Math.round(up(y)),
      COLOURS[cluster % COLOURS.length]!,
    );
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
  const blue = new Float64Array(CELLS_SIZE * CELLS_SIZE);
  const green = new Float64Array(CELLS_SIZE * CELLS_SIZE);
  for (let cell = 0; cell < CELLS_PER_FIELD; cell++) {
    const [x, y] = [8 + random() * (CELLS_SIZE - 16), 8 + random() * (CELLS_SIZE - 16)];
    const radius = 3.5 + random() * 1.5;
    addSpot(blue, x, y, radius, 190);
    if (phenotype === "nuclear") addSpot(green, x, y, radius * 0.9, 170);
    else addSpot(green, x + 1, y - 1, radius * 2.2, 95);
  }
  for (let pixel = 0; pixel < CELLS_SIZE * CELLS_SIZE; pixel++) {
    // Camera noise; no image is clean.
    image.pixels[pixel * 3 + 1] = Math.min(255, green[pixel]! + random() * 14);
    image.pixels[pixel * 3 + 2] = Math.min(255, blue[pixel]! + random() * 14);
  }
  return image;
}

/** Adds a soft round spot. */
function addSpot(
  channel: Float64Array,
  centreX: number,
  centreY: number,
  radius: number,
  strength: number,
): void {
  for (let y = 0; y < CELLS_SIZE; y++)
    for (let x = 0; x < CELLS_SIZE; x++) {
      const distance = ((x - centreX) ** 2 + (y - centreY) ** 2) / radius ** 2;
      if (distance < 9) channel[y * CELLS_SIZE + x]! += strength * Math.exp(-distance);
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
