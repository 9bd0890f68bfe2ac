/**
 * A registry as the commands use it: the stored login, requests over HTTP, and submissions until
 * they end.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { isIPv4 } from "node:net";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { getOrInsert } from "../src/get-or-insert.js";
import { lookupArk } from "../src/identifiers/ark.js";
import type { Finding } from "../src/model/findings.js";
import type { SubmissionView as Submission } from "../src/services/crates/submissions.js";
import { exactJsonText } from "../src/tabular/schema/exact-json.js";
import { Failure, visible } from "./terminal.js";

/** The stored data of a login. */
interface Login {
  token: string;
  /** ARK of the account. */
  user: string;
  name: string | null;
  /** Ms since 1970. */
  expires: number;
  /** Exchanged for the next token once that has expired. */
  refresh?: string;
}

/** What the registry returns for a password, or for a refresh token. */
export interface TokenAnswer {
  access_token: string;
  expires_in: number;
  refresh_token?: string;
}

/** Stores the tokens of a login. */
export async function storeLogin(
  address: string,
  { access_token: token, expires_in, refresh_token: refresh }: TokenAnswer,
  { user, name }: Pick<Login, "user" | "name">,
): Promise<Login> {
  const login: Login = {
    token,
    user,
    name,
    expires: Date.now() + expires_in * 1000,
    ...(refresh === undefined ? {} : { refresh }),
  };
  const { servers } = await readCredentials();
  await writeCredentials({ current: address, servers: { ...servers, [address]: login } });
  return login;
}

/** A request with a form of fields. */
export const fieldsForm = (fields: Record<string, string>): Sending => ({
  method: "POST",
  headers: { "Content-Type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(fields).toString(),
});

/** Logins by the address of the registry, and the most recent one. */
export interface Credentials {
  current?: string;
  servers: Record<string, Login>;
}

/**
 * The folder for the tool's own files (XDG Base Directory Specification: a path that is not
 * absolute does not count).
 */
function configFolder(): string {
  const given = process.env["XDG_CONFIG_HOME"];
  return join(
    given !== undefined && isAbsolute(given) ? given : join(homedir(), ".config"),
    "arkgraph",
  );
}
export const credentialsFile = (): string => join(configFolder(), "credentials.json");

/** @throws Failure when the file is invalid, or other users may read it */
export async function readCredentials(): Promise<Credentials> {
  const file = credentialsFile();
  let text: string;
  try {
    const { mode } = await stat(file);
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw new Failure(`${file} contains tokens and others can read it: run chmod 600 on it`);
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { servers: {} };
    throw error;
  }
  const damaged = new Failure(`${file} is damaged: remove it, and run arkgraph login again`);
  let value: Partial<Credentials> | null;
  try {
    value = JSON.parse(text) as Partial<Credentials> | null;
  } catch {
    throw damaged;
  }
  const sound = (login: unknown): boolean =>
    typeof (login as Partial<Login> | null)?.token === "string" &&
    typeof (login as Login).user === "string" &&
    typeof (login as Login).expires === "number";
  if (
    typeof value?.servers !== "object" ||
    value.servers === null ||
    !Object.values(value.servers).every(sound)
  )
    throw damaged;
  return value as Credentials;
}

/** Replaces the file, readable only for this user: a reader sees the old file or the new one. */
export async function writeCredentials(credentials: Credentials): Promise<void> {
  const folder = configFolder();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const temporary = join(folder, `.credentials.${randomBytes(6).toString("hex")}`);
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(credentials, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, credentialsFile());
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** A response with an error status. */
export class Refusal extends Failure {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string | undefined,
  ) {
    super(message);
  }
}

interface Item {
  loc?: unknown[];
  msg?: unknown;
}

/** The sentence of an error body: `{"detail","code"}`, or the items of a 422. */
function refusal(address: string, status: number, text: string): Refusal {
  let body: { detail?: unknown; code?: unknown; errors?: unknown } = {};
  try {
    body = (JSON.parse(text) as typeof body | null) ?? {};
  } catch {
    // Not a response of the registry itself: a page of a proxy, for example.
  }
  const code = typeof body.code === "string" ? body.code : undefined;
  // GraphQL has its own form of errors.
  const detail =
    body.detail ??
    (Array.isArray(body.errors)
      ? (body.errors[0] as { message?: unknown } | undefined)?.message
      : undefined);
  const stated =
    typeof detail === "string"
      ? detail
      : Array.isArray(detail)
        ? detail
            .map((item: Item) => `${(item.loc ?? []).join(".")}: ${String(item.msg)}`)
            .join("; ")
        : `${address} answered with status ${status}`;
  const hint = status === 401 && code !== "BAD_CREDENTIALS" ? " (run arkgraph login)" : "";
  return new Refusal(`${visible(stated)}${hint}`, status, code);
}

/** The address on which `npm start` listens. */
const DEFAULT_SERVER = "http://127.0.0.1:8080";

/** The stored form of a registry's address: without a slash at the end. @throws Failure */
function serverAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new Failure(`${text} is not the address of a registry: write http://… or https://…`);
  if (url.username !== "" || url.password !== "")
    throw new Failure(
      "the address of a registry holds no user name or password: leave them out, and run " +
        "arkgraph login",
    );
  if (url.search !== "" || url.hash !== "")
    throw new Failure(
      `${text} is not the address of a registry: leave out what begins with ? or #`,
    );
  return url.href.replace(/\/+$/, "");
}

