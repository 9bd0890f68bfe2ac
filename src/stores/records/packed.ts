import type { RecordState, RecordWrite } from "./port.js";
import { packQuads } from "./quads-codec.js";

const packed = new WeakMap<object, Uint8Array>();

/** Packs the quads of records before the transaction that writes them: nobody waits for this. */
export function packAhead(writes: readonly RecordWrite[]): void {
  for (const write of writes) if ("quads" in write) packed.set(write, packQuads(write.quads));
}

/** The quads of a record as they are stored. */
export const packedQuads = (state: RecordState): Uint8Array => packed.get(state) ?? packQuads(state.quads);
