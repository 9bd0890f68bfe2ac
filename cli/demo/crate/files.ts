import { embed, FEATURES, summarise } from "./analysis.js";
import { drawFields, drawFigure, encodePng, type Field } from "./images.js";

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