/** True if data sent to this address stays on this machine or is encrypted. */
export function isPrivate(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return (
    protocol === "https:" ||
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    (isIPv4(hostname) && hostname.startsWith("127."))
  );
}

/** The registry could not be reached, or its response was incomplete: a retry may help. */
export class ConnectionError extends Failure {}

const TLS = /^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|HOSTNAME_MISMATCH|INVALID_CA)/;

/** The reason of a connection failure, as one sentence without the request's secrets. */
export function connectionError(address: string, error: NodeJS.ErrnoException): Failure {
  const { code = "" } = error;
  const options = { cause: error };
  if (code === "ECONNREFUSED")
    return new ConnectionError(
      `${address} refuses the connection: is the registry running there?`,
      options,
    );
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return new ConnectionError(
      `${address} cannot be found: is the name of the host right?`,
      options,
    );
  if (code === "ETIMEDOUT" || code === "ESOCKETTIMEDOUT")
    return new ConnectionError(`${address} does not answer (${error.message})`, options);
  if (code === "EHOSTUNREACH" || code === "ENETUNREACH" || code === "EADDRNOTAVAIL")
    return new ConnectionError(`${address} cannot be reached from here`, options);
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return new Failure(
      `the certificate of ${address} is for another host: is the name right?`,
      options,
    );
  if (code === "CERT_HAS_EXPIRED")
    return new Failure(`the certificate of ${address} has expired`, options);
  if (TLS.test(code))
    return new Failure(
      `the certificate of ${address} is not trusted (${code}): set NODE_EXTRA_CA_CERTS ` +
        "to the certificate of the authority that signed it",
      options,
    );
  if (code === "EPROTO" || code.startsWith("ERR_SSL"))
    return new Failure(
      `${address} does not speak TLS: is it http:// in place of https://?`,
      options,
    );
  if (code.startsWith("HPE_"))
    return new Failure(
      `${address} does not speak HTTP: is it https:// in place of http://, or another port?`,
      options,
    );
  return new ConnectionError(
    `${address} closed the connection before it answered (${code || error.message})`,
    options,
  );
}

interface Sending {
  method?: string;
  headers?: Record<string, string>;
  /**
   * A stream is sent as it is read, in chunked encoding if the headers have no `Content-Length`.
   */
  body?: string | Buffer | Readable;
  signal?: AbortSignal;
}

/** How long a connection may be idle, in ms. */
const SILENCE = 60_000;

/**
 * Sends one request. Resolves when the status has arrived; the caller reads the body from the
 * response.
 * @throws ConnectionError and Failure as {@link connectionError}; the error of a body that is a
 * stream; the signal's reason
 */
