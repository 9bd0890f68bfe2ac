import { pipeline } from "node:stream/promises";
import { decodeHTMLStrict } from "entities";
import type { AssertedBy, Direction } from "../../../src/model/provenance.js";
import { supportTree } from "../../../src/services/evidence/tree.js";
import type { EvidenceGraph } from "../../../src/services/evidence/types.js";
import type { Publication } from "../../../src/services/publication/publish.js";
import type { AiReadyScore, CriterionScore } from "../../../src/services/scoring/score.js";
import type { SearchAnswer, SearchResult } from "../../../src/services/search/search.js";
import {
  addressOf,
  arkPath,
  givenArk,
  openRegistry,
  type Registry,
  type ServerOption,
} from "../../registry.js";
import { Failure, headline, note, paint, ShortIds, visible } from "../../terminal.js";

/** `get`: the current version of a record. @throws Failure */
export async function getCommand(
  id: string,
  { format, ...options }: ServerOption & { format: string },
): Promise<void> {
  const path = `/${arkPath(givenArk(id))}`;
  const registry = await openRegistry(options);
  if (format === "json")
    process.stdout.write(`${JSON.stringify(await registry.json<unknown>(path), null, 2)}\n`);
  else
    await pipeline(
      await registry.open(`${path}?format=${encodeURIComponent(format)}`),
      process.stdout,
      { end: false },
    );
}

export interface SearchOptions extends ServerOption {
  semantic?: true;
  type?: string;
  limit: number;
  offset: number;
  json?: true;
}

/** `search`: finds records by words. @throws Failure */
export async function searchCommand(
  words: readonly string[],
  { semantic, type, limit, offset, json, ...options }: SearchOptions,
): Promise<void> {
  const registry = await openRegistry(options);
  const query = new URLSearchParams({
    query: words.join(" "),
    limit: String(limit),
    offset: String(offset),
    ...(type === undefined ? {} : { type }),
  });
  const answer = await registry.json<SearchAnswer>(
    `/search/${semantic === true ? "semantic" : "basic"}?${query}`,
  );
  if (json === true) return void process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
  const { total_results: total, results } = answer;
  const more =
    offset + results.length < total ? `; next page: --offset ${offset + results.length}` : "";
  process.stdout.write(
    results.map((result) => resultText(registry, result)).join("") +
      `${total === 1 ? "1 record" : `${total} records`}${more}\n`,
  );
}

function resultText(
  registry: Registry,
  { "@id": id, "@type": type, name, description, highlight }: SearchResult,
): string {
  const title = highlight.name === undefined ? visible(name ?? id) : found(highlight.name);
  const about =
    highlight.description === undefined
      ? visible(shortened(description ?? ""))
      : found(highlight.description);
  return (
    `${headline(title, [type].flat().map(typeName))}\n  ` +
    `${paint("cyan", addressOf(registry, id))}\n${about === "" ? "" : `  ${about}\n`}\n`
  );
}

