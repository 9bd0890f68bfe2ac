/** Files that came without metadata: what they may be called, and the RO-Crate that describes them. */
import type { JsonObject } from "./field.js";

export interface DescribedFile {
  /** Below the folder, with slashes. */
  path: string;
  size: number;
  mediaType?: string;
}

export interface Description {
  name: string;
  description: string;
  /** Address or SPDX identifier. */
  licence: string;
  keywords?: readonly string[];
}

const LONGEST_NAME = 300;
/** Characters of a README in which its title and its first paragraph are looked for. */
const MAX_README_CHARS = 20_000;
const README = /^readme(?:\.(?:md|markdown|txt|rst))?$/i;

/** The file of the folder in which people say what it is. */
export const isReadme = (path: string): boolean => README.test(path);

/** Headings, and the paragraphs between them and blank lines, in their order. */
function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let paragraph: string[] = [];
  const end = (): void => {
    if (paragraph.length > 0) blocks.push(paragraph.join("\n"));
    paragraph = [];
  };
  for (const line of text.split("\n").map((each) => each.trim())) {
    const isHeading = line.startsWith("#");
    if (line === "" || isHeading) end();
    if (isHeading) blocks.push(line);
    else if (line !== "") paragraph.push(line);
  }
  end();
  return blocks;
}

/**
 * What a folder may be called and what it may be: the title and the first paragraph of its README,
 * else its own name.
 */
export function suggestedDescription(
  folder: string,
  readme: string | undefined,
): Pick<Description, "name" | "description"> {
  const blocks = blocksOf((readme ?? "").slice(0, MAX_README_CHARS));
  const title = blocks.find((block) => /^#\s/.test(block))?.replace(/^#\s+/, "");
  // Headings, pictures, badges, lists and code say nothing by themselves.
  const text = blocks.find((block) => /^[^#!<[*`|>=-]/.test(block) && block !== title);
  const own = folder.replaceAll(/[_-]+/g, " ").trim();
  return {
    name: (title ?? own).slice(0, LONGEST_NAME),
    description: (text ?? "").replaceAll("\n", " ").slice(0, 2000),
  };
}

const idOf = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

/** RO-Crate 1.1 metadata for files that have none. */
export const describedFolder = (
  files: readonly DescribedFile[],
  { name, description, licence, keywords = [] }: Description,
): JsonObject => ({
  "@context": "https://w3id.org/ro/crate/1.1/context",
  "@graph": [
    {
      "@id": "ro-crate-metadata.json",
      "@type": "CreativeWork",
      about: { "@id": "./" },
      conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
    },
    {
      "@id": "./",
      "@type": "Dataset",
      name,
      description,
      license: /^https?:/i.test(licence) ? { "@id": licence } : licence,
      keywords: [...keywords],
      datePublished: new Date().toISOString().slice(0, 10),
      hasPart: files.map(({ path }) => ({ "@id": idOf(path) })),
    },
    ...files.map(({ path, size, mediaType }) => ({
      "@id": idOf(path),
      "@type": "File",
      name: path.split("/").at(-1)!,
      contentSize: String(size),
      ...(mediaType ? { encodingFormat: mediaType } : {}),
    })),
  ],
});
