import type { Embedder } from "../embeddings/port.js";
import type { Deps } from "../use-cases/deps.js";
import { requestVectors, vectorsAreBehind } from "../use-cases/vectors/index.js";

/** After a submission failed, so many looks are left out: what a server refuses it mostly goes on refusing. */
const LEFT_OUT = 30;

/**
 * Looks every VECTORS_INTERVAL whether records wait for their vectors, and queues the work: one submission for whatever changed
 * meanwhile, instead of one for each commit. Every worker looks; the store makes one submission of it.
 */
export class VectorsKeeper {
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #asked: string | undefined;
  #leftOut = 0;
  #failing = false;

  constructor(private readonly deps: Pick<Deps, "config" | "records" | "jobs" | "log">, private readonly embedder: Embedder) {}

  start(): void {
    const look = () => {
      this.#looking ??= this.#look().then(() => { this.#failing = false; }, (err: unknown) => {
        if (!this.#failing) this.deps.log.error({ err }, "it could not be looked whether records wait for vectors");
        this.#failing = true;
      }).finally(() => (this.#looking = undefined));
    };
    look();
    this.#timer = setInterval(look, this.deps.config.VECTORS_INTERVAL).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    if (this.#leftOut > 0) {
      this.#leftOut--;
      return;
    }
    const last = this.#asked === undefined ? undefined : await this.deps.records.submission(this.#asked);
    if (last?.status === "queued" || last?.status === "running") return;
    this.#asked = undefined;
    if (last?.status === "failed") this.#leftOut = LEFT_OUT;
    else if (await vectorsAreBehind(this.deps, this.embedder)) this.#asked = (await requestVectors(this.deps, this.embedder)).id;
  }
}
