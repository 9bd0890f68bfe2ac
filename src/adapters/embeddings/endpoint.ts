/**
 * Embeddings of a server that speaks OpenAI's API: requests with retries, and texts in batches
 * that it accepts.
 */
import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { IncomingMessage } from "node:http";
import { Outage } from "../../errors.js";
import { isFault, isWell, KeptConnections } from "../../storage/connections.js";
import { type Embedder, EmbeddingsRefused } from "./port.js";

/** The server refuses the texts: it may accept fewer or shorter ones. */
class InputRefused extends EmbeddingsRefused {}

/** Characters of the server's own words that are passed on. */
const MAX_MESSAGE_CHARS = 300;
/** Answers that may be others in a while. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
/** Statuses of servers that do not have the call at all, and will not soon. */
const UNABLE: ReadonlySet<number> = new Set([501, 505]);
/** Statuses for texts, or lists of texts, that are longer than the server accepts. */
const TOO_MUCH: ReadonlySet<number> = new Set([400, 413, 422]);
/** The advice for an operator about a status. */
const REMEDIES: Readonly<Record<number, string>> = {
  401: "check EMBEDDINGS_KEY",
  403: "check EMBEDDINGS_KEY",
  404: "check EMBEDDINGS_URL, to which /embeddings is appended, and EMBEDDINGS_MODEL",
  405: "check EMBEDDINGS_URL, to which /embeddings is appended",
  413: "check EMBEDDINGS_BATCH and EMBEDDINGS_MAX_TEXT",
};

/** @param reason names settings, no hosts */
const unavailable = (reason: string): Outage => new Outage(`the embeddings server ${reason}`);

/** @param setting where the time comes from */
const late = (timeout: number, setting: string): Outage =>
  unavailable(`did not answer within ${setting}=${timeout} ms`);

/**
 * The meaning of an answer that is not 2xx.
 * @param body the beginning of the answer
 */
function refusalOf(status: number, body: string, key: string | undefined): Error {
  const remedy =
    status >= 300 && status < 400
      ? "a redirect, which is not followed; set EMBEDDINGS_URL to its target"
      : REMEDIES[status];
  // Servers that refuse a key often repeat it, whole or in parts.
  const words = status === 401 || status === 403 ? "" : wordsOf(body, key);
  const message =
    "answers " +
    `${status}${remedy === undefined ? "" : `, ${remedy}`}${words === "" ? "" : `: ${words}`}`;
  if (PASSING.has(status) || (status >= 500 && !UNABLE.has(status))) return unavailable(message);
  return new (TOO_MUCH.has(status) ? InputRefused : EmbeddingsRefused)(
    `the embeddings server ${message}`,
  );
}

/** The server's message, in one line and without the key. */
function wordsOf(body: string, key: string | undefined): string {
  const stated = messageOf(body);
  const hidden =
    key === undefined
      ? stated
      : stated
          .replaceAll(key, "…")
          .replaceAll(key.replaceAll("/", "\\/"), "…")
          .replaceAll(JSON.stringify(key).slice(1, -1), "…");
  const line = hidden.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > MAX_MESSAGE_CHARS
    ? `${line.slice(0, MAX_MESSAGE_CHARS).toWellFormed()}…`
    : line;
}

/**
 * `error.message` as OpenAI's API has it, other members that servers put theirs into, else the body
 * as it is.
 */
function messageOf(body: string): string {
  try {
    const { error, message, detail } = JSON.parse(body) as Record<string, unknown>;
    for (const stated of [
      (error as { message?: unknown } | undefined)?.message,
      error,
      message,
      detail,
    ])
      if (typeof stated === "string") return stated;
  } catch {
    // Not every proxy in front of a server speaks JSON.
  }
  return body;
}

/** Bytes of an error's body that are read. */
const REASON = 8 * 2 ** 10;

interface Call {
  /** Absent: GET. */
  json?: unknown;
  /** Bytes of the longest answer that is read. */
  longest: number;
  /** ms until the last byte. */
  timeout: number;
  /**
   * Since when, by `performance.now()`, where this call is one of several that have the time
   * together; by default from now on.
   */
  begun?: number;
  /** The setting it comes from, for the error. */
  setting: string;
  signal?: AbortSignal | undefined;
}

/**
 * JSON over HTTP to one server, over a pool of connections, without following redirections. A call
 * whose caller has gone, or that is too late, is ended with its connection.
 */
class EmbeddingsHttp {
  readonly #connections: KeptConnections;
  readonly #closing = new AbortController();

  readonly #base: string;
  readonly #key: string | undefined;

