import { PASSWORD, type TestServer } from "./server.js";

const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

/** A browser without scripts, for one person. */
export class Reader {
  readonly #server: TestServer;
  #cookie = "";

  constructor(server: TestServer) {
    this.#server = server;
  }

  async signIn(username: string, password = PASSWORD): Promise<number> {
    const answer = await this.#send("/signin", { username, password });
    this.#cookie = answer.headers.get("set-cookie")?.split(";", 1)[0] ?? this.#cookie;
    return answer.status;
  }

  async get(path: string): Promise<{ status: number; text: string; location: string | null }> {
    const answer = await fetch(this.#server.url + path, {
      redirect: "manual",
      headers: { ...BROWSER, Cookie: this.#cookie },
    });
    return {
      status: answer.status,
      text: await answer.text(),
      location: answer.headers.get("location"),
    };
  }

  /** Sends a form of the page at `path`, with the token that the page holds. */
  async send(path: string, fields: Record<string, string> | [string, string][]) {
    const page = await this.get(path);
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
    const answer = await this.#send(path, [
      ["csrf", csrf],
      ...(Array.isArray(fields) ? fields : Object.entries(fields)),
    ]);
    const cookie = answer.headers.get("set-cookie")?.split(";", 1)[0];
    if (cookie !== undefined) this.#cookie = cookie;
    return {
      status: answer.status,
      text: await answer.text(),
      location: answer.headers.get("location"),
    };
  }

  #send(path: string, fields: Record<string, string> | [string, string][]): Promise<Response> {
    return fetch(this.#server.url + path, {
      method: "POST",
      redirect: "manual",
      headers: { ...BROWSER, Origin: this.#server.url, Cookie: this.#cookie },
      body: new URLSearchParams(fields),
    });
  }
}
