import { EmbeddingsRefused, type Embedder } from "../port.js";
import { longestAnswer, vectorsOf } from "./answer.js";
import { EmbeddingsHttp, type Call } from "./http.js";
import { InputRefused, away } from "./refusals.js";
import { firstHalf, nameOf, prepared } from "./texts.js";

/** ms that one call should take at the most: queries wait behind it where a server does one thing at a time. */
const UNHURRIED = 2_000;
/** ms for which what is known of the server's health is told again. */
const HEALTH_KEPT = 5_000;
/** Longest list of models that is read. */
const LONGEST_LIST = 2 ** 20;

/** Times in ms. */
export interface EmbeddingsOptions {
  /** `/embeddings` is put behind it. */
  url: string;
  key?: string;
  model: string;
  queryModel: string;
  queryPrefix: string;
  passagePrefix: string;
  /** Characters of one text. */
  maxText: number;
  /** Texts of one call. */
  batch: number;
  /** Connections. */
  pool: number;
  timeout: number;
  queryTimeout: number;
  healthTimeout: number;
}

type Limit = Pick<Call, "timeout" | "begun" | "setting" | "signal">;

/** {@link Embedder} on a server that answers as OpenAI's API for embeddings does. */
export class EndpointEmbedder implements Embedder {
  readonly model: string;
  readonly #http: EmbeddingsHttp;
  /** Texts of the next call: one at first, since nothing is known of how quick the server is. Long texts may take a model seconds each. */
  #lot = 1;
  #health: { asked: Promise<void>; until: number } | undefined;

  constructor(private readonly options: EmbeddingsOptions) {
    this.model = nameOf(options.model, options.passagePrefix, options.maxText);
    this.#http = new EmbeddingsHttp(options.url, options.key, options.pool);
  }

  async passages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    const { model, passagePrefix: prefix, maxText, timeout } = this.options;
    const inputs = texts.map((text) => prepared(text, maxText));
    const vectors: Float32Array[] = [];
    while (vectors.length < inputs.length) vectors.push(...await this.#taken(inputs.slice(vectors.length, vectors.length + this.#lot), (lot) => this.#timed(lot.length, () => this.#embed(model, prefix, lot, { timeout, setting: "EMBEDDINGS_TIMEOUT", signal }))));
    const other = vectors.find(({ length }) => length !== vectors[0]!.length);
    if (other) throw new EmbeddingsRefused(`the embeddings server answers nonsense: it has vectors of ${vectors[0]!.length} and of ${other.length} dimensions for ${model}`);
    return vectors;
  }

  async query(text: string, signal?: AbortSignal): Promise<Float32Array> {
    const { queryModel, queryPrefix, maxText, queryTimeout, timeout } = this.options;
    const limit = { ...(queryTimeout < timeout ? { timeout: queryTimeout, setting: "EMBEDDINGS_QUERY_TIMEOUT" } : { timeout, setting: "EMBEDDINGS_TIMEOUT" }), begun: performance.now(), signal };
    return (await this.#taken([prepared(text, maxText)], (lot) => this.#embed(queryModel, queryPrefix, lot, limit)))[0]!;
  }

  health(): Promise<void> {
    if (!this.#health || performance.now() > this.#health.until) {
      const asked = this.#alive();
      const health = (this.#health = { asked, until: Infinity });
      const settled = (): void => void (health.until = performance.now() + HEALTH_KEPT);
      void asked.then(settled, settled);
    }
    return this.#health.asked;
  }

  async close(): Promise<void> {
    this.#health = { asked: Promise.reject(away("is not asked any more: the registry is stopping")), until: Infinity };
    this.#health.asked.catch(() => {});
    this.#http.close();
  }

  async #embed(model: string, prefix: string, texts: readonly string[], limit: Limit): Promise<Float32Array[]> {
    const json = { model, input: texts.map((text) => prefix + text), encoding_format: "float" };
    return vectorsOf(await this.#http.text("/embeddings", { json, longest: longestAnswer(texts.length), ...limit }), texts.length);
  }

  /**
   * Servers differ in how many texts they take, and how long ones, and few say so beforehand; many refuse a text that is longer
   * than their model reads. What is refused is sent by halves: of the list, then of the one text, whose beginning must do.
   */
  async #taken(texts: readonly string[], embed: (texts: readonly string[]) => Promise<Float32Array[]>): Promise<Float32Array[]> {
    try {
      return await embed(texts);
    } catch (error) {
      if (!(error instanceof InputRefused)) throw error;
      const middle = Math.ceil(texts.length / 2);
      if (texts.length > 1) return [...await this.#taken(texts.slice(0, middle), embed), ...await this.#taken(texts.slice(middle), embed)];
      const shorter = firstHalf(texts[0]!);
      if (shorter === undefined) throw error;
      return await this.#taken([shorter], embed);
    }
  }

  /**
   * Does one call of so many texts, and learns from how long it took: half as many are sent after a slow one, also if it was
   * so slow that it failed, and whoever tries again gets further; twice as many, up to the setting, after a quick one.
   */
  async #timed<T>(texts: number, call: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    const took = (): number => performance.now() - begun;
    try {
      const done = await call();
      if (took() < UNHURRIED / 4 && texts >= this.#lot) this.#lot = Math.min(this.options.batch, texts * 2);
      return done;
    } finally {
      if (took() > UNHURRIED) this.#lot = Math.max(1, Math.floor(Math.min(texts, this.#lot) / 2));
    }
  }

  /** What lists its models is well; a server that does not, or not to us, is asked for a vector. */
  async #alive(): Promise<void> {
    const { healthTimeout: timeout, queryModel, queryPrefix } = this.options;
    const limit = { timeout, begun: performance.now(), setting: "HEALTH_TIMEOUT" };
    try {
      await this.#http.text("/models", { longest: LONGEST_LIST, ...limit });
    } catch (error) {
      if (!(error instanceof EmbeddingsRefused)) throw error;
      await this.#embed(queryModel, queryPrefix, ["well"], limit);
    }
  }
}
