import { datasetBody } from "./documents.js";
import type { Server } from "./server.js";

/** Requests of the benches besides load. @throws Error for any answer but 200 */
async function send(url: string, init?: RequestInit): Promise<Response> {
  const answer = await fetch(url, init);
  if (answer.status !== 200)
    throw new Error(`${url} answered ${answer.status}: ${(await answer.text()).slice(0, 500)}`);
  return answer;
}

/** A user of a registry, with a token. */
export class Client {
  private constructor(
    readonly url: string,
    readonly user: string,
    readonly token: string,
  ) {}

  static async register({ url }: Pick<Server, "url">): Promise<Client> {
    const email = "bench@example.org";
    const password = "correct horse battery staple";
    const body = JSON.stringify({ name: "Bench User", email, password });
    const user = (await (
      await send(`${url}/user`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
      })
    ).json()) as { "@id": string };
    const token = (await (
      await send(`${url}/token`, {
        method: "POST",
        body: new URLSearchParams({ username: email, password }),
      })
    ).json()) as { access_token: string };
    return new Client(url, user["@id"], token.access_token);
  }

  /** Creating a dataset of 1 KB, as autocannon takes it. */
  creating(): { url: string; method: string; headers: Record<string, string>; body: string } {
    return {
      url: `${this.url}/dataset`,
      method: "POST",
      headers: { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" },
      body: JSON.stringify(datasetBody(this.user)),
    };
  }

  async create(path: string, document: object): Promise<{ "@id": string }> {
    const headers = { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" };
    return (await (
      await send(`${this.url}${path}`, { method: "POST", headers, body: JSON.stringify(document) })
    ).json()) as { "@id": string };
  }

  /** Changes a record by JSON Merge Patch. */
  patch(path: string, changes: object): Promise<Response> {
    const headers = {
      Authorization: `Bearer ${this.token}`,
      "Content-Type": "application/merge-patch+json",
    };
    return send(`${this.url}${path}`, { method: "PATCH", headers, body: JSON.stringify(changes) });
  }

  /** @throws Error with the first error of the answer */
  async graphql<Data>(query: string, variables: object): Promise<Data> {
    const headers = { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" };
    const { data, errors } = (await (
      await send(`${this.url}/graphql`, {
        method: "POST",
        headers,
        body: JSON.stringify({ query, variables }),
      })
    ).json()) as { data: Data; errors?: { message: string }[] };
    if (errors) throw new Error(errors[0]!.message);
    return data;
  }

  get(path: string): Promise<Response> {
    return send(`${this.url}${path}`);
  }

  /**
   * Uploads a crate and waits until it is ingested.
   * @returns the crate's identifier
   * @throws Error with its findings when it was refused
   */
  async upload(archive: Uint8Array<ArrayBuffer>): Promise<string> {
    const form = new FormData();
    form.set("file", new Blob([archive], { type: "application/zip" }), "crate.zip");
    const answer = await send(`${this.url}/rocrate/upload`, {
      method: "POST",
      headers: { Authorization: `Bearer ${this.token}` },
      body: form,
    });
    const { submission } = (await answer.json()) as {
      submission: { status: string; error: unknown; rocrateIdentifier: string };
    };
    if (submission.status !== "finished")
      throw new Error(
        `the crate was not ingested: ${JSON.stringify(submission.error).slice(0, 500)}`,
      );
    return submission.rocrateIdentifier;
  }
}