  constructor(base: string, key: string | undefined, pool: number) {
    this.#base = base;
    this.#key = key;

    // One for each call that is under way.
    setMaxListeners(0, this.#closing.signal);
    this.#connections = new KeptConnections(pool);
  }

  /** The text of a 2xx answer. @throws Outage, EmbeddingsRefused, the reason of the signal */
  async text(
    path: string,
    { json, longest, timeout, begun = performance.now(), setting, signal }: Call,
  ): Promise<string> {
    const ending = new AbortController();
    const clock = setTimeout(
      () => ending.abort(late(timeout, setting)),
      begun + timeout - performance.now(),
    );
    const signals = [this.#closing.signal, ...(signal ? [signal] : [])];
    const end = (): void => ending.abort(signals.find(({ aborted }) => aborted)?.reason);
    for (const one of signals) one.addEventListener("abort", end, { once: true });
    if (signals.some(({ aborted }) => aborted)) end();
    try {
      const answer = await this.#answer(path, json, ending.signal);
      if (!isWell(answer))
        throw refusalOf(answer.statusCode!, await this.#reason(answer), this.#key);
      return await gathered(answer, longest);
    } catch (error) {
      if (ending.signal.aborted) throw ending.signal.reason;
      throw isFault(error) ? unavailable(`cannot be reached (${error.code})`) : error;
    } finally {
      clearTimeout(clock);
      for (const one of signals) one.removeEventListener("abort", end);
      // A body that was not read to its end is not wanted: the connection is closed. A server that
      // notices it ends the computation.
      ending.abort(unavailable("is not listened to any more"));
    }
  }

  close(): void {
    this.#closing.abort(unavailable("is not used any more: the registry is stopping"));
    this.#connections.close();
  }

  #answer(path: string, json: unknown, signal: AbortSignal): Promise<IncomingMessage> {
    const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json), "utf8");
    const headers = {
      Accept: "application/json",
      "Accept-Encoding": "identity",
      ...(body && { "Content-Type": "application/json", "Content-Length": String(body.length) }),
      ...(this.#key !== undefined && { Authorization: `Bearer ${this.#key}` }),
    };
    const options = { method: body ? "POST" : "GET", headers, signal };
    return this.#connections.send(new URL(this.#base + path), options, body);
  }

  /**
   * The beginning of an error's body; a part of the key at the cut would not be recognised, so it
   * is left out.
   */
  async #reason(answer: IncomingMessage): Promise<string> {
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of answer) {
      parts.push(part as Buffer);
      size += (part as Buffer).length;
      if (size > REASON)
        return Buffer.concat(parts)
          .subarray(0, REASON)
          .toString("utf8")
          .slice(0, -2 * (this.#key?.length ?? 0) || undefined);
    }
    return Buffer.concat(parts).toString("utf8");
  }
}

async function gathered(answer: IncomingMessage, longest: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer) {
    parts.push(part as Buffer);
    if ((size += (part as Buffer).length) > longest)
      throw new EmbeddingsRefused(
        `the embeddings server sent an invalid answer: its answer is longer than ${longest} bytes`,
      );
  }
  if (!answer.complete) throw unavailable("ended its answer early");
  return Buffer.concat(parts).toString("utf8");
}

/** Longest vectors that are taken. */
export const MAX_DIMENSIONS = 8192;
/** Bytes of one number at the most, as JSON writes it, and of all that is not vectors. */
const NUMBER_BYTES = 32;
const FRAME_BYTES = 64 * 2 ** 10;

/** Bytes that an answer for so many texts can have. */
export const longestAnswer = (texts: number): number =>
  texts * MAX_DIMENSIONS * NUMBER_BYTES + FRAME_BYTES;

/**
 * The vectors in an answer, in the order of the texts, each of length 1. Accepts numbers in lists,
 * and little-endian float32 in base64, which some servers send regardless of the requested format.
 * @throws EmbeddingsRefused that names the fault, and its place
 */
export function vectorsOf(answer: string, texts: number): Float32Array[] {
  const data = member(parsed(answer), "data");
  if (!Array.isArray(data)) throw nonsense("has no list `data`");
  if (data.length !== texts)
    throw nonsense(`has ${data.length} vectors for ${texts} ${texts === 1 ? "text" : "texts"}`);
  const vectors: (Float32Array | undefined)[] = Array.from({ length: texts });
  let dimensions: number | undefined;
  for (const [at, entry] of data.entries()) {
    const index = member(entry, "index");
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= texts)
      throw nonsense(`has no index of one of ${texts} texts in data[${at}]`);
    if (vectors[index]) throw nonsense(`has the index ${index} twice, again in data[${at}]`);
    const vector = vectorOf(member(entry, "embedding"), `data[${at}].embedding`);
    dimensions ??= vector.length;
    if (vector.length !== dimensions)
      throw nonsense(
        `has ${vector.length} dimensions in data[${at}].embedding, and ${dimensions} in ` +
          "data[0].embedding",
      );
    vectors[index] = vector;
  }
  return vectors as Float32Array[];
}

