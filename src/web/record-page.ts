import { h } from "preact";
import { KINDS } from "../model/kinds.js";
import type { Deps } from "../services/deps.js";
import type { Place } from "../services/formats/format.js";
import { INDEXED, schemaOrgJsonLd } from "../services/formats/schema-org.js";
import {
  addressOf,
  contentAddress,
  formatAddress,
  landingLinks,
} from "../services/formats/signposting.js";
import { type Author, authorsOf } from "../services/records/attribution.js";
import { type Landmarks, landmarksOf } from "../services/records/list.js";
import { surroundingsOf, unnamedMembers } from "../services/records/links.js";
import { parseDocument, type RecordView } from "../services/records/view.js";
import { CATEGORY_NAMES } from "../services/scoring/criteria.js";
import type { Status } from "../services/scoring/criterion.js";
import { knownScore } from "../services/scoring/read-score.js";
import type { ObjectReference, StoredRecord } from "../storage/records/port.js";
import { escapeHtml } from "./escape.js";
import type { Page } from "./page.js";

const MARKS: Readonly<Record<Status, string>> = {
  met: "●",
  partly: "◐",
  not_met: "○",
  not_applicable: "–",
};
const words = (name: string): string => escapeHtml(name.replaceAll("_", " "));

/**
 * How ready a crate is for AI, in a row for each category. A page never waits for a score: without
 * a stored one the page links to the score.
 */
async function scoreSection(
  deps: Pick<Deps, "config" | "records">,
  crate: StoredRecord,
): Promise<string> {
  const link = `/rocrate/ai-ready-score/${escapeHtml(encodeURI(crate.ark))}`;
  const score = await knownScore(deps, crate);
  if (!score)
    return (
      `<section><h2>AI-readiness</h2><p><a href="${link}">How ready it is for AI</a>, as ` +
      "JSON.</p></section>"
    );
  const rows = CATEGORY_NAMES.map(
    (category) =>
      `<tr><th>${words(category)}</th><td>${Object.entries(score[category])
        .map(
          ([name, { status, details, fix }]) =>
            "<span " +
            `title="${escapeHtml([words(status), details, fix].filter((text) => text !== null).join(" — "))}">` +
            `${MARKS[status]} ${words(name)}</span>`,
        )
        .join("\n")}</td></tr>`,
  );
  const { met, partly, total } = score.score;
  return (
    `<section><h2>AI-readiness</h2><p>${met} met ${MARKS.met}, ${partly} partly ` +
    `${MARKS.partly}, of ` +
    `${total} criteria that apply. <a href="${link}">What was found, and what to add</a>, as ` +
    `JSON.</p>
<div class="results score"><table>${rows.join("")}</table></div></section>`
  );
}

/** Links shown per direction; GraphQL and the evidence graph show the rest. */
const MOST_LINKS = 100;

/** Links to the record in each of its formats. */
const formatList = ({ formats }: Place, ark: string): string =>
  formats
    .filter(({ relation }) => relation !== undefined)
    .map(
      (format) =>
        `<a href="${escapeHtml(formatAddress("", ark, format))}" ` +
        `title="${escapeHtml(format.description)}">${escapeHtml(format.label)}</a>`,
    )
    .join(" · ");

/** The landing page of a record: the record, its files and its links. */
export async function recordPage(deps: Deps, view: RecordView, place: Place): Promise<Page> {
  const { record } = view;
  const landmarks = landmarksOf(record);
  const { object, from, to, names } = await surroundingsOf(deps, record, MOST_LINKS);
  const { base } = place;
  const title = landmarks.name ?? record.ark;
  const __html =
    `<p class="crumb">${escapeHtml(KINDS[record.kind].typeName)}</p>
<h1>${escapeHtml(title)}</h1>
${landmarks.description ? `<p>${escapeHtml(landmarks.description)}</p>` : ""}
${facts(base, landmarks, await authorsOf(deps, landmarks))}
${contentSection(base, record, object)}
${record.kind === "rocrate" ? await scoreSection(deps, record) : ""}
${await membersSection(deps, record)}
${linkSection(
  "What it states",
  from.items.map((link) => ({ predicate: link.predicate, ark: link.target })),
  names,
  from.next !== undefined,
)}
${linkSection(
  "What points here",
  to.items.map((link) => ({ predicate: link.predicate, ark: link.source })),
  names,
  to.next !== undefined,
)}
<section><h2>Provenance</h2><p><a ` +
    `href="/evidencegraph/query/${encodeURI(record.ark)}">What supports it</a> · <a ` +
    `href="/evidencegraph/query/${encodeURI(record.ark)}?direction=downstream">what it ` +
    `supports</a>, as JSON-LD.</p></section>
` +
    `<section><h2>Metadata</h2><p>${formatList(place, record.ark)}</p>
<details><summary>The whole document</summary>` +
    `<pre>${escapeHtml(JSON.stringify(parseDocument(view.bytes), null, 2))}</pre></details></section>`;
  const isIndexed = INDEXED.includes(record.kind) && record.publicationStatus === "PUBLISHED";
  return {
    title,
    description: landmarks.description,
    links: landingLinks(place, landmarks).map(({ rel, href, ...more }) => ({ rel, href, ...more })),
    // Search engines read the record in the terms of schema.org.
    data: isIndexed ? await schemaOrgJsonLd(deps, view) : parseDocument(view.bytes),
    body: h("div", { dangerouslySetInnerHTML: { __html } }),
  };
}

