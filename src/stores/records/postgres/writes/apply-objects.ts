import type { ObjectReference } from "../../objects-port.js";
import type { HeldObject, Ledger } from "./ledger.js";

export function addObjects(ledger: Ledger, record: number, objects: readonly ObjectReference[], revision: number): void {
  const added = objects.map((object): HeldObject => ({ ...object, id: ++ledger.counters.object, since: revision, ended: null, dropped: false, isNew: true }));
  ledger.set(ledger.objects, record, [...(ledger.objects.get(record) ?? []), ...added]);
}

/** The references from this revision on; those that stay are left alone. */
export function replaceObjects(ledger: Ledger, record: number, objects: readonly ObjectReference[], revision: number): void {
  const wanted = new Map(objects.map((object) => [identity(object), object]));
  const before = ledger.objects.get(record) ?? [];
  ledger.set(ledger.objects, record, before.map((held) => (held.ended !== null || wanted.delete(identity(held)) ? held : { ...held, ended: revision })));
  addObjects(ledger, record, [...wanted.values()], revision);
}

/** Ends all references with this revision; `drop` takes them from earlier revisions too, so that the bytes may go. */
export function endObjects(ledger: Ledger, record: number, revision: number, drop: boolean): void {
  const before = ledger.objects.get(record) ?? [];
  ledger.set(ledger.objects, record, before.map((held) => ({ ...held, ended: held.ended ?? revision, dropped: held.dropped || drop })));
  if (drop) ledger.set(ledger.drops, record, revision);
}

const identity = ({ sha256, size, mediaType, name, role }: ObjectReference): string => JSON.stringify([sha256, size, mediaType, name, role]);
