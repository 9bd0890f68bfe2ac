import { FEATURES, embed, summarise } from "./analysis.js";
import { drawFields, type Field } from "./cells.js";
import { drawFigure } from "./figure.js";
import { encodePng } from "./png.js";
import { CLUSTER_SCRIPT, EMBED_SCRIPT } from "./scripts.js";

/** A file of the crate. */
export interface CrateFile { readonly path: string; readonly bytes: Buffer }

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

const table = (header: readonly string[], rows: readonly (readonly (string | number)[])[]): Buffer =>
  Buffer.from([header, ...rows].map((row) => `${row.join(",")}\n`).join(""));

/** Runs the pipeline: draws the images, computes what the scripts would, in the order of the crate's files. */
export function makeFiles(): { fields: Field[]; files: CrateFile[] } {
  const fields = drawFields();
  // The second step reads what the first wrote: six decimals.
  const embeddings = fields.map(({ image }) => embed(image).map((value) => value.toFixed(6)));
  const placed = summarise(embeddings.map((row) => row.map(Number)));
  const files: CrateFile[] = [
    { path: PATHS.samples, bytes: table(["well", "cell_line", "treatment", "concentration_nM"], [...new Set(fields.map(({ well }) => well))].map((well) => {
      const { treatment } = fields.find((field) => field.well === well)!;
      return [well, "MDA-MB-468", treatment, treatment === "untreated" ? 0 : 50];
    })) },
    ...fields.map((field) => ({ path: imagePath(field), bytes: encodePng(field.image) })),
    { path: PATHS.embedScript, bytes: Buffer.from(EMBED_SCRIPT) },
    { path: PATHS.clusterScript, bytes: Buffer.from(CLUSTER_SCRIPT) },
    { path: PATHS.embeddings, bytes: table(["image", ...FEATURES], fields.map((field, at) => [imagePath(field), ...embeddings[at]!])) },
    { path: PATHS.clusters, bytes: table(["image", "x", "y", "cluster"], fields.map((field, at) => [imagePath(field), placed[at]!.x.toFixed(6), placed[at]!.y.toFixed(6), placed[at]!.cluster])) },
    { path: PATHS.figure, bytes: encodePng(drawFigure(placed)) },
  ];
  return { fields, files };
}
