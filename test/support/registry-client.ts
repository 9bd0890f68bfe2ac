import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

// eslint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
export type Json = Record<string, any>;
export interface User {
  ark: string;
  email: string;
  password: string;
  token: string;
}
export interface Answer {
  status: number;
  headers: Headers;
  body: Json;
  text: string;
}
export interface Sending {
  method?: string;
  token?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

/** The requests of tests, over HTTP; no method throws for a status. */
export class RegistryClient {
  constructor(readonly url: string) {}

  /**
   * @param sending a body that is text, bytes or a form goes as it is; anything else becomes JSON
   */
  async ask(path: string, { method, token, body, headers = {} }: Sending = {}): Promise<Answer> {
    const ready =
      typeof body === "string" ||
      body instanceof Uint8Array ||
      body instanceof FormData ||
      body instanceof URLSearchParams;
    const response = await fetch(new URL(path, this.url), {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined || body instanceof FormData || body instanceof URLSearchParams
          ? {}
          : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : {
            body: (ready ? body : JSON.stringify(body)) as NonNullable<
              ConstructorParameters<typeof Response>[0]
            >,
          }),
    });
    const text = await response.text();
    let parsed: Json = {};
    try {
      parsed = JSON.parse(text) as Json;
    } catch {
      // A page, a file: the text is what counts.
    }
    return { status: response.status, headers: response.headers, body: parsed, text };
  }

  /** A new user, logged in. */
  async user(name = "Ada"): Promise<User> {
    const email = `${name.toLowerCase()}-${randomUUID()}@example.org`;
    const password = "correct horse battery staple";
    const created = await this.ask("/user", { body: { name, email, password } });
    if (created.status !== 200) throw new Error(`no user: ${created.text}`);
    return {
      ark: created.body["@id"] as string,
      email,
      password,
      token: await this.login(email, password),
    };
  }

  async login(username: string, password: string): Promise<string> {
    const answer = await this.ask("/token", {
      body: new URLSearchParams({ grant_type: "password", username, password }),
    });
    if (answer.status !== 200) throw new Error(`no token: ${answer.text}`);
    return answer.body["access_token"] as string;
  }

  /** Uploads an archive; answers the submission as accepted. */
  async upload(
    archive: Uint8Array,
    token: string,
    { path = "/rocrate/upload-async", name = "crate.zip" } = {},
  ): Promise<Answer> {
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(archive)], { type: "application/zip" }), name);
    return this.ask(path, { token, body: form });
  }

  /** Polls a submission until it has ended. */
  async settled(submission: string, token: string, within = 100_000): Promise<Json> {
    const deadline = Date.now() + within;
    for (;;) {
      const { status, body, text } = await this.ask(`/rocrate/upload/status/${submission}`, {
        token,
      });
      if (status !== 200) throw new Error(`no status: ${text}`);
      if (body["completed"]) return body;
      if (Date.now() > deadline) throw new Error(`still ${body["status"]} at ${body["stage"]}`);
      await sleep(20);
    }
  }

  /** Uploads and waits for the end. */
  async take(archive: Uint8Array, token: string, within?: number): Promise<Json> {
    const { status, body, text } = await this.upload(archive, token);
    if (status !== 200) throw new Error(`not accepted: ${status} ${text}`);
    return this.settled(body["submissionUUID"] as string, token, within);
  }

  /** Sets the publication status, with further fields of the request where needed. */
  async publish(
    id: string,
    token: string,
    publicationStatus = "PUBLISHED",
    more: Json = {},
  ): Promise<void> {
    const body = { "@id": id, publicationStatus, ...more };
    const { status, text } = await this.ask("/publish", { method: "PUT", token, body });
    if (status !== 200) throw new Error(`not published: ${status} ${text}`);
  }

  graphql(query: string, variables: object = {}, token?: string): Promise<Answer> {
    return this.ask("/graphql", {
      body: { query, variables },
      ...(token === undefined ? {} : { token }),
    });
  }

  /** How many records the lists show, all kinds that crates bring. */
  async recordCount(): Promise<number> {
    const { body } = await this.graphql(
      "{ roCrates { totalCount } datasets { totalCount } softwares { totalCount } " +
        "computations { totalCount } dataDownloads { totalCount } entities { totalCount } " +
        "schemas { totalCount } mlModels { totalCount } samples { totalCount } " +
        "instruments { totalCount } experiments { totalCount } annotations { totalCount } }",
    );
    return Object.values(body["data"] as Record<string, { totalCount: number }>).reduce(
      (sum, { totalCount }) => sum + totalCount,
      0,
    );
  }
}
