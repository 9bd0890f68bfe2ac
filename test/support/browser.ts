import type { Person } from "./server.js";

/** What a browser sends that has signed in: its cookie, and what pages add. */
export class Browser {
  readonly cookie: string;
  readonly csrf: string;
  readonly #origin: string;

  constructor(origin: string, cookie: string, csrf: string) {
    this.#origin = origin;
    this.cookie = cookie;
    this.csrf = csrf;
  }

  /** @param origin of the page, where it is not the address that is called */
  static async signIn(
    url: string,
    { email, password }: Pick<Person, "email" | "password">,
    origin = url,
  ): Promise<Browser> {
    const answer = await fetch(`${url}/session`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: origin },
      body: JSON.stringify({ username: email, password }),
    });
    const text = await answer.text();
    const cookie = answer.headers.getSetCookie()[0]?.split(";", 1)[0];
    if (!answer.ok || cookie === undefined) throw new Error(`${answer.status} ${text}`);
    return new Browser(origin, cookie, (JSON.parse(text) as { csrf: string }).csrf);
  }

  /** Headers of a request of one of the registry's own pages. */
  get headers(): Record<string, string> {
    return {
      Cookie: `theme=dark; ${this.cookie}`,
      Origin: this.#origin,
      "Sec-Fetch-Site": "same-origin",
      "X-CSRF-Token": this.csrf,
    };
  }
}
