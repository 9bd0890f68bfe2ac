import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { packageRoot } from "../package-root.js";

/** A page of the documentation. */
export interface HelpPage {
  title: string;
  /** Made by the build from our own Markdown; raw HTML in it is text. */
  html: string;
  /** Headings of the second level; titles are plain text. */
  sections: readonly { id: string; title: string }[];
}

/** A query, by the question that it answers. */
export interface Example {
  title: string;
  query: string;
}

interface Help {
  pages: Readonly<Record<string, HelpPage>>;
  navigation: readonly { title: string; pages: readonly string[] }[];
  questions: readonly Example[];
  cookbook: readonly Example[];
}

let known: Help | undefined;

/** The documentation as the build made it of `docs/` (`scripts/help-pages.mjs`); read once. */
export function help(): Help {
  known ??= JSON.parse(
    brotliDecompressSync(readFileSync(join(packageRoot, "dist", "web", "help.json.br"))).toString(),
  ) as Help;
  return known;
}