function parsed(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    // Python's servers write NaN where a model fails, which is no JSON.
    throw nonsense(
      /[[,:]\s*-?(?:NaN|Infinity)\b/.test(answer)
        ? "holds NaN or Infinity, which are no numbers"
        : "is not JSON",
    );
  }
}

function vectorOf(embedding: unknown, place: string): Float32Array {
  const numbers = typeof embedding === "string" ? floatsOf(embedding, place) : embedding;
  if (!Array.isArray(numbers)) throw nonsense(`has no list of numbers in ${place}`);
  if (numbers.length < 1 || numbers.length > MAX_DIMENSIONS)
    throw nonsense(
      `has ${numbers.length} dimensions in ${place}; 1 to ${MAX_DIMENSIONS} are accepted`,
    );
  let largest = 0;
  for (const [at, number] of numbers.entries()) {
    if (typeof number !== "number" || !Number.isFinite(number))
      throw nonsense(`has no finite number in ${place}[${at}]`);
    largest = Math.max(largest, Math.abs(number));
  }
  if (largest === 0) throw nonsense(`has only zeros in ${place}`);
  return normalised(numbers as number[], largest);
}

/**
 * Divided by the largest first: squares of very large numbers are infinite, of very small ones
 * zero.
 */
function normalised(numbers: readonly number[], largest: number): Float32Array {
  let sum = 0;
  for (const number of numbers) sum += (number / largest) ** 2;
  const length = Math.sqrt(sum);
  return Float32Array.from(numbers, (number) => number / largest / length);
}

function floatsOf(text: string, place: string): number[] {
  if (text.length > MAX_DIMENSIONS * 6)
    throw nonsense(`has more than ${MAX_DIMENSIONS} dimensions in ${place}`);
  const bytes = Buffer.from(text, "base64");
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text) || bytes.length % 4 !== 0)
    throw nonsense(`has text in ${place} that is no float32 in base64`);
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
}

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

const nonsense = (what: string): EmbeddingsRefused =>
  new EmbeddingsRefused(`the embeddings server sent an invalid answer: its answer ${what}`);

/** Raised when texts are sent in another way: earlier vectors are not compared with later ones. */
const MANNER = 1;

/** Characters that a text is not shortened below. */
const SHORTEST = 200;

/** The name of a model's vectors for texts with this prefix, cut to so many characters. */
export const nameOf = (model: string, passagePrefix: string, maxText: number): string =>
  `${model}#${createHash("sha256")
    .update(JSON.stringify([MANNER, passagePrefix, maxText]))
    .digest("hex")
    .slice(0, 8)}`;

/**
 * A text as it is sent: well-formed, since servers fail on half a surrogate pair; with spaces for
 * control characters, since some end a text at NUL; without spaces around it; of so many characters
 * (code points) at the most.
 * @throws EmbeddingsRefused when nothing is left
 */
export function prepared(text: string, most: number): string {
  const clean = cut(
    text
      .toWellFormed()
      .replaceAll(/\p{Cc}/gu, " ")
      .trim(),
    most,
  ).trimEnd();
  if (clean === "")
    throw new EmbeddingsRefused("a text that is empty or has only spaces has no vector");
  return clean;
}

/**
 * The first half of a prepared text; `undefined` for a text so short that its length cannot be the
 * reason of a refusal.
 */
