import { pipeline } from "node:stream/promises";
import { supportTree } from "../../../src/use-cases/evidence/tree.js";
import type { AssertedBy, Direction, EvidenceGraph } from "../../../src/use-cases/evidence/types.js";
import { Failure } from "../../failure.js";
import { arkPath, givenArk, openRegistry, type Registry, type ServerOption } from "../../registry/registry.js";
import { ShortIds } from "../../render/short-ids.js";
import { note } from "../../render/terminal-progress.js";
import { visible } from "../../render/visible.js";

export interface EvidenceOptions extends ServerOption { format: "tree" | "json" | "prov-json" | "turtle" | "dot" | "mermaid"; direction: Direction; assertedBy: AssertedBy; depth?: number; limit?: number }

/** `evidence`: what a record rests on, or what rests on it. @throws Failure */
export async function evidenceCommand(id: string, { format, direction, assertedBy, depth, limit, ...options }: EvidenceOptions): Promise<void> {
  const registry = await openRegistry(options);
  const query = new URLSearchParams({ direction, ...(assertedBy === "owner" && { assertedBy }), ...(depth === undefined ? {} : { depth: String(depth) }), ...(limit === undefined ? {} : { limit: String(limit) }) });
  const path = `/evidencegraph/query/${arkPath(givenArk(id))}`;
  if (format === "tree") {
    const evidence = await whole(registry, path, query, limit !== undefined);
    const ids = new ShortIds([...evidence["@graph"], ...evidence.dangling].map((node) => node["@id"]));
    const legend = ids.legend === undefined ? "" : `\n${ids.legend}\n`;
    process.stdout.write(`${supportTree(evidence).map((line) => `${visible(ids.shorten(line))}\n`).join("")}${legend}`);
  } else if (format === "json") {
    process.stdout.write(`${JSON.stringify(await registry.json<unknown>(`${path}?${query}`), null, 2)}\n`);
  } else {
    query.set("format", format);
    const answer = await registry.open(`${path}?${query}`);
    if ((answer.headers["content-type"] ?? "").startsWith("application/ld+json")) {
      answer.destroy();
      throw new Failure(`${registry.address} does not give evidence as ${format}: ask for the format tree or json`);
    }
    await pipeline(answer, process.stdout, { end: false });
    if (answer.headers["x-truncated"] !== undefined) note("this is not all of it: ask for more nodes with --limit");
  }
}

/** Every page of the answer as one; the first alone when somebody asked for so many nodes. */
async function whole(registry: Registry, path: string, query: URLSearchParams, firstOnly: boolean): Promise<EvidenceGraph> {
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
