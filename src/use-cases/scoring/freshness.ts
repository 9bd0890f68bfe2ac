import { createHash } from "node:crypto";
import type { StoredRecord } from "../../stores/records/port.js";
import type { KeptScore } from "../../stores/records/scores-port.js";
import type { Deps } from "../deps.js";
import { stateOf } from "../crates/export/crate-records.js";
import { Breather } from "./facts/breather.js";
import type { Grounds } from "./facts/gather.js";
import { statesOf } from "./facts/outside.js";
import type { AiReadyScore } from "./score.js";

/** Raise it with every change of a criterion: scores that were kept before are worked out again. */
const RULES = 1;
/** A score that rests on more records beside its crates is not kept: asking whether it holds would take as long as working it out. */
const MOST_OUTSIDE = 20_000;

/** What is kept of a score; the states stand in one hash. */
interface KeptBody { crates: string[]; outside: string[]; answer: AiReadyScore }

/** Text that differs after every change of what a score rests on. */
function stateText(naan: string, crates: readonly (readonly [string, string])[], outside: readonly (readonly [string, string])[]): string {
  return createHash("sha256").update(JSON.stringify([RULES, naan, crates, outside])).digest("hex");
}

/** As it is kept; `undefined` for what rests on too much. */
export function keptScore({ config }: Pick<Deps, "config">, answer: AiReadyScore, { crates, outside }: Grounds, whole: boolean): KeptScore | undefined {
  if (outside.size > MOST_OUTSIDE) return undefined;
  const body: KeptBody = { crates: [...crates.keys()], outside: [...outside.keys()], answer };
  return { crate: answer.rocrateIdentifier, state: stateText(config.ARK_NAAN, [...crates], [...outside]), whole, body: Buffer.from(JSON.stringify(body)) };
}

/** The score that was kept of a crate, where nothing that it rests on has changed since. */
export async function heldScore(deps: Pick<Deps, "config" | "records">, root: StoredRecord, kept: KeptScore | undefined, signal: AbortSignal): Promise<AiReadyScore | undefined> {
  if (!kept) return undefined;
  const { crates, outside, answer } = JSON.parse(Buffer.from(kept.body).toString("utf8")) as KeptBody;
  const found = await deps.records.findMany(crates);
  if (crates[0] !== root.ark || found.some((crate) => crate === undefined || crate.tombstone !== null)) return undefined;
  const crateStates: [string, string][] = [];
  for (const crate of found) crateStates.push([crate!.ark, await stateOf(deps, crate!)]);
  const states = await statesOf(deps.records, outside, new Breather(signal));
  return stateText(deps.config.ARK_NAAN, crateStates, outside.map((ark, index) => [ark, states[index]!])) === kept.state ? answer : undefined;
}