async function exchange(
  url: URL,
  { method = "GET", headers = {}, body, signal }: Sending,
): Promise<IncomingMessage> {
  const { request } =
    url.protocol === "https:" ? await import("node:https") : await import("node:http");
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false, ...(signal ? { signal } : {}) });
    const fail = (error: NodeJS.ErrnoException): void =>
      reject(
        signal?.aborted === true ? (signal.reason as Error) : connectionError(url.origin, error),
      );
    sent.setTimeout(SILENCE, () =>
      sent.destroy(
        Object.assign(new Error(`no data for ${SILENCE / 1000} s`), { code: "ETIMEDOUT" }),
      ),
    );
    // The registry may refuse a request before the whole body is sent; later errors of the socket
    // are ignored.
    sent.on("response", resolve);
    sent.on("error", fail);
    if (body === undefined || typeof body === "string" || Buffer.isBuffer(body)) sent.end(body);
    else {
      let broken: unknown;
      body.once("error", (error) => (broken = error));
      pipeline(body, sent).catch((error: NodeJS.ErrnoException) => {
        sent.destroy();
        if (broken !== undefined && broken === error) reject(error);
        else fail(error);
      });
    }
  });
}

/** The whole body of a response. @throws ConnectionError when the connection breaks */
async function readText(answer: IncomingMessage, url: URL): Promise<string> {
  const parts: Buffer[] = [];
  try {
    for await (const part of answer) parts.push(part as Buffer);
  } catch (error) {
    throw connectionError(url.origin, error as NodeJS.ErrnoException);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** The options of every command that select the registry. */
export interface ServerOption {
  server?: string;
}

/** The number of redirects that one request follows. */
const REDIRECTS = 5;

/** A registry that commands access over HTTP, like any client. */
export class Registry {
  readonly #token: string | undefined;
  readonly #signal: AbortSignal | undefined;

  /** @param address without a slash at the end; @param token never shown */
  constructor(
    readonly address: string,
    token: string | undefined,
    signal?: AbortSignal,
  ) {
    this.#token = token;
    this.#signal = signal;
  }

  /** The response to a request, with any status. @param path below the address, or a whole URL */
  async ask(path: string, sending: Sending = {}): Promise<IncomingMessage> {
    const own = new URL(this.address);
    let url = new URL(path.startsWith("/") ? `${this.address}${path}` : path);
    for (let turn = 0; turn <= REDIRECTS; turn++) {
      // Send the token only to this registry.
      const headers = {
        "User-Agent": "arkgraph",
        ...sending.headers,
        ...(this.#token !== undefined && url.origin === own.origin
          ? { Authorization: `Bearer ${this.#token}` }
          : {}),
      };
      const answer = await exchange(url, {
        ...sending,
        headers,
        ...(this.#signal ? { signal: this.#signal } : {}),
      });
      const {
        statusCode = 0,
        headers: { location },
      } = answer;
      if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) return answer;
      answer.resume();
      if ((sending.method ?? "GET") !== "GET")
        throw new Failure(
          `${url.origin} redirects to ${location}: give that address with --server`,
        );
      url = new URL(location, url);
      if (!/^https?:$/.test(url.protocol)) break;
    }
    throw new Failure(`${this.address} redirects too often`);
  }

  /** The same for a response that must be a success. @throws Refusal */
  async open(
    path: string,
    sending: Sending = {},
    accepted: readonly number[] = [200],
  ): Promise<IncomingMessage> {
    const answer = await this.ask(path, sending);
    if (accepted.includes(answer.statusCode ?? 0)) return answer;
    throw refusal(
      this.address,
      answer.statusCode ?? 0,
      await readText(answer, new URL(this.address)),
    );
  }

  async text(path: string, sending?: Sending): Promise<string> {
    return readText(await this.open(path, sending), new URL(this.address));
  }

  async json<T>(path: string, sending?: Sending): Promise<T> {
    const text = await this.text(path, sending);
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new Failure(`${this.address} did not answer with JSON: is it a registry?`, { cause });
    }
  }

  /** Sends JSON and reads JSON. */
  send<T>(method: "POST" | "PUT", path: string, body: unknown): Promise<T> {
    return this.json<T>(path, {
      method,
      headers: { "Content-Type": "application/json" },
      // A number that the registry cannot hold is its to refuse, with the place.
      body: exactJsonText(body),
    });
  }

  /** @throws Failure with the errors of GraphQL */
  async graphql<T>(query: string, variables: object = {}): Promise<T> {
    const { data, errors } = await this.send<{ data?: T; errors?: { message: string }[] }>(
      "POST",
      "/graphql",
      { query, variables },
    );
    if (errors && errors.length > 0)
      throw new Failure(errors.map(({ message }) => message).join("; "));
    return data as T;
  }
}

/**
 * Selects the registry: `--server`, else ARKGRAPH_SERVER, else the registry of the last login, else
 * the one on this machine. The token is ARKGRAPH_TOKEN, else that of the login to this registry.
 */
export async function openRegistry(
  { server }: ServerOption,
  { token: needed = false, signal }: { token?: boolean; signal?: AbortSignal } = {},
): Promise<Registry> {
  const { address, token, login } = await resolveServer(server);
  if (needed && token === undefined) {
    throw new Failure(
      login === undefined
        ? `you are not logged in to ${address}: run arkgraph login`
        : `the login to ${address} has expired: run arkgraph login again`,
    );
  }
  return new Registry(address, token, signal);
}

export async function resolveServer(
  server: string | undefined,
): Promise<{ address: string; token: string | undefined; login: Login | undefined }> {
  const credentials = await readCredentials();
  const address = serverAddress(
    server ?? (process.env["ARKGRAPH_SERVER"] || credentials.current) ?? DEFAULT_SERVER,
  );
  const login = Object.hasOwn(credentials.servers, address)
    ? credentials.servers[address]
    : undefined;
  const given = process.env["ARKGRAPH_TOKEN"] || undefined;
  return { address, token: given ?? (login && (await liveToken(address, login))), login };
}

/** Renewed this long (ms) before its end, so that it lasts for a command. */
const EARLY = 60_000;

/** The token of a login, a new one where it has expired; `undefined` once the login has ended. */
async function liveToken(address: string, login: Login): Promise<string | undefined> {
  const now = Date.now();
  const isLive = login.expires > now;
  if (login.refresh === undefined || login.expires > now + EARLY)
    return isLive ? login.token : undefined;
  try {
    const answer = await new Registry(address, undefined).json<TokenAnswer>(
      "/token/refresh",
      fieldsForm({ refresh_token: login.refresh }),
    );
    return (await storeLogin(address, answer, login)).token;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // Another command may have exchanged it at the same time.
    const stored = (await readCredentials()).servers[address];
    if (stored && stored.expires > now) return stored.token;
    return undefined;
  }
}

/** Reads an ARK that the user typed, in any accepted spelling. @throws Failure */
export function givenArk(text: string): string {
  const ark = lookupArk(text.replace(/^https?:\/\/[^?#]*?\/(?=ark:)/i, ""));
  if (ark === undefined)
    throw new Failure(
      `${text} is not an ARK: write ark:<NAAN>/<name>, e.g. ark:99999/dataset-cells`,
    );
  return ark.stored;
}

/**
 * An ARK in a path. The registry decodes a path once, so percent-encoded characters of the
 * identifier itself are preserved.
 */
export const arkPath = (ark: string): string =>
  ark.split("/").map(encodeURIComponent).join("/").replaceAll("%3A", ":");

/** The address under which a record opens, in a browser and as an argument of a command. */
export const addressOf = (registry: Registry, ark: string): string =>
  `${registry.address}/${arkPath(ark)}`;

/** A `multipart/form-data` request with one file (RFC 7578), sent as it is read. */
export function fileForm(file: {
  name: string;
  size: number | undefined;
  type: string;
  stream: Readable;
}): Sending {
  const boundary = `arkgraph-${randomUUID()}`;
  // A name in a header: quotes, backslashes and line breaks would end it.
  const name = file.name.replace(/[\p{Cc}"\\]/gu, "_");
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n` +
      `Content-Type: ${file.type}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* form(): AsyncGenerator<Buffer> {
    yield head;
    yield* file.stream as AsyncIterable<Buffer>;
    yield tail;
  }
  return {
    method: "POST",
    body: Readable.from(form(), { objectMode: false }),
    headers: {
      "Content-Type": `multipart/form-data; boundary=${boundary}`,
      ...(file.size === undefined
        ? {}
        : { "Content-Length": String(head.length + file.size + tail.length) }),
    },
  };
}

export type { Finding, Submission };

/** Ms between two polls: short at first, then longer. */
const SOONEST = 150;
const LATEST = 2000;
/** How long (ms) the registry may be unavailable before polling ends. */
const PATIENCE = 600_000;

export const readStatus = (registry: Registry, id: string): Promise<Submission> =>
  registry.json<Submission>(`/rocrate/upload/status/${encodeURIComponent(id)}`);

/**
 * Polls until the submission has ended. A restarted registry continues the submission, so temporary
 * errors are retried.
 * @param changed is called with each state, or with the reason while the registry does not answer
 * @throws Failure when the registry stays unavailable, or refuses
 */
export async function followSubmission(
  registry: Registry,
  id: string,
  changed: (state: Submission | { unavailable: string }) => void,
  signal: AbortSignal,
): Promise<Submission> {
  let pause = SOONEST;
  let unavailable: number | undefined;
  for (;;) {
    try {
      const submission = await readStatus(registry, id);
      unavailable = undefined;
      changed(submission);
      if (submission.completed) return submission;
    } catch (error) {
      if (!mayPass(error)) throw error;
      unavailable ??= Date.now();
      if (Date.now() - unavailable > PATIENCE)
        throw new Failure(
          `${(error as Error).message}; the upload may continue: ${resumeHint(id)}`,
          {
            cause: error,
          },
        );
      changed({ unavailable: (error as Error).message });
    }
    await sleep(pause, undefined, { signal });
    pause = Math.min(LATEST, pause * 1.3);
  }
}

const mayPass = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof Refusal && [429, 502, 503, 504].includes(error.status));

export const resumeHint = (id: string): string =>
  `see its progress with arkgraph status ${id} --wait`;

/** One finding on one line. */
export const findingLine = ({ file, pointer, message, code }: Finding): string => {
  const place = [file, pointer].filter((part) => part !== null && part !== "").join("#");
  const colon = file === null && (pointer ?? "") === "" ? "" : ": ";
  return visible(`${place}${colon}${message} (${code})`);
};

/** Findings of one code on one line: the first finding, and their number. */
export function groupedFindings(findings: readonly Finding[]): string[] {
  const byCode = new Map<string, { first: Finding; times: number }>();
  for (const first of findings)
    getOrInsert(byCode, first.code, () => ({ first, times: 0 })).times++;
  return [...byCode.values()].map(({ first, times }) => {
    const line = findingLine(first);
    return times === 1 ? line : line.replace(/\)$/, `, ${times} times)`);
  });
}

/** The address of all findings, if a group contains several. */
export const allWarnings = ({ submissionUUID, warnings }: Submission): string =>
  `see all ${warnings.length} warnings with arkgraph status ${submissionUUID} --json`;

/** The reason of the failure, as one sentence. */
export function failureOf({ error, submissionUUID }: Submission): Failure {
  const [first, ...more] = error ?? [];
  const rest =
    more.length === 0 ? "" : `, and ${more.length} more: arkgraph status ${submissionUUID}`;
  return new Failure(
    `the crate was not ingested: ${first ? findingLine(first) : "no reason was given"}${rest}` +
      // The message of the registry names the parameter of its API.
      (error?.some(({ code }) => code === "CRATE_EMPTIED") === true
        ? "; add --empty-linked to remove these statements"
        : ""),
  );
}
