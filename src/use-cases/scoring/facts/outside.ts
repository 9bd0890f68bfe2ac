import { arkKey } from "../../../identifiers/ark.js";
import type { KindName } from "../../../model/kind.js";
import type { RecordStore, StoredRecord } from "../../../stores/records/port.js";
import type { Breather } from "./breather.js";

/** Records read at a time. */
const LOT = 100;

/** What a reference leads to. */
export interface Found { ark: string; kind: KindName; isLive: boolean }

/** Text that differs after every change of a record; that of what is not stored is `-`. */
const stateOfRecord = (record: StoredRecord | undefined): string => (record ? `${record.revision}${record.tombstone ? "x" : ""}` : "-");

/** States of records, in the order asked for. */
export async function statesOf(records: Pick<RecordStore, "findMany">, arks: readonly string[], breather: Breather): Promise<string[]> {
  const states: string[] = [];
  for (let start = 0; start < arks.length; start += LOT) {
    for (const record of await records.findMany(arks.slice(start, start + LOT))) states.push(stateOfRecord(record));
    await breather.pause();
  }
  return states;
}

/** Records that a crate refers to and does not hold: looked up once each, and remembered with their state. */
export class Outside {
  private readonly known = new Map<string, Found | undefined>();
  /** ARK as it was asked for → state; the score rests on these. */
  readonly states = new Map<string, string>();

  constructor(private readonly records: Pick<RecordStore, "findMany">, private readonly breather: Breather) {}

  get size(): number {
    return this.states.size;
  }

  /** Looks up those that are not known yet. */
  async look(arks: Iterable<string>): Promise<(StoredRecord | undefined)[]> {
    const wanted = [...new Map([...arks].map((ark) => [arkKey(ark), ark])).entries()].filter(([key]) => !this.known.has(key));
    const found: (StoredRecord | undefined)[] = [];
    for (let start = 0; start < wanted.length; start += LOT) {
      const lot = wanted.slice(start, start + LOT);
      for (const [index, record] of (await this.records.findMany(lot.map(([, ark]) => ark))).entries()) {
        const [key, ark] = lot[index]!;
        this.known.set(key, record && { ark: record.ark, kind: record.kind, isLive: record.tombstone === null });
        this.states.set(ark, stateOfRecord(record));
        found.push(record);
      }
      await this.breather.pause();
    }
    return found;
  }

  /** What an identifier that was looked up leads to, if to anything live. */
  of(key: string): Found | undefined {
    const found = this.known.get(key);
    return found?.isLive ? found : undefined;
  }
}
