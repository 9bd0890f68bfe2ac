import type { IncomingMessage } from "node:http";
import { lookupArk } from "../../src/identifiers/ark.js";
import { Failure } from "../failure.js";
import { readCredentials, type Login } from "./credentials.js";
import { refusal } from "./refusal.js";
import { DEFAULT_SERVER, serverAddress } from "./server.js";
import { exchange, readText, type Sending } from "./transport.js";

/** Which registry, as every command takes it. */
export interface ServerOption { server?: string }

/** Followed redirects of one request. */
const REDIRECTS = 5;

/** A registry as its commands talk to it: over HTTP, like any client. */
export class Registry {
  /** @param address without a slash at the end; @param token never shown */
  constructor(readonly address: string, private readonly token: string | undefined, private readonly signal?: AbortSignal) {}

  /** The answer of a request, whatever its status. @param path below the address, or a whole URL */
  async ask(path: string, sending: Sending = {}): Promise<IncomingMessage> {
    const own = new URL(this.address);
    let url = new URL(path.startsWith("/") ? `${this.address}${path}` : path);
    for (let turn = 0; turn <= REDIRECTS; turn++) {
      // The token is for this registry alone.
      const headers = { "User-Agent": "arkgraph", ...sending.headers, ...(this.token !== undefined && url.origin === own.origin ? { Authorization: `Bearer ${this.token}` } : {}) };
      const answer = await exchange(url, { ...sending, headers, ...(this.signal ? { signal: this.signal } : {}) });
      const { statusCode = 0, headers: { location } } = answer;
      if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) return answer;
      answer.resume();
      if ((sending.method ?? "GET") !== "GET") throw new Failure(`${url.origin} redirects to ${location}: give that address with --server`);
      url = new URL(location, url);
      if (!/^https?:$/.test(url.protocol)) break;
    }
    throw new Failure(`${this.address} redirects too often`);
  }

  /** The same for an answer that must be a success. @throws Refusal */
  async open(path: string, sending: Sending = {}, accepted: readonly number[] = [200]): Promise<IncomingMessage> {
    const answer = await this.ask(path, sending);
    if (accepted.includes(answer.statusCode ?? 0)) return answer;
    throw refusal(this.address, answer.statusCode ?? 0, await readText(answer, new URL(this.address)));
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
    return this.json<T>(path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  }

  /** @throws Failure with what GraphQL refuses */
  async graphql<T>(query: string, variables: object = {}): Promise<T> {
    const { data, errors } = await this.send<{ data?: T; errors?: { message: string }[] }>("POST", "/graphql", { query, variables });
    if (errors && errors.length > 0) throw new Failure(errors.map(({ message }) => message).join("; "));
    return data as T;
  }
}

/**
 * The registry that is meant: `--server`, else ARKGRAPH_SERVER, else that of the last login, else this machine's.
 * The token is ARKGRAPH_TOKEN, else that of the login there.
 */
export async function openRegistry({ server }: ServerOption, { token: needed = false, signal }: { token?: boolean; signal?: AbortSignal } = {}): Promise<Registry> {
  const { address, token, login } = await resolveServer(server);
  if (needed && token === undefined) {
    throw new Failure(login === undefined ? `you are not logged in to ${address}: run arkgraph login` : `the login to ${address} has expired: run arkgraph login again`);
  }
  return new Registry(address, token, signal);
}

export async function resolveServer(server: string | undefined): Promise<{ address: string; token: string | undefined; login: Login | undefined }> {
  const credentials = await readCredentials();
  const address = serverAddress(server ?? (process.env["ARKGRAPH_SERVER"] || credentials.current) ?? DEFAULT_SERVER);
  const login = Object.hasOwn(credentials.servers, address) ? credentials.servers[address] : undefined;
  const stored = login && login.expires > Date.now() ? login.token : undefined;
  return { address, token: process.env["ARKGRAPH_TOKEN"] || stored, login };
}

/** The ARK that someone typed, in any accepted spelling. @throws Failure */
export function givenArk(text: string): string {
  const ark = lookupArk(text.replace(/^https?:\/\/[^?#]*?\/(?=ark:)/i, ""));
  if (ark === undefined) throw new Failure(`${text} is not an ARK: write ark:<NAAN>/<name>, e.g. ark:99999/dataset-cells`);
  return ark;
}

/** An ARK in a path, which is decoded once: what is percent-encoded in the identifier itself stays so. */
export const arkPath = (ark: string): string => ark.split("/").map(encodeURIComponent).join("/").replaceAll("%3A", ":");
