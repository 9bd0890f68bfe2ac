/** First piece of software in the crate: images in, one row of eight numbers an image out. */
export const EMBED_SCRIPT = `"""Describe microscope images by eight numbers each.

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

/** Second piece of software: embeddings in, two coordinates and a cluster an image out. */
export const CLUSTER_SCRIPT = `"""Summarise image embeddings in two dimensions and two clusters.

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
