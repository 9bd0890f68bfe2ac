import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "../failure.js";

/** What the demo reads of a submission. */
export interface Submission {
  submissionUUID: string;
  status: string;
  stage: string | null;
  progress: { done: number; total: number | null; unit: string } | null;
  completed: boolean;
  success: boolean;
  error: { file: string | null; message: string; code: string }[] | null;
  warnings: unknown[];
  identifiersMinted: number;
  rocrateIdentifier: string | null;
}

/** Bytes handed to the network at a time; small enough to see an upload move. */
const PIECE = 4096;
const POLL = 100;

/** Talks to a registry as any client would: HTTP and nothing else. */
export class Client {
  private token: string | undefined;
  /** @param base address without a slash at the end */
  constructor(readonly base: string, private readonly signal: AbortSignal) {}

  get accessToken(): string {
    return this.token ?? "";
  }

  /** Registers a user; answers its identifier. */
  async register(user: { name: string; email: string; password: string }): Promise<string> {
    return (await this.json<{ "@id": string }>("/user", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(user) }))["@id"];
  }

  async login(username: string, password: string): Promise<void> {
    const answer = await this.json<{ access_token: string }>("/token", { method: "POST", body: new URLSearchParams({ grant_type: "password", username, password }) });
    this.token = answer.access_token;
  }

  /** Sends an archive in pieces. @param sent called with the bytes sent so far */
  async upload(archive: Buffer, name: string, sent: (bytes: number) => void): Promise<Submission> {
    const boundary = `arkgraph-${randomUUID()}`;
    async function* form(): AsyncGenerator<Buffer> {
      yield Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/zip\r\n\r\n`);
      for (let from = 0; from < archive.length; from += PIECE) {
        yield archive.subarray(from, from + PIECE);
        sent(Math.min(from + PIECE, archive.length));
      }
      yield Buffer.from(`\r\n--${boundary}--\r\n`);
    }
    const request = { method: "POST", headers: { "Content-Type": `multipart/form-data; boundary=${boundary}` }, body: ReadableStream.from(form()), duplex: "half" };
    return this.json<Submission>("/rocrate/upload-async", request as RequestInit);
  }

  /** Asks for the state of a submission until it has ended. */
  async settled({ submissionUUID }: Submission, changed: (submission: Submission) => void): Promise<Submission> {
    for (;;) {
      const submission = await this.json<Submission>(`/rocrate/upload/status/${submissionUUID}`);
      changed(submission);
      if (submission.completed) return submission;
      await sleep(POLL, undefined, { signal: this.signal });
    }
  }

  async json<T>(path: string, init: RequestInit = {}): Promise<T> {
    return (await (await this.fetch(path, init)).json()) as T;
  }

  async bytes(path: string): Promise<Buffer> {
    return Buffer.from(await (await this.fetch(path)).arrayBuffer());
  }

  /** @param path below the registry's address, or an address of the registry. @throws Failure when the answer is not 200 */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const method = init.method ?? "GET";
    const headers = new Headers(init.headers);
    if (this.token !== undefined) headers.set("Authorization", `Bearer ${this.token}`);
    const response = await fetch(new URL(path, this.base), { ...init, headers, signal: this.signal }).catch((error: Error) => {
      if (this.signal.aborted) throw error;
      throw new Failure(`${method} ${path} got no answer: ${(error.cause as Error | undefined)?.message ?? error.message}`);
    });
    if (response.status === 200) return response;
    throw new Failure(`${method} ${path} answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
  }
}
