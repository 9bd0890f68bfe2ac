import type { ObjectStore } from "../../stores/objects/port.js";
import type { GraphDigest, TruthDigester } from "../../stores/queries/port.js";
import { TransferRefused, type TransferTable, type TruthTransfer } from "../../stores/records/transfer-port.js";
import { differing, figuresOf, TruthDigest, type TruthFigures } from "./digest.js";
import { copyObjects, type ObjectFigures, verifyObjects } from "./objects.js";

/** One registry: its truth and its objects. */
export interface Side { truth: TruthTransfer; objects: ObjectStore; openDigester(): TruthDigester }

export interface Move {
  from: Side;
  to: Side;
  /** Copies nothing, and compares what is there. */
  verifyOnly: boolean;
  signal?: AbortSignal;
  progress?(stage: string, done: number, total: number | null): void;
}

export interface Moved {
  from: TruthFigures;
  to: TruthFigures;
  graphs: { from: GraphDigest; to: GraphDigest };
  objects: ObjectFigures;
  /** Tables that differ between source and target. */
  differing: TransferTable[];
  /** The source was written to meanwhile: what came late is not in the target. */
  changed: boolean;
  agree: boolean;
}

/**
 * Moves a registry: first its objects, then its truth in one step, then the objects that came meanwhile; then both are
 * compared as a whole. The source is only read. After an interruption it is called again: objects that are there stay,
 * and of the truth everything is there or nothing.
 *
 * @throws TransferRefused when the target holds something, ServiceError `STORE_UNAVAILABLE` when a store is away
 */
export async function moveRegistry({ from, to, verifyOnly, signal, progress = () => {} }: Move): Promise<Moved> {
  if (!verifyOnly && !(await to.truth.isEmpty())) {
    throw new TransferRefused("The target holds records, accounts or submissions already: a registry is moved into an empty place only (--verify compares the two)");
  }
  const total = verifyOnly ? null : await countNeeded(from.truth);
  const task = { from: from.objects, to: to.objects, ...(signal && { signal }) };
  let copied = 0;
  if (!verifyOnly) copied = (await copyObjects({ ...task, truth: from.truth, progress: (done) => progress("objects", done, total) })).copied;
  const source = verifyOnly ? await figuresOf(from.truth, (rows) => progress("reading the source", rows, null)) : await copyTruth(from.truth, to.truth, signal, (rows) => progress("records", rows, null));
  const rows = Object.values(source.tables).reduce((sum, table) => sum + table.rows, 0);
  const objects = await (verifyOnly ? verifyObjects : copyObjects)({ ...task, truth: to.truth, progress: (done) => progress("comparing objects", done, total) });
  signal?.throwIfAborted();
  const target = await figuresOf(to.truth, (done) => progress("comparing records", done, rows));
  progress("comparing graphs", 0, null);
  const graphs = { from: await graphOf(from), to: await graphOf(to) };
  // Where others may write to the source, it is read once more: a commit is not all that may have changed.
  const after = from.truth.exclusive ? source : await figuresOf(from.truth, (done) => progress("reading the source again", done, rows));
  const changed = after.sequence !== source.sequence || differing(after, source).length > 0;
  const differ = differing(source, target);
  const sameGraphs = graphs.from.digest === graphs.to.digest && graphs.from.quads === graphs.to.quads;
  return {
    from: source, to: target, graphs, objects: { ...objects, copied: copied + objects.copied }, differing: differ, changed,
    agree: !changed && differ.length === 0 && sameGraphs && objects.wrong === 0 && source.sequence === target.sequence,
  };
}

async function copyTruth(from: TruthTransfer, to: TruthTransfer, signal: AbortSignal | undefined, progress: (rows: number) => void): Promise<TruthFigures> {
  const digest = new TruthDigest();
  await to.import(digest.over(from.export(), (rows) => {
    signal?.throwIfAborted();
    progress(rows);
  }));
  return digest.figures();
}

async function countNeeded(truth: TruthTransfer): Promise<number> {
  let count = 0;
  for (let after: string | undefined; ;) {
    const page: { items: unknown[]; next?: string } = await truth.neededObjects({ limit: 10_000, ...(after !== undefined && { after }) });
    count += page.items.length;
    if (page.next === undefined) return count;
    after = page.next;
  }
}

async function graphOf({ truth, openDigester }: Side): Promise<GraphDigest> {
  const digester = openDigester();
  try {
    return await digester.digest(await truth.sequence());
  } finally {
    await digester.close();
  }
}
