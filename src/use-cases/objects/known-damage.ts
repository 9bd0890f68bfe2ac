import { ServiceError } from "../../errors.js";
import type { ObjectStore } from "../../stores/objects/port.js";
import { contentDamaged } from "../../stores/objects/verified.js";
import type { RecordStore } from "../../stores/records/port.js";
import { reportDamage } from "../damage.js";
import type { Log } from "../deps.js";

/** Where the nodes of a registry share what they found. */
const SETTING = "damaged-objects";
/** More than so many is a lost disk: a list of them helps nobody. */
const MOST = 1000;
/** In place of a version: nothing was stored under the key. */
const MISSING = "missing";

/**
 * Objects whose bytes were found to be others than their key says, by a download or by the scrub, with the version of the bytes that
 * were read: once they are written again, by whatever process, they count as whole until they are read.
 */
export class KnownDamage {
  #versions = new Map<string, string>();
  /** What the scrub of this node has read since the start. */
  readonly scrubbed = { objects: 0, bytes: 0 };

  constructor(private readonly deps: { records: Pick<RecordStore, "referenced" | "setting" | "setSetting">; objects: Pick<ObjectStore, "version">; log: Log }) {}

  get count(): number {
    return this.#versions.size;
  }

  /** Learns what other nodes found, and what was found before a restart; forgets what was written again since, or is not needed any more. */
  async refresh(): Promise<void> {
    this.#versions = new Map(await this.#stored());
    for (const [sha256, version] of this.#versions) {
      if (!(await this.isDamaged(sha256)) || (version === MISSING && !(await this.#isNeeded(sha256)))) await this.whole(sha256);
    }
  }

  async #isNeeded(sha256: string): Promise<boolean> {
    // The first hash behind the beginning of this one.
    const { items } = await this.deps.records.referenced({ after: sha256.slice(0, -1), limit: 1 });
    return items[0] === sha256;
  }

  /** Remembers and logs damage that reading an object met; any other error is left alone. */
  async found(sha256: string, error: unknown): Promise<void> {
    if (!(error instanceof ServiceError) || error.code !== "CONTENT_DAMAGED") return;
    reportDamage(this.deps.log, error);
    const version = (await this.deps.objects.version(sha256)) ?? MISSING;
    if (this.#versions.get(sha256) !== version) await this.#change((all) => all.set(sha256, version));
  }

  /** An object was read or written as a whole, and is what it should be. */
  async whole(sha256: string): Promise<void> {
    if (this.#versions.has(sha256)) await this.#change((all) => all.delete(sha256));
  }

  /** Whether bytes that were found damaged are still those; costs nothing while nothing is known to be damaged. */
  async isDamaged(sha256: string): Promise<boolean> {
    const known = this.#versions.get(sha256);
    return known !== undefined && ((await this.deps.objects.version(sha256)) ?? MISSING) === known;
  }

  /** @throws ServiceError `CONTENT_DAMAGED` when the object was found damaged and was not written again since */
  async assertIntact(sha256: string): Promise<void> {
    if (await this.isDamaged(sha256)) throw contentDamaged(sha256, "its bytes have another hash or length");
  }

  async #change(change: (all: Map<string, string>) => unknown): Promise<void> {
    change(this.#versions);
    const all = new Map(await this.#stored());
    change(all);
    const text = JSON.stringify([...all].slice(0, MOST));
    await this.deps.records.setSetting(SETTING, text === "[]" ? null : text);
  }

  async #stored(): Promise<[string, string][]> {
    const text = await this.deps.records.setting(SETTING);
    return text === undefined ? [] : JSON.parse(text) as [string, string][];
  }
}
