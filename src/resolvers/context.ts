import DataLoader from "dataloader";
import type { FoundLink, Page, StoredRecord } from "../stores/records/port.js";
import type { KindName } from "../model/kind.js";
import type { Caller } from "../use-cases/access/caller.js";
import type { Deps } from "../use-cases/deps.js";
import { viewsOf, type RecordView } from "../use-cases/records/view.js";
import { nodeOf, unresolved } from "./types/kind-types.js";
import type { RecordNode } from "./types/record-node.js";

/** What a resolver knows of one request, at every door. */
export interface Context {
  readonly deps: Deps;
  readonly caller: Caller | null;
  /** Address the request came from, for login limits. */
  readonly address: string;
  readonly loaders: Loaders;
}

/** One read of links: which side, which predicates, which page. */
export interface LinkRead { side: "from" | "to"; predicates: readonly string[]; kinds?: readonly KindName[]; distinct?: boolean; unlessBack?: readonly string[]; after?: string; limit: number }

/** Reads of one request, gathered so that a page of records costs a bounded number of store reads. */
export class Loaders {
  private readonly links = new Map<string, DataLoader<string, Page<FoundLink>>>();
  private readonly records: DataLoader<string, StoredRecord | undefined>;
  private readonly views: DataLoader<StoredRecord, RecordView>;
  constructor(private readonly deps: Deps, caller: Caller | null) {
    this.views = new DataLoader((records) => viewsOf(deps, records, caller));
    this.records = new DataLoader((arks) => deps.records.findMany(arks));
  }

  /** The live record of an ARK as a node; dangling references become {@link unresolved} ones. */
  async node(ark: string): Promise<RecordNode> {
    const record = await this.records.load(ark);
    return record && !record.tombstone ? nodeOf(record) : unresolved(ark);
  }

  /** A record with what is derived, as the caller sees it. */
  view(record: StoredRecord): Promise<RecordView> {
    return this.views.load(record);
  }

  /** A page of links of one record: by its ARK for `from`, by its key for `to`. */
  linksOf(id: string, read: LinkRead): Promise<Page<FoundLink>> {
    const { side, ...options } = read;
    const name = JSON.stringify(read);
    let loader = this.links.get(name);
    if (!loader) {
      loader = new DataLoader((ids) => (side === "from" ? this.deps.records.linksFrom(ids, options) : this.deps.records.linksTo(ids, options)), { cache: false });
      this.links.set(name, loader);
    }
    return loader.load(id);
  }
}

/** A context for one request. */
export function contextOf(deps: Deps, caller: Caller | null, address: string): Context {
  return { deps, caller, address, loaders: new Loaders(deps, caller) };
}
