import DataLoader from "dataloader";
import { ServiceError } from "../errors.js";
import type { FoundLink, Page, StoredRecord } from "../stores/records/port.js";
import type { Caller } from "../use-cases/access/caller.js";
import type { Deps } from "../use-cases/deps.js";
import { viewsOf, type RecordView } from "../use-cases/records/view.js";
import { nodeOf, unresolved } from "./types/kind-types.js";
import type { RecordNode } from "./types/record-node.js";

export interface LinksFrom { predicates: readonly string[]; after?: string; limit: number }
export interface LinksTo extends LinksFrom { kinds?: readonly string[] }

/** Reads of one request, gathered so that a page of records costs a bounded number of store reads. */
export class Loaders {
  private readonly links = new Map<string, DataLoader<string, unknown>>();
  private records: DataLoader<string, StoredRecord | undefined> | undefined;
  private views: DataLoader<StoredRecord, RecordView> | undefined;
  private spent = 0;

  constructor(private readonly deps: Deps, private readonly caller: Caller | null) {}

  /** The live record of an ARK as a node; dangling references become {@link unresolved} ones. */
  async node(ark: string): Promise<RecordNode> {
    this.records ??= new DataLoader((arks) => this.deps.records.findMany(arks));
    const record = await this.records.load(ark);
    return record && !record.tombstone ? nodeOf(record) : unresolved(ark);
  }

  /** The record as the caller sees it, derived entries included. */
  view(record: StoredRecord): Promise<RecordView> {
    this.views ??= new DataLoader((records) => viewsOf(this.deps, records, this.caller), { cache: false });
    return this.views.load(record);
  }

  linksFrom(ark: string, options: LinksFrom): Promise<Page<FoundLink>> {
    return this.batched("from", options, (arks) => this.deps.records.linksFrom(arks, options)).load(ark);
  }

  linksTo(key: string, options: LinksTo): Promise<Page<FoundLink>> {
    return this.batched("to", options, (keys) => this.deps.records.linksTo(keys, options as never)).load(key);
  }

  /** Those of the targets' keys that the record states links to. */
  async statedAmong(ark: string, predicates: readonly string[], targetKeys: readonly string[]): Promise<string[]> {
    const read = async (asked: readonly { ark: string; targetKeys: readonly string[] }[]) => {
      const keys = [...new Set(asked.flatMap((one) => one.targetKeys))];
      const pages = await this.deps.records.linksFrom(asked.map((one) => one.ark), { predicates, targetKeys: keys, limit: keys.length * predicates.length });
      return pages.map(({ items }) => items.map((link) => link.targetKey));
    };
    return this.batched("among", { predicates }, read as never).load({ ark, targetKeys } as never) as Promise<string[]>;
  }

  /** After a write, what was read before it counts no more. */
  forget(): void {
    this.records = undefined;
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

  private batched<R>(side: string, options: object, read: (ids: readonly string[]) => Promise<R[]>): DataLoader<string, R> {
    const name = side + JSON.stringify(options);
    let loader = this.links.get(name) as DataLoader<string, R> | undefined;
    if (!loader) this.links.set(name, (loader = new DataLoader(read, { cache: false })) as DataLoader<string, unknown>);
    return loader;
  }
}
