import type { StoredRecord } from "../stores/records/port.js";
import type { Deps } from "../use-cases/deps.js";
import { CATEGORY_NAMES, knownScore, type Status } from "../use-cases/scoring/index.js";
import { escapeHtml } from "./html.js";

const MARKS: Readonly<Record<Status, string>> = { met: "●", partly: "◐", not_met: "○", not_applicable: "–" };
const words = (name: string): string => escapeHtml(name.replaceAll("_", " "));

/** How ready a crate is for AI, in a row for each category. A page waits for no score: where none is known it links to it. */
export async function scoreSection(deps: Pick<Deps, "config" | "records">, crate: StoredRecord): Promise<string> {
  const link = `/rocrate/ai-ready-score/${escapeHtml(encodeURI(crate.ark))}`;
  const score = await knownScore(deps, crate);
  if (!score) return `<section><h2>AI-readiness</h2><p><a href="${link}">How ready it is for AI</a>, as JSON.</p></section>`;
  const rows = CATEGORY_NAMES.map((category) => `<tr><th>${words(category)}</th><td>${Object.entries(score[category]).map(([name, { status, details, fix }]) =>
    `<span title="${escapeHtml([words(status), details, fix].filter((text) => text !== null).join(" — "))}">${MARKS[status]} ${words(name)}</span>`).join("\n")}</td></tr>`);
  const { met, partly, total } = score.score;
  return `<section><h2>AI-readiness</h2><p>${met} met ${MARKS.met}, ${partly} partly ${MARKS.partly}, of ${total} criteria that apply. <a href="${link}">What was found, and what to add</a>, as JSON.</p>
<div class="results score"><table>${rows.join("")}</table></div></section>`;
}
