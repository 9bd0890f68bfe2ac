import type { ServiceError } from "../errors.js";
import { escapeHtml, htmlPage } from "./html.js";

const TITLES: Readonly<Partial<Record<string, string>>> = { NOT_FOUND: "Not found", AMBIGUOUS: "Which one is meant?", GONE: "Deleted" };

/** Whether a browser that asked for a record is told so in a page. */
export const hasPage = ({ code }: ServiceError): boolean => TITLES[code] !== undefined;

/** What a browser is shown where there is no record: the sentence that others get as JSON, and what goes with it. */
export function refusalPage({ code, message, extra }: ServiceError, path: string): string {
  const title = TITLES[code] ?? "Refused";
  const { deletedAt, deletedBy, reason, successor, candidates } = extra;
  const rows: [string, string][] = [["Address", `<code>${escapeHtml(path)}</code>`]];
  if (typeof deletedAt === "string") rows.push(["Deleted", `<time datetime="${escapeHtml(deletedAt)}">${escapeHtml(deletedAt)}</time>`]);
  if (typeof deletedBy === "string") rows.push(["By", anchor(deletedBy)]);
  if (typeof reason === "string") rows.push(["Reason", escapeHtml(reason)]);
  if (typeof successor === "string") rows.push(["Successor", anchor(successor)]);
  if (Array.isArray(candidates)) rows.push(["Stored here", (candidates as string[]).map(anchor).join("<br>")]);
  return htmlPage(`${title} · Arkgraph`, `<main>
<p class="crumb"><a href="/">Arkgraph</a></p>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(message)}</p>
<dl>${rows.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("")}</dl>
${code === "GONE" ? "<p>An identifier is never given to another object. Earlier revisions are shown to the record's owner and to administrators.</p>\n" : ""}<p><a href="/">Look up another identifier</a> · <a href="/page/help">help</a></p>
</main>`);
}

const anchor = (ark: string): string => `<a href="/${escapeHtml(encodeURI(ark))}">${escapeHtml(ark)}</a>`;
