import DataLoader from "dataloader";
import { ServiceError } from "../errors.js";
import type { KindName } from "../model/kind.js";
import type { FoundLink, Page, StoredRecord } from "../stores/records/port.js";
import type { Caller } from "../use-cases/access/caller.js";
import type { Deps } from "../use-cases/deps.js";
import { viewsOf, type RecordView } from "../use-cases/records/view.js";
import { nodeOf, unresolved } from "./types/kind-types.js";
import type { RecordNode } from "./types/record-node.js";

export interface LinksFrom { predicates: readonly string[]; after?: string; limit: number }
export interface LinksTo extends LinksFrom { kinds?: readonly KindName[]; /** Sources that the record itself links to by these are left out. */ unlessBack: readonly string[] }

/** Reads of one request, gathered so that a page of records costs a bounded number of store reads. */
export class Loaders {
  private readonly links = new Map<readonly string[], Map<string, DataLoader<string, unknown>>>();
  private nodes: DataLoader<string, RecordNode> | undefined;
  private views: DataLoader<StoredRecord, RecordView> | undefined;
  private spent = 0;

  constructor(private readonly deps: Deps, private readonly caller: Caller | null) {}

  /** The live record of an ARK as a node; dangling references become {@link unresolved} ones. */
  node(ark: string): Promise<RecordNode> {
    // Nodes, not records: what many lead to is read off its document once.
    this.nodes ??= new DataLoader(async (arks) => {
      const records = await this.deps.records.findMany(arks);
      return arks.map((asked, index) => {
        const record = records[index];
        return record && !record.tombstone ? nodeOf(record) : unresolved(asked);
      });
    });
    return this.nodes.load(ark);
  }

  /** The record as the caller sees it, derived entries included. */
  view(record: StoredRecord): Promise<RecordView> {
    this.views ??= new DataLoader((records) => viewsOf(this.deps, records, this.caller), { cache: false });
    return this.views.load(record);
  }

  /** A page of what the record states, each target once. */
  linksFrom(ark: string, options: LinksFrom): Promise<Page<FoundLink>> {
    return this.batched(options.predicates, `from ${options.limit} ${options.after ?? ""}`, (arks) => this.deps.records.linksFrom(arks, { ...options, distinct: options.predicates.length > 1 })).load(ark);
  }

  /** A page of who states that of the record, each source once. */
  linksTo(key: string, options: LinksTo): Promise<Page<FoundLink>> {
    return this.batched(options.predicates, `to ${options.limit} ${options.after ?? ""} ${options.kinds?.join() ?? ""}`, (keys) => this.deps.records.linksTo(keys, { ...options, distinct: options.predicates.length > 1 })).load(key);
  }

  /** After a write, what was read before it counts no more. */
  forget(): void {
    this.nodes = undefined;
  }

  /**
   * Counts records that links led to: how many that will be cannot be told ahead.
   * @throws ServiceError `QUERY_TOO_COSTLY`
   */
  spend(records: number): void {
    const most = this.deps.config.GRAPHQL_MAX_COST;
    if ((this.spent += records) > most) {
      throw new ServiceError("QUERY_TOO_COSTLY", `The links lead to more than ${most} records (GRAPHQL_MAX_COST): ask for smaller pages with first, or follow fewer links at a time.`);
    }
  }

  /** Reads of the same predicates (the very list of a connection) and page are one. */
  private batched<R>(predicates: readonly string[], page: string, read: (ids: readonly string[]) => Promise<R[]>): DataLoader<string, R> {
    let pages = this.links.get(predicates);
    if (!pages) this.links.set(predicates, (pages = new Map()));
    let loader = pages.get(page) as DataLoader<string, R> | undefined;
    if (!loader) pages.set(page, (loader = new DataLoader(read, { cache: false })) as DataLoader<string, unknown>);
    return loader;
  }
}
