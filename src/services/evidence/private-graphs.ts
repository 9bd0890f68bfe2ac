/**
 * The graphs of private records, for those who see them. No graph engine has them, so that no
 * question to one can show them: they are read from the record store as the walk meets them.
 */
import { eventLoop } from "../../event-loop-budget.js";
import { getOrInsert } from "../../get-or-insert.js";
import { arkKey, looksLikeArk } from "../../identifiers/ark.js";
import type { RecordStore } from "../../storage/records/port.js";
import { isHiddenProperty, withoutContacts } from "../access/anonymous.js";
import { isAnonymous } from "../access/review.js";
import { privateViewerOf } from "../access/seen.js";
import { type Description, descriptionIn, holderOf } from "./descriptions.js";
import { type Edge, NAME_OF_IRI, type OneWay, supportOf } from "./edges.js";

type Reads = Pick<RecordStore, "countSelected" | "findMany" | "linksTo" | "quads">;

const STATEMENT = /^<([^>]*)> <([^>]*)> <([^>]*)> <([^>]*)> \.$/;
/** Records in one read. */
const BATCH = 200;
/** Links to one node in one read. */
const LINKS = 1000;

export class PrivateGraphs {
  readonly #records: Reads;
  /** Quads of the private records that were met. */
  readonly #quads = new Map<string, string>();
  /** Records whose own graph, and whose links from private records, were looked up. */
  readonly #asked = new Set<string>();
  readonly #edges: Record<OneWay, Map<string, Edge[]>> = {
    upstream: new Map(),
    downstream: new Map(),
  };
  #any: Promise<boolean> | undefined;

  constructor(records: Reads) {
    this.#records = records;
  }

  any(): Promise<boolean> {
    return (this.#any ??= privateViewerOf(this.#records).then((viewer) => viewer !== ""));
  }

  /** Whether the engine is not asked for this relation, because it names people. */
  hides(relation: string): boolean {
    return isAnonymous(this.#records) && isHiddenProperty(relation);
  }

  /** What the engine has of a text, as the viewer may read it. */
  shown(text: string): string {
    return isAnonymous(this.#records) ? withoutContacts(text) : text;
  }

  async edges(nodes: readonly string[], way: OneWay): Promise<Edge[]> {
    if (!(await this.any())) return [];
    await this.#meet(nodes);
    return nodes.flatMap((node) => this.#edges[way].get(node) ?? []);
  }

  async describe(nodes: readonly string[]): Promise<Map<string, Description>> {
    const found = new Map<string, Description>();
    if (!(await this.any())) return found;
    await this.#meet(nodes);
    for (const node of nodes) {
      const home = holderOf(node) ?? node;
      const quads = this.#quads.get(home);
      const description = quads === undefined ? undefined : descriptionIn(quads, node, home);
      if (description) found.set(node, description);
    }
    return found;
  }

  /** Reads the private records among these nodes, and those that link to them. */
  async #meet(nodes: readonly string[]): Promise<void> {
    const homes = new Set(nodes.map((node) => holderOf(node) ?? node).filter(looksLikeArk));
    const fresh = [...homes].filter((home) => !this.#asked.has(home));
    for (const home of fresh) this.#asked.add(home);
    for (let start = 0; start < fresh.length; start += BATCH) {
      const some = fresh.slice(start, start + BATCH);
      await this.#read([...new Set([...some, ...(await this.#linking(some))])]);
    }
  }

  /** Records that link to these. */
  async #linking(arks: readonly string[]): Promise<string[]> {
    const keys = arks.map(arkKey);
    const found: string[] = [];
    const first = await this.#records.linksTo(keys, { limit: LINKS, distinct: true });
    for (const [at, key] of keys.entries())
      for (let page = first[at]; page !== undefined;) {
        for (const { source } of page.items) found.push(source);
        if (page.next === undefined) break;
        const options = { limit: LINKS, distinct: true, after: page.next };
        [page] = await this.#records.linksTo([key], options);
      }
    return found;
  }

  async #read(arks: readonly string[]): Promise<void> {
    for (let start = 0; start < arks.length; start += BATCH) {
      const some = arks.slice(start, start + BATCH).filter((ark) => !this.#quads.has(ark));
      for (const record of await this.#records.findMany(some)) {
        if (!record?.private || record.tombstone || this.#quads.has(record.ark)) continue;
        const quads = (await this.#records.quads(record.ark)) ?? "";
        this.#quads.set(record.ark, quads);
        this.#addEdges(quads);
      }
      await eventLoop.nextTurn();
    }
  }

  #addEdges(quads: string): void {
    for (const line of quads.split("\n")) {
      const [, subject, property, object, graph] = STATEMENT.exec(line) ?? [];
      const name = property === undefined ? undefined : NAME_OF_IRI.get(property);
      if (!name || subject === undefined || object === undefined || graph === undefined) continue;
      if (graph.endsWith("#inferred")) continue;
      const edge: Edge = { subject, name, object, graph };
      const [supported, supporting] = supportOf(edge);
      getOrInsert(this.#edges.upstream, supported, (): Edge[] => []).push(edge);
      getOrInsert(this.#edges.downstream, supporting, (): Edge[] => []).push(edge);
    }
  }
}
