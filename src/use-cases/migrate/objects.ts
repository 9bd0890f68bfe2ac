import { ServiceError } from "../../errors.js";
import type { ObjectStore } from "../../stores/objects/port.js";
import type { NeededObject, TruthTransfer } from "../../stores/records/transfer-port.js";

/** What became of objects that a truth needs. */
export interface ObjectFigures {
  needed: number;
  /** Bytes of all that are there. */
  bytes: number;
  copied: number;
  /** Those that are not in the target as they should be, with why; no more than {@link MOST_NAMED} of them are named. */
  wrong: number;
  named: { sha256: string; reason: string }[];
}

const MOST_NAMED = 20;
/** Hashes that are asked for at a time. */
const PAGE = 1000;
/** At a time where neither store says; disks are quick with a few. */
const AT_ONCE = 4;

export interface ObjectsTask {
  truth: Pick<TruthTransfer, "neededObjects">;
  from: ObjectStore;
  to: ObjectStore;
  signal?: AbortSignal;
  progress?(done: number, bytes: number): void;
}

/**
 * Copies what a truth needs and the target has not, streaming; each is hashed on its way, so that damaged bytes never
 * get their name. What is there is not copied again: after an interruption it goes on where it was.
 */
export const copyObjects = (task: ObjectsTask): Promise<ObjectFigures> => eachObject(task, true);

/** Looks whether everything that a truth needs is in the target, with the size it has in the source. Copies nothing. */
export const verifyObjects = (task: ObjectsTask): Promise<ObjectFigures> => eachObject(task, false);

async function eachObject(task: ObjectsTask, copies: boolean): Promise<ObjectFigures> {
  const { truth, from, to, signal, progress } = task;
  const figures: ObjectFigures = { needed: 0, bytes: 0, copied: 0, wrong: 0, named: [] };
  const one = async (object: NeededObject): Promise<void> => {
    signal?.throwIfAborted();
    const result = await bringOne(object, from, to, copies, signal);
    figures.needed++;
    if ("reason" in result) {
      figures.wrong++;
      if (figures.named.length < MOST_NAMED) figures.named.push({ sha256: object.sha256, reason: result.reason });
    } else {
      figures.bytes += result.size;
      if (result.copied) figures.copied++;
    }
    progress?.(figures.needed, figures.bytes);
  };
  const atOnce = Math.max(AT_ONCE, from.parallel ?? 0, to.parallel ?? 0);
  for (let after: string | undefined; ;) {
    const page: { items: NeededObject[]; next?: string } = await truth.neededObjects({ limit: PAGE, ...(after !== undefined && { after }) });
    const waiting = page.items.values();
    const outcomes = await Promise.allSettled(Array.from({ length: atOnce }, async () => {
      for (const object of waiting) await one(object);
    }));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    if (page.next === undefined) return figures;
    after = page.next;
  }
}

async function bringOne({ sha256, size }: NeededObject, from: ObjectStore, to: ObjectStore, copies: boolean, signal?: AbortSignal): Promise<{ size: number; copied: boolean } | { reason: string }> {
  const [source, target] = await Promise.all([from.size(sha256), to.size(sha256)]);
  const wanted = size ?? source ?? target;
  if (target !== undefined) {
    if (target === wanted && (source ?? target) === target) return { size: target, copied: false };
    // Bytes under their hash that are not of its size: whatever they are, they are not copied over.
    if (!copies || source !== wanted) return { reason: `the target has ${target} bytes, the source ${source ?? "none"}, the records say ${size ?? "nothing"}` };
    await to.remove(sha256);
  }
  // An upload that was begun and not ended names bytes that may never have come.
  if (source === undefined) return size === null ? { size: 0, copied: false } : { reason: "it is missing in the source" };
  if (!copies) return { reason: "it is missing in the target" };
  if (size !== null && source !== size) return { reason: `the source has ${source} bytes, the records say ${size}` };
  const staged = await to.stage(await from.open(sha256), signal ? { signal } : {}).catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === "CONTENT_DAMAGED") return undefined;
    throw error;
  });
  if (!staged) return { reason: "its bytes in the source are damaged" };
  if (staged.sha256 !== sha256) {
    await staged.discard();
    return { reason: "its bytes in the source are damaged: they have another hash" };
  }
  await staged.publish();
  return { size: staged.size, copied: true };
}
