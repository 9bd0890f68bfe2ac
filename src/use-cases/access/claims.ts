import { arkKey } from "../../identifiers/ark.js";
import { keysAbove } from "../../identifiers/claimable.js";
import { ServiceError } from "../../errors.js";
import type { Holder, RecordStore } from "../../stores/records/port.js";
import type { Caller } from "./caller.js";
import { mayChange } from "./rules.js";

/** Keys asked about at a time: few enough not to hold up readers. */
const BATCH = 500;

/**
 * Who may register identifiers: one that lies below a record, deleted or not, is for those who may change that record. Whatever is
 * above any of them is asked about once, however many there are.
 */
export class Claims {
  /** Keys above: what stands in the way of this caller, if anything. */
  readonly #known = new Map<string, Holder | undefined>();
  readonly #unheld = new Set<string>();
  readonly #owners = new Map<string, Promise<boolean>>();

  constructor(private readonly records: Pick<RecordStore, "holders" | "findMany">, private readonly caller: Caller | null) {}

  /** Keys above that nobody held: for the commit, which is to fail when somebody does by then. */
  get unheld(): string[] {
    return [...this.#unheld];
  }

  /** For each identifier, what it lies below and the caller may not change. */
  async refusals(arks: readonly string[]): Promise<(Holder | undefined)[]> {
    const above = arks.map((ark) => keysAbove(arkKey(ark)));
    await this.#ask([...new Set(above.flat())].filter((key) => !this.#known.has(key)));
    return above.map((keys) => keys.map((key) => this.#known.get(key)).find((holder) => holder !== undefined));
  }

  /** @throws ServiceError `FORBIDDEN` or `NOT_AUTHENTICATED` */
  async assertMayRegister(ark: string): Promise<void> {
    const [above] = await this.refusals([ark]);
    if (!above) return;
    const sentence = `${ark} lies below ${above.ark}: those who may change that may register it. Choose another @id, or leave it out to have one made.`;
    throw this.caller ? new ServiceError("FORBIDDEN", sentence) : new ServiceError("NOT_AUTHENTICATED", sentence);
  }

  async #ask(keys: readonly string[]): Promise<void> {
    for (let start = 0; start < keys.length; start += BATCH) {
      const batch = keys.slice(start, start + BATCH);
      for (const key of batch) {
        this.#known.set(key, undefined);
        this.#unheld.add(key);
      }
      for (const holder of await this.records.holders(batch)) {
        this.#unheld.delete(holder.key);
        if (!(await this.#mayChange(holder))) this.#known.set(holder.key, holder);
      }
    }
  }

  /** Records share a few owners: the rule is asked once for each. A user is changed by itself. */
  #mayChange(holder: Holder): Promise<boolean> {
    const name = holder.kind === "user" ? `user ${holder.ark}` : `owner ${holder.owner}`;
    let may = this.#owners.get(name);
    if (!may) this.#owners.set(name, (may = mayChange(this.records, this.caller, holder)));
    return may;
  }
}
