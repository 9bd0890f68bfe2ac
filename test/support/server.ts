import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configWithBounds } from "./config.js";
import type { JsonObject } from "../../src/model/field.js";
import { serve, type Running } from "../../src/app/serve.js";
import type { Caller } from "../../src/services/access/rules.js";
import type { Deps } from "../../src/services/deps.js";
import type { Log } from "../../src/log.js";

/** For bodies that are streams; the types of browsers do not know it. */
export const HALF_DUPLEX = { duplex: "half" } as RequestInit;

/** One answer, read whole. */
export interface Answer<T = JsonObject> {
  status: number;
  headers: Headers;
  text: string;
  body: T;
}
export interface RequestOptions {
  token?: string;
  headers?: Record<string, string>;
  json?: unknown;
  body?: RequestInit["body"] | Uint8Array;
  redirect?: "manual" | "follow";
}

/** Someone with an account. */
export interface Person {
  id: string;
  email: string;
  password: string;
  token: string;
  caller: Caller;
}

/** A registry in this process, listening on a free port, with its data in a folder of its own. */
export interface TestServer {
  url: string;
  deps: Deps;
  adminToken: string;
  /** Errors the registry logged: a request that made one ended in a fault. */
  faults: { fields: object; message: string }[];
  request<T = JsonObject>(
    method: string,
    path: string,
    options?: RequestOptions,
  ): Promise<Answer<T>>;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- says what is expected
  graphql<T = JsonObject>(
    query: string,
    variables?: object,
    token?: string,
  ): Promise<
    Answer<{
      data: T;
      errors?: {
        message: string;
        path?: unknown[];
        extensions: { code: string; detail?: unknown };
      }[];
    }>
  >;
  /** Makes an account and logs in. */
  person(name: string, options?: { admin?: boolean }): Promise<Person>;
  stop(): Promise<void>;
}

export const PASSWORD = "correct horse battery staple";

export async function startServer(settings: Record<string, string> = {}): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), "arkgraph-doors-"));
  const faults: TestServer["faults"] = [];
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (fields, message) => void faults.push({ fields, message }),
  };
  const config = configWithBounds({
    PORT: "0",
    DATA_DIR: folder,
    LOGIN_RATE: "off",
    SIGNUP_RATE: "off",
    // A busy machine takes longer than a client waits.
    INDEX_WAIT: "20s",
    ...settings,
  });
  let running: Running;
  try {
    running = await serve(config, log);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  const {
    url,
    registry: { deps },
    adminToken,
  } = running;

  const request = async <T>(
    method: string,
    path: string,
    { token, headers = {}, json, body, redirect = "manual" }: RequestOptions = {},
  ): Promise<Answer<T>> => {
    const answer = await fetch(url + path, {
      method,
      redirect,
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(json === undefined
        ? body === undefined
          ? {}
          : { body: body as BodyInit }
        : { body: JSON.stringify(json) }),
    });
    const text = await answer.text();
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = undefined;
    }
    return { status: answer.status, headers: answer.headers, text, body: parsed as T };
  };

  return {
    url,
    deps,
    adminToken: adminToken!,
    faults,
    request,
    graphql: (query, variables = {}, token) =>
      request("POST", "/graphql", {
        json: { query, variables },
        ...(token === undefined ? {} : { token }),
      }),
    async person(name, { admin = false } = {}) {
      const id = `ark:99999/user-${name}`;
      const email = `${name}@example.org`;
      const made = await request("POST", "/user", {
        json: { "@id": id, name, email, password: PASSWORD, ...(admin ? { adminToken } : {}) },
      });
      if (made.status !== 200) throw new Error(`no account for ${name}: ${made.text}`);
      const token = await request<{ access_token: string }>("POST", "/token", {
        json: { username: email, password: PASSWORD },
      });
      return {
        id,
        email,
        password: PASSWORD,
        token: token.body.access_token,
        caller: { user: id, admin },
      };
    },
    async stop() {
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