/** `Dataset` for `evi:Dataset` and for an address that ends with it. */
const typeName = (type: string): string => type.replace(/^.*[#/:]/, "");

/** The registry marks matches in HTML; a terminal shows them bold. */
const found = (html: string): string =>
  html
    .split(/<\/?em>/)
    .map((part, index) => {
      const text = visible(decodeHTMLStrict(part.replaceAll(/\s+/g, " ")));
      return index % 2 === 1 ? paint("bold", text) : text;
    })
    .join("");

const shortened = (text: string): string =>
  (text.length > 160 ? `${text.slice(0, 160).toWellFormed()}…` : text).replaceAll(/\s+/g, " ");

export interface ScoreOptions extends ServerOption {
  fixes?: true;
  json?: true;
}

const STYLES = { met: "green", partly: "yellow", not_met: "red", not_applicable: "dim" } as const;

/** `score`: how ready a crate is for AI, criterion by criterion. @throws Failure */
export async function scoreCommand(
  id: string,
  { fixes, json, ...options }: ScoreOptions,
): Promise<void> {
  const ark = givenArk(id);
  const registry = await openRegistry(options);
  const answer = await registry.json<AiReadyScore>(`/rocrate/ai-ready-score/${arkPath(ark)}`);
  if (json === true) return void process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
  const {
    name,
    score: { met, partly, total },
  } = answer;
  const lines = Object.entries(answer as object as Record<string, unknown>).flatMap(
    ([category, criteria]) => {
      const shown = criteriaOf(criteria).filter(([, { fix }]) => fixes !== true || fix !== null);
      return shown.length === 0
        ? []
        : [
            `\n${paint("bold", words(category))}\n`,
            ...shown.map(([criterion, verdict]) => lineOf(criterion, verdict, fixes === true)),
          ];
    },
  );
  process.stdout.write(
    `${visible(name)}: ${met} met and ${partly} partly, of ${total}\n${lines.join("")}`,
  );
}

/** All other members of the answer are not categories. */
function criteriaOf(value: unknown): [string, CriterionScore][] {
  return Object.entries(typeof value === "object" && value !== null ? value : {}).filter(
    (entry): entry is [string, CriterionScore] =>
      typeof entry[1] === "object" && entry[1] !== null && "status" in entry[1],
  );
}

function lineOf(
  criterion: string,
  { status, details, fix }: CriterionScore,
  withFix: boolean,
): string {
  const text = withFix ? fix : details;
  return (
    `  ${paint(STYLES[status] ?? "dim", words(status).padEnd(14))}  ` +
    `${words(criterion)}${text === null ? "" : `: ${visible(text)}`}\n`
  );
}

const words = (name: string): string => visible(name.replaceAll("_", " "));

export interface EvidenceOptions extends ServerOption {
  format: "tree" | "json" | "prov-json" | "turtle" | "dot" | "mermaid";
  direction: Direction;
  assertedBy: AssertedBy;
  depth?: number;
  limit?: number;
}

/** `evidence`: the records that support a record, or that it supports. @throws Failure */
export async function evidenceCommand(
  id: string,
  { format, direction, assertedBy, depth, limit, ...options }: EvidenceOptions,
): Promise<void> {
  const registry = await openRegistry(options);
  const query = new URLSearchParams({
    direction,
    ...(assertedBy === "owner" && { assertedBy }),
    ...(depth === undefined ? {} : { depth: String(depth) }),
    ...(limit === undefined ? {} : { limit: String(limit) }),
  });
  const path = `/evidencegraph/query/${arkPath(givenArk(id))}`;
  if (format === "tree") {
    const evidence = await whole(registry, path, query, limit !== undefined);
    const ids = new ShortIds(
      [...evidence["@graph"], ...evidence.dangling].map((node) => node["@id"]),
    );
    const legend = ids.legend === undefined ? "" : `\n${ids.legend}\n`;
    process.stdout.write(
      `${supportTree(evidence)
        .map((line) => `${visible(ids.shorten(line))}\n`)
        .join("")}${legend}`,
    );
  } else if (format === "json") {
    process.stdout.write(
      `${JSON.stringify(await registry.json<unknown>(`${path}?${query}`), null, 2)}\n`,
    );
  } else {
    query.set("format", format);
    const answer = await registry.open(`${path}?${query}`);
    if ((answer.headers["content-type"] ?? "").startsWith("application/ld+json")) {
      answer.destroy();
      throw new Failure(
        `${registry.address} does not support the evidence format ${format}: use tree or json`,
      );
    }
    await pipeline(answer, process.stdout, { end: false });
    if (answer.headers["x-truncated"] !== undefined)
      note("the graph is truncated: request more nodes with --limit");
  }
}

/** All pages of the answer as one graph; only the first page if the user gave a number of nodes. */
async function whole(
  registry: Registry,
  path: string,
  query: URLSearchParams,
  firstOnly: boolean,
): Promise<EvidenceGraph> {
  let page = await registry.json<EvidenceGraph>(`${path}?${query}`);
  const all = page;
  while (page.cursor !== undefined && !firstOnly) {
    query.set("cursor", page.cursor);
    page = await registry.json<EvidenceGraph>(`${path}?${query}`);
    for (const node of page["@graph"]) all["@graph"].push(node);
    for (const ark of page.dangling) all.dangling.push(ark);
    for (const ark of page.outputs) all.outputs.push(ark);
  }
  return { ...all, truncated: page.truncated };
}

/** Why a record is archived or deleted, and what replaces it. */
interface WithdrawalOptions {
  reason?: string;
  successor?: string;
}

/** A reason is needed once others could read the record. @throws Failure */
async function withdrawalOf(
  registry: Registry,
  ark: string,
  { reason, successor }: WithdrawalOptions,
): Promise<WithdrawalOptions> {
  if (reason === undefined) {
    const { publicationStatus } = await registry.json<Publication>(`/publish/${arkPath(ark)}`);
    if (publicationStatus !== "DRAFT")
      throw new Failure(
        `others could read ${ark}: say why with --reason, and what to use instead with --successor`,
      );
  }
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(successor === undefined ? {} : { successor: givenArk(successor) }),
  };
}

/** `withdraw`: deletes a record; its page says why. @throws Failure */
export async function withdrawCommand(
  id: string,
  { server, ...given }: ServerOption & WithdrawalOptions,
): Promise<void> {
  const ark = givenArk(id);
  const registry = await openRegistry(server === undefined ? {} : { server }, { token: true });
  const query = new URLSearchParams({ ...(await withdrawalOf(registry, ark, given)) });
  await registry.text(`/${arkPath(ark)}?${query.toString()}`, { method: "DELETE" });
  process.stdout.write(`${ark} withdrawn\n`);
}

export interface PublishOptions extends ServerOption, WithdrawalOptions {
  status: string;
  until?: string;
}

/** `publish`: sets who may read the content of a record. @throws Failure */
export async function publishCommand(
  id: string,
  { status, until, reason, successor, ...options }: PublishOptions,
): Promise<void> {
  if (until !== undefined && status !== "EMBARGOED")
    throw new Failure("--until sets the end of an embargo: use it with --status EMBARGOED");
  const given = {
    ...(reason === undefined ? {} : { reason }),
    ...(successor === undefined ? {} : { successor }),
  };
  if (status !== "ARCHIVED" && Object.keys(given).length > 0)
    throw new Failure(
      "--reason and --successor are for withdrawal: use them with --status ARCHIVED",
    );
  const ark = givenArk(id);
  const registry = await openRegistry(options, { token: true });
  const answer = await registry.send<Publication>("PUT", "/publish", {
    "@id": ark,
    publicationStatus: status,
    ...(until === undefined ? {} : { embargoedUntil: until }),
    ...(status === "ARCHIVED" ? await withdrawalOf(registry, ark, given) : {}),
  });
  process.stdout.write(
    `${answer["@id"]} ` +
      `${answer.publicationStatus}${answer.embargoedUntil === null ? "" : ` until ${answer.embargoedUntil}`}\n`,
  );
}
