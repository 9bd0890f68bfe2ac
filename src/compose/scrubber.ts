import { randomUUID } from "node:crypto";
import { ServiceError } from "../errors.js";
import { reportDamage } from "../use-cases/damage.js";
import type { Deps } from "../use-cases/deps.js";
import { scrubObjects } from "../use-cases/objects/scrub.js";

/** Name of the lease: one node scrubs at a time, since all see the same objects. */
const LEASE = "scrub";
/** ms that the lease is held for; it is renewed at each object, or three times as often. */
const HELD = 60_000;
/** ms between two looks at whether there is something to do. */
const LOOK = 60_000;
/** ms between two notes of how far it has come: a restart goes on there. */
const NOTED = 30_000;
const SETTING = "scrub-position";

/** How far the scrub is: behind `after` in the round that began at `began`; without `after` the round is done. */
interface Position { began: number; after?: string }

/** Reads all objects in the background, SCRUB_RATE bytes a second, one round every SCRUB_INTERVAL, to find those that are damaged. */
export class Scrubber {
  readonly #node = randomUUID();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(private readonly deps: Pick<Deps, "config" | "records" | "objects" | "damage" | "log">) {}

  start(): void {
    this.#timer = setInterval(() => void this.look(), LOOK).unref();
  }

  /** Learns what other nodes found, and goes on with the round where this node is the one to. Never rejects. */
  look(): Promise<void> {
    return (this.#running ??= this.#look().catch((err: unknown) => this.#failed(err)).finally(() => (this.#running = undefined)));
  }

  #failed(err: unknown): void {
    reportDamage(this.deps.log, err);
    if (err instanceof ServiceError && err.code === "STORE_DAMAGED") return;
    this.deps.log.error({ err }, "the scrub of the objects failed");
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#running;
  }

  async #look(): Promise<void> {
    const { config, records, damage } = this.deps;
    await damage.refresh();
    if (config.SCRUB_RATE === 0 || config.ROLE === "api") return;
    const last = parsed(await records.setting(SETTING));
    const goesOn = last?.after !== undefined;
    if (last && !goesOn && Date.now() - last.began < config.SCRUB_INTERVAL) return;
    if (!(await this.#leased())) return;
    const renewal = setInterval(() => void this.#leased().catch(() => {}), HELD / 3).unref();
    try {
      await this.#round(goesOn ? last : { began: Date.now() });
    } finally {
      clearInterval(renewal);
      await records.releaseLease(LEASE, this.#node);
    }
  }

  async #round(from: Position): Promise<void> {
    const { config, records, objects, damage } = this.deps;
    let position = from;
    let noted = Date.now();
    const note = () => records.setSetting(SETTING, JSON.stringify(position));
    const ended = await scrubObjects({
      objects, records, damage, rate: config.SCRUB_RATE, after: from.after, signal: this.#stopping.signal,
      done: async (sha256) => {
        position = { ...position, after: sha256 };
        if (Date.now() - noted < NOTED) return true;
        noted = Date.now();
        await note();
        // Another node may have taken over while this one was held up.
        return this.#leased();
      },
    });
    if (ended) position = { began: position.began };
    await note();
  }

  async #leased(): Promise<boolean> {
    return (await this.deps.records.lease(LEASE, this.#node, HELD)) !== undefined;
  }
}

function parsed(text: string | undefined): Position | undefined {
  return text === undefined ? undefined : JSON.parse(text) as Position;
}