export function firstHalf(text: string): string | undefined {
  const characters = [...text].length;
  return characters < 2 * SHORTEST ? undefined : prepared(text, Math.floor(characters / 2));
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = 0;
  for (let left = most; left > 0 && end < text.length; left--)
    end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

/**
 * ms that one call should take at the most: queries wait behind it where a server does one thing at
 * a time.
 */
const UNHURRIED = 2_000;
/** ms for which the last health check is reused. */
const HEALTH_LIFETIME_MS = 5_000;
/** Longest list of models that is read. */
const MAX_LIST_BYTES = 2 ** 20;

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
  /**
   * Texts of the next call: one at first, since the speed of the server is unknown. Long texts may
   * take a model seconds each.
   */
  #chunk = 1;
  #health: { asked: Promise<void>; until: number } | undefined;

  readonly #options: EmbeddingsOptions;

  constructor(options: EmbeddingsOptions) {
    this.#options = options;

    this.model = nameOf(options.model, options.passagePrefix, options.maxText);
    this.#http = new EmbeddingsHttp(options.url, options.key, options.pool);
  }

  async passages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    const { model, passagePrefix: prefix, maxText, timeout } = this.#options;
    const inputs = texts.map((text) => prepared(text, maxText));
    const vectors: Float32Array[] = [];
    while (vectors.length < inputs.length)
      vectors.push(
        // oxlint-disable-next-line arkgraph/spread-into-call -- vectors of one call, EMBEDDINGS_BATCH at most
        ...(await this.#taken(inputs.slice(vectors.length, vectors.length + this.#chunk), (chunk) =>
          this.#timed(chunk.length, () =>
            this.#embed(model, prefix, chunk, { timeout, setting: "EMBEDDINGS_TIMEOUT", signal }),
          ),
        )),
      );
    const [first] = vectors;
    const other = vectors.find(({ length }) => length !== first?.length);
    if (first && other)
      throw new EmbeddingsRefused(
        "the embeddings server sent an invalid answer: it has vectors of " +
          `${first.length} and of ${other.length} dimensions for ${model}`,
      );
    return vectors;
  }

  async query(text: string, signal?: AbortSignal): Promise<Float32Array> {
    const { queryModel, queryPrefix, maxText, queryTimeout, timeout } = this.#options;
    const limit = {
      ...(queryTimeout < timeout
        ? { timeout: queryTimeout, setting: "EMBEDDINGS_QUERY_TIMEOUT" }
        : { timeout, setting: "EMBEDDINGS_TIMEOUT" }),
      begun: performance.now(),
      signal,
    };
    return (
      await this.#taken([prepared(text, maxText)], (chunk) =>
        this.#embed(queryModel, queryPrefix, chunk, limit),
      )
    )[0]!;
  }

  health(): Promise<void> {
    if (!this.#health || performance.now() > this.#health.until) {
      const asked = this.#alive();
      const health = (this.#health = { asked, until: Infinity });
      const settled = (): void => void (health.until = performance.now() + HEALTH_LIFETIME_MS);
      void asked.then(settled, settled);
    }
    return this.#health.asked;
  }

  async close(): Promise<void> {
    this.#health = {
      asked: Promise.reject(unavailable("is not used any more: the registry is stopping")),
      until: Infinity,
    };
    this.#health.asked.catch(() => {});
    this.#http.close();
  }

  async #embed(
    model: string,
    prefix: string,
    texts: readonly string[],
    limit: Limit,
  ): Promise<Float32Array[]> {
    const json = { model, input: texts.map((text) => prefix + text), encoding_format: "float" };
    return vectorsOf(
      await this.#http.text("/embeddings", {
        json,
        longest: longestAnswer(texts.length),
        ...limit,
      }),
      texts.length,
    );
  }

  /**
   * Servers differ in how many texts they accept, and how long ones, and few publish their limits;
   * many refuse a text that is longer than their model reads. A refused list is split in half and
   * retried; of a single refused text the first half is sent.
   */
  async #taken(
    texts: readonly string[],
    embed: (texts: readonly string[]) => Promise<Float32Array[]>,
  ): Promise<Float32Array[]> {
    try {
      return await embed(texts);
    } catch (error) {
      if (!(error instanceof InputRefused)) throw error;
      const middle = Math.ceil(texts.length / 2);
      if (texts.length > 1)
        return [
          ...(await this.#taken(texts.slice(0, middle), embed)),
          ...(await this.#taken(texts.slice(middle), embed)),
        ];
      const shorter = firstHalf(texts[0]!);
      if (shorter === undefined) throw error;
      return await this.#taken([shorter], embed);
    }
  }

  /**
   * Does one call of so many texts, and adapts the batch size to its time: half as many texts after
   * a slow call, also if it was so slow that it failed, so that a retry gets further; twice as
   * many, up to the setting, after a quick one.
   */
  async #timed<T>(texts: number, call: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    const took = (): number => performance.now() - begun;
    try {
      const done = await call();
      if (took() < UNHURRIED / 4 && texts >= this.#chunk)
        this.#chunk = Math.min(this.#options.batch, texts * 2);
      return done;
    } finally {
      if (took() > UNHURRIED)
        this.#chunk = Math.max(1, Math.floor(Math.min(texts, this.#chunk) / 2));
    }
  }

  /**
   * A server that lists its models is healthy; one that does not, or refuses us the list, is asked
   * for a vector.
   */
  async #alive(): Promise<void> {
    const { healthTimeout: timeout, queryModel, queryPrefix } = this.#options;
    const limit = { timeout, begun: performance.now(), setting: "HEALTH_TIMEOUT" };
    try {
      await this.#http.text("/models", { longest: MAX_LIST_BYTES, ...limit });
    } catch (error) {
      if (!(error instanceof EmbeddingsRefused)) throw error;
      await this.#embed(queryModel, queryPrefix, ["well"], limit);
    }
  }
}
