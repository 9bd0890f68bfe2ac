import apmsEmbedding from "../schemas/cm4ai-apms-embedding.json" with { type: "json" };
import apmsGeneNodes from "../schemas/cm4ai-apmsloader-gene-node-attributes.json" with { type: "json" };
import apmsEdges from "../schemas/cm4ai-apmsloader-ppi-edgelist.json" with { type: "json" };
import coembedding from "../schemas/cm4ai-coembedding.json" with { type: "json" };
import hierarchyCx from "../schemas/cm4ai-hierarchy-cx.json" with { type: "json" };
import hierarchyCutoff from "../schemas/cm4ai-hierarchy-ppi-cutoff.json" with { type: "json" };
import imageEmbedding from "../schemas/cm4ai-image-embedding-image-emd.json" with { type: "json" };
import imageLabels from "../schemas/cm4ai-image-embedding-labels-prob.json" with { type: "json" };
import imageGeneNodes from "../schemas/cm4ai-imageloader-gene-node-attributes.json" with { type: "json" };
import imageSamples from "../schemas/cm4ai-imageloader-samplescopy.json" with { type: "json" };
import imageUnique from "../schemas/cm4ai-imageloader-uniquecopy.json" with { type: "json" };

/** The facts about a packaged schema that are known without reading it. */
export interface PackagedSchema {
  "@id": string;
  name: string;
  description: string;
  properties: object;
  separator: string;
  header: boolean;
}

/**
 * The schemas of the CM4AI pipeline that come with the product, in the order of their identifiers.
 * Identifiers, names, columns and constraints are those of fairscape/cm4ai-schemas (MIT licence,
 * Copyright (c) 2024 fairscape).
 */
export const PACKAGED_SCHEMAS: readonly PackagedSchema[] = [
  apmsEmbedding,
  apmsGeneNodes,
  apmsEdges,
  coembedding,
  hierarchyCx,
  hierarchyCutoff,
  imageEmbedding,
  imageLabels,
  imageGeneNodes,
  imageSamples,
  imageUnique,
];

const ARK = /^(?:https?:\/\/[^/?#]+\/(?:[^?#]*\/)?)?ark:?\/?(?=\d{5})/i;

/** True for text in the form of an ARK, behind a resolver's address or not. */
export const looksLikeArk = (text: string): boolean => ARK.test(text);

/** Hyphens do not count in an ARK, nor does the old slash after the label. */
const keyOf = (ark: string): string => ark.replace(ARK, "").replaceAll("-", "");

/** The packaged schema of an identifier. */
export function findPackagedSchema(ark: string): PackagedSchema | undefined {
  const key = keyOf(ark);
  return PACKAGED_SCHEMAS.find((schema) => keyOf(schema["@id"]) === key);
}
