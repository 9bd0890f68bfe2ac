import { arkKey } from "../../src/identifiers/ark.js";
import type { KindName } from "../../src/model/kind.js";
import { evidenceGraph } from "../../src/services/evidence/evidence-graph.js";
import type { EvidenceGraph, EvidenceRequest } from "../../src/services/evidence/types.js";
import { openOxigraphEngine, type OxigraphEngine } from "../../src/storage/graph/oxigraph/index.js";
import type { RecordStore, StoredRecord } from "../../src/storage/records/port.js";
import { MemoryFeed } from "./memory-feed.js";
import { ark, quadsOf, type Sketch } from "./quads.js";
import { arkFrom } from "./arks.js";

/** `more`: further content of the document. */
export interface Planned extends Sketch {
  kind?: KindName;
  crate?: string;
  owner?: string;
  more?: object;
}

/** Records in memory, and the embedded graph engine on them. */
export class EvidenceWorld {
  readonly feed = new MemoryFeed();
  readonly #stored = new Map<string, StoredRecord>();
  readonly #quads = new Map<string, string>();
  /** ARKs by key: a search through 20,000 records for each batch was most of a test's time. */
  readonly #byKey = new Map<string, Set<string>>();
  engine!: OxigraphEngine;

  readonly records: Pick<
    RecordStore,
    "find" | "findMany" | "holders" | "select" | "sequence" | "quads" | "countSelected" | "linksTo"
  > = {
    // Nothing in it is private.
    countSelected: async () => this.#stored.size,
    linksTo: async (keys) => keys.map(() => ({ items: [] })),
    find: async ({ stored }) => {
      const record = this.#stored.get(stored);
      return record && { record };
    },
    findMany: async (arks) => arks.map((asked) => this.#stored.get(asked)),
    holders: async (keys) =>
      [...new Set(keys)]
        .flatMap((key) => [...(this.#byKey.get(key) ?? [])])
        .map((held) => this.#stored.get(held)!)
        .map(({ ark, key, kind, owner, tombstone }) => ({
          ark,
          key,
          kind,
          owner,
          deleted: tombstone !== null,
        })),
    select: async ({ filter: { crates } }) => {
      const items = [...this.#stored.values()].filter(
        ({ crate, tombstone }) =>
          crate !== null && crates?.includes(crate) === true && tombstone === null,
      );
      return { items, positions: items.map((_, index) => String(index)), more: false };
    },
    sequence: async () => this.feed.sequence,
    quads: async (ark) => this.#quads.get(ark),
  };

  /** Writes records by short name; one commit. */
  write(plan: Record<string, Planned>): void {
    const graphs: Record<string, string> = {};
    for (const [name, planned] of Object.entries(plan)) {
      graphs[ark(name)] = quadsOf(name, planned);
      this.#quads.set(ark(name), graphs[ark(name)]!);
      const key = arkKey(ark(name));
      this.#byKey.set(key, (this.#byKey.get(key) ?? new Set()).add(ark(name)));
      this.#stored.set(ark(name), {
        ark: ark(name),
        key,
        kind: planned.kind ?? "dataset",
        name: planned.name ?? name,
        owner: planned.owner === undefined ? null : ark(planned.owner),
        revision: 1,
        createdAt: 0,
        modifiedAt: 0,
        publicationStatus: "DRAFT",
        private: false,
        embargoedUntil: null,
        crate: planned.crate ?? null,
        tombstone: null,
        archived: null,
        newestBacklink: 0,
        document: documentOf(name, planned),
      });
    }
    this.feed.commit(graphs);
  }

  delete(name: string): void {
    this.#stored.get(ark(name))!.tombstone = { at: 1, by: null, reason: null, successor: null };
    this.feed.commit({ [ark(name)]: null });
  }

  async open(): Promise<this> {
    this.engine = await openOxigraphEngine({ openFeed: this.feed.open });
    while (this.engine.state().state === "loading")
      await new Promise((resolve) => setTimeout(resolve, 5));
    return this;
  }

  async ask(name: string, request: Partial<EvidenceRequest> = {}): Promise<EvidenceGraph> {
    return evidenceGraph(
      { ark: arkFrom(ark(name)), direction: "upstream", limit: 10_000, ...request },
      { records: this.records, queries: this.engine },
    );
  }
}

/** The document with the content of the sketch, field by field. */
const documentOf = (name: string, { edges = {}, more = {} }: Planned): Uint8Array =>
  Buffer.from(
    JSON.stringify({
      "@context": { "@vocab": "https://schema.org/", evi: "https://w3id.org/EVI#" },
      "@id": ark(name),
      ...more,
      ...Object.fromEntries(
        Object.entries(edges).map(([field, targets]) => [field, targets.map(ark)]),
      ),
    }),
  );

/** Short names of the nodes, in order. */
export const nodesIn = (graph: EvidenceGraph): string[] =>
  graph["@graph"].map((node) => node["@id"].replace("ark:99999/", ""));
/**
 * Edges as they were stated, `subject property object`, short and sorted; derived ones are left
 * out.
 */
export const edgesIn = (graph: EvidenceGraph): string[] =>
  graph["@graph"]
    .flatMap((node) =>
      Object.entries(node).flatMap(([name, values]) =>
        Array.isArray(values) && name !== "@type" && name !== "statements"
          ? (values as { "@id": string }[])
              .filter(
                (value) =>
                  !node.statements?.some(
                    ({ derived, property, object }) =>
                      derived && property === name && object === value["@id"],
                  ),
              )
              .map((value) => `${node["@id"]} ${name} ${value["@id"]}`.replaceAll("ark:99999/", ""))
          : [],
      ),
    )
    .sort();
