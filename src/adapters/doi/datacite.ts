import type { IncomingMessage } from "node:http";
import { Outage } from "../../errors.js";
import { isFault, isWell, KeptConnections } from "../../storage/connections.js";
import { DoiRefused, type DoiService, type DoiState } from "./port.js";

/** Media type of JSON:API. */
const JSON_API = "application/vnd.api+json";
/** Connections at a time: jobs about DOIs run one after the other. */
const POOL = 2;
/** Bytes of the longest answer that is read. */
const MAX_ANSWER_BYTES = 2 ** 20;
/** Characters of the service's own words that are passed on. */
const MAX_MESSAGE_CHARS = 300;
/** The request itself is at fault. */
const REFUSED: ReadonlySet<number> = new Set([400, 409, 413, 415, 422]);
const STATES: ReadonlySet<string> = new Set<DoiState>(["draft", "registered", "findable"]);

interface DataCiteSettings {
  /** Address of the REST API, without a slash at the end. */
  url: string;
  repository: string;
  password: string;
  prefix: string;
  /** Most ms of one call. */
  timeout: number;
}

/** @param reason names settings, no hosts and no secrets */
const unavailable = (reason: string): Outage => new Outage(`the DOI service ${reason}`);

/**
 * DataCite's REST API (support.datacite.org/reference). A DOI is written by PUT, which creates one
 * that does not exist, so that every call may be repeated. Redirections are not followed.
 */
export class DataCite implements DoiService {
  readonly prefix: string;
  readonly #settings: DataCiteSettings;
  readonly #authorization: string;
  readonly #connections = new KeptConnections(POOL);

  constructor(settings: DataCiteSettings) {
    this.#settings = settings;
    this.prefix = settings.prefix;
    this.#authorization = `Basic ${Buffer.from(
      `${settings.repository}:${settings.password}`,
    ).toString("base64")}`;
  }

  async put(
    doi: string,
    attributes: Readonly<Record<string, unknown>>,
    event: "publish" | "hide" | undefined,
    signal: AbortSignal,
  ): Promise<DoiState> {
    const data = {
      id: doi,
      type: "dois",
      attributes: { ...attributes, doi, ...(event === undefined ? {} : { event }) },
    };
    const { status, text } = await this.#call("PUT", doi, { data }, signal);
    if (status < 200 || status > 299) throw this.#refusal(status, text);
    const state = stateIn(text);
    if (state === undefined) throw unavailable("sent an answer without the state of the DOI");
    return state;
  }

  async deleteDraft(doi: string, signal: AbortSignal): Promise<boolean> {
    const { status, text } = await this.#call("DELETE", doi, undefined, signal);
    // A DOI that is not there was deleted by an earlier attempt.
    if (status === 404 || (status >= 200 && status <= 299)) return true;
    if (status === 405 || status === 422) return false;
    throw this.#refusal(status, text);
  }

  close(): void {
    this.#connections.close();
  }

  async #call(
    method: "PUT" | "DELETE",
    doi: string,
    body: unknown,
    signal: AbortSignal,
  ): Promise<{ status: number; text: string }> {
    const { url, timeout } = this.#settings;
    const late = AbortSignal.timeout(timeout);
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body), "utf8");
    try {
      const answer = await this.#connections.send(
        new URL(`${url}/dois/${doi.split("/").map(encodeURIComponent).join("/")}`),
        {
          method,
          headers: {
            Accept: JSON_API,
            Authorization: this.#authorization,
            ...(bytes && { "Content-Type": JSON_API, "Content-Length": String(bytes.length) }),
          },
          signal: AbortSignal.any([signal, late]),
        },
        bytes,
      );
      return { status: answer.statusCode!, text: await textOf(answer) };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (late.aborted) throw unavailable(`did not answer within DATACITE_TIMEOUT=${timeout} ms`);
      throw isFault(error) ? unavailable(`cannot be reached (${error.code})`) : error;
    }
  }

  #refusal(status: number, text: string): Error {
    if (status === 401 || status === 403)
      return unavailable(
        `answers ${status}: check DATACITE_REPOSITORY, DATACITE_PASSWORD and DATACITE_PREFIX`,
      );
    if (status === 404)
      return unavailable("answers 404: check DATACITE_URL, to which /dois is appended");
    if (status >= 300 && status < 400)
      return unavailable(`answers ${status}, a redirect, which is not followed; set DATACITE_URL`);
    const words = this.#wordsOf(text);
    const message = `answers ${status}${words === "" ? "" : `: ${words}`}`;
    return REFUSED.has(status)
      ? new DoiRefused(`the DOI service ${message}`)
      : unavailable(message);
  }

  /** `errors[].title` as JSON:API has it, in one line and without the password. */
  #wordsOf(text: string): string {
    let words = "";
    try {
      const { errors } = JSON.parse(text) as {
        errors?: { source?: unknown; title?: unknown }[];
      };
      words = (Array.isArray(errors) ? errors : [])
        .map(({ source, title }) =>
          [source, title].filter((part) => typeof part === "string" && part !== "").join(": "),
        )
        .join("; ");
    } catch {
      // Not every proxy in front of a server speaks JSON.
    }
    const line = words
      .replaceAll(this.#settings.password, "…")
      .replaceAll(/[\s\p{Cc}]+/gu, " ")
      .trim();
    return line.length > MAX_MESSAGE_CHARS
      ? `${line.slice(0, MAX_MESSAGE_CHARS).toWellFormed()}…`
      : line;
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer) {
    if ((size += (part as Buffer).length) > MAX_ANSWER_BYTES) {
      answer.destroy();
      if (isWell(answer)) throw unavailable(`sent an answer longer than ${MAX_ANSWER_BYTES} bytes`);
      break;
    }
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString("utf8");
}

function stateIn(text: string): DoiState | undefined {
  try {
    const { data } = JSON.parse(text) as { data?: { attributes?: { state?: unknown } } };
    const state = data?.attributes?.state;
    return typeof state === "string" && STATES.has(state) ? (state as DoiState) : undefined;
  } catch {
    return undefined;
  }
}