function facts(
  base: string,
  { record, keywords, license }: Landmarks,
  authors: readonly Author[],
): string {
  const rows: [string, string][] = [
    [
      "Identifier",
      "<a " +
        `href="${escapeHtml(addressOf(base, record.ark))}"><code>${escapeHtml(record.ark)}</code>` +
        "</a>",
    ],
    ["Status", escapeHtml(record.publicationStatus)],
    ["Revision", `${record.revision}, ${escapeHtml(new Date(record.modifiedAt).toISOString())}`],
  ];
  if (record.owner) rows.push(["Owner", anchor(record.owner, record.owner)]);
  if (record.crate) rows.push(["Crate", anchor(record.crate, record.crate)]);
  if (authors.length > 0) rows.push(["Author", authors.map(person).join(", ")]);
  if (license)
    rows.push([
      "Licence",
      `<a href="${escapeHtml(license)}" rel="nofollow noopener">${escapeHtml(license)}</a>`,
    ]);
  if (keywords.length > 0) rows.push(["Keywords", keywords.map(escapeHtml).join(", ")]);
  return `<dl>${rows.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("")}</dl>`;
}

function person({ name, id }: Author): string {
  if (id === null) return escapeHtml(name ?? "");
  if (id.startsWith("ark:")) return anchor(id, name ?? id);
  return `<a href="${escapeHtml(id)}" rel="nofollow noopener">${escapeHtml(name ?? id)}</a>`;
}

async function membersSection(deps: Deps, record: StoredRecord): Promise<string> {
  const { members, more } = await unnamedMembers(deps, record, MOST_LINKS);
  if (members.length === 0) return "";
  const rows = members.map(
    (member) =>
      `<li>${anchor(member.ark, member.name ?? member.ark)} ` +
      `<small>${escapeHtml(KINDS[member.kind].typeName)}</small></li>`,
  );
  return `<section><h2>Members</h2><ul>${rows.join("")}</ul>${
    more
      ? `<p>The first ${MOST_LINKS} are shown; <a ` +
        `href="/rocrate/summary/${escapeHtml(encodeURI(record.ark))}">the summary</a> lists all.</p>`
      : ""
  }</section>`;
}

function contentSection(
  base: string,
  record: StoredRecord,
  object: ObjectReference | undefined,
): string {
  const whole = record.kind === "rocrate" ? wholeCrate(record.ark) : "";
  if (!object) return whole;
  return (
    `${whole}<section><h2>Content</h2><p><a class="button" ` +
    `href="${escapeHtml(contentAddress(base, record))}">Download</a> ` +
    `${escapeHtml(object.name)}, ${object.size} bytes, ` +
    `${escapeHtml(object.mediaType)}<br><small>SHA-256 ` +
    `<code>${object.sha256}</code></small></p></section>`
  );
}

/** The current version of the crate; its archive is that of the upload. */
function wholeCrate(ark: string): string {
  const address = escapeHtml(encodeURI(ark));
  return (
    `<section><h2>The whole crate</h2><p><a href="/rocrate/${address}?format=jsonld">Its ` +
    `metadata</a> · <a href="/rocrate/summary/${address}">what it consists of</a> · <a ` +
    `href="/rocrate/${address}?format=zip">an archive of the current ` +
    "version</a>.</p></section>"
  );
}

function linkSection(
  title: string,
  links: { predicate: string; ark: string }[],
  names: ReadonlyMap<string, string>,
  more: boolean,
): string {
  if (links.length === 0) return "";
  const groups = grouped(links);
  const rows = [...groups].map(
    ([predicate, items]) =>
      `<dt>${escapeHtml(predicate)}</dt><dd>` +
      `${items.map(({ ark }) => anchor(ark, names.get(ark) ?? ark)).join("<br>")}</dd>`,
  );
  const rest = more ? `<p>The first ${MOST_LINKS} are shown.</p>` : "";
  return `<section><h2>${title}</h2><dl>${rows.join("")}</dl>${rest}</section>`;
}

function grouped<T extends { predicate: string }>(links: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const link of links)
    groups.set(link.predicate, [...(groups.get(link.predicate) ?? []), link]);
  return groups;
}

const anchor = (ark: string, text: string): string =>
  `<a href="/${escapeHtml(encodeURI(ark))}">${escapeHtml(text)}</a>`;
