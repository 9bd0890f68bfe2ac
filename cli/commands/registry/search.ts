import type { SearchAnswer, SearchResult } from "../../../src/use-cases/search/search.js";
import { openRegistry, type ServerOption } from "../../registry/registry.js";
import { paint } from "../../render/style.js";
import { visible } from "../../render/visible.js";

export interface SearchOptions extends ServerOption { semantic?: true; type?: string; limit: number; offset: number; json?: true }

/** `search`: records by their words. @throws Failure */
export async function searchCommand(words: readonly string[], { semantic, type, limit, offset, json, ...options }: SearchOptions): Promise<void> {
  const registry = await openRegistry(options);
  const query = new URLSearchParams({ query: words.join(" "), limit: String(limit), offset: String(offset), ...(type === undefined ? {} : { type }) });
  const answer = await registry.json<SearchAnswer>(`/search/${semantic === true ? "semantic" : "basic"}?${query}`);
  if (json === true) return void process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
  const { total_results: total, results } = answer;
  const more = offset + results.length < total ? `; the next with --offset ${offset + results.length}` : "";
  process.stdout.write(results.map(resultText).join("") + `${total === 1 ? "1 record" : `${total} records`}${more}\n`);
}

function resultText({ "@id": id, "@type": type, name, description, highlight }: SearchResult): string {
  const title = highlight.name === undefined ? visible(name ?? id) : found(highlight.name);
  const about = highlight.description === undefined ? visible(shortened(description ?? "")) : found(highlight.description);
  return `${title} ${paint("dim", visible(`[${[type].flat().join(", ")}]`))}\n  ${paint("cyan", visible(id))}\n${about === "" ? "" : `  ${about}\n`}\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
/** The registry marks what it found in HTML; a terminal shows it bold. */
const found = (html: string): string => html.split(/<\/?em>/).map((part, index) => {
  const text = visible(part.replaceAll(/\s+/g, " ").replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity]!));
  return index % 2 === 1 ? paint("bold", text) : text;
}).join("");

const shortened = (text: string): string => (text.length > 160 ? `${text.slice(0, 160).toWellFormed()}…` : text).replaceAll(/\s+/g, " ");
