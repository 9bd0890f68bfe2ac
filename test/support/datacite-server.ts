import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Json = Record<string, unknown>;
interface Stored {
  state: "draft" | "registered" | "findable";
  attributes: Json;
}

const JSON_API = "application/vnd.api+json";
const REQUIRED = ["creators", "titles", "publisher", "publicationYear", "types", "url"];

/**
 * The calls of DataCite's REST API that write DOIs, by its API document: JSON:API over PUT and
 * DELETE with basic authentication, a state machine (draft, registered, findable), and metadata
 * that only drafts may lack. Faults can be set, as its own overload and outages.
 */
export class DataCiteServer {
  readonly dois = new Map<string, Stored>();
  /** Every request that was answered: its method, its DOI and its status. */
  readonly log: [method: string, doi: string, status: number][] = [];
  /** Statuses of the next answers, before anything is done. */
  readonly faults: number[] = [];
  /** Answers nothing while true. */
  silent = false;
  password = "secret pass";
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((req, res) => void this.#answer(req, res));
  }

  static async start(): Promise<DataCiteServer> {
    const own = new DataCiteServer();
    await new Promise<void>((resolve) => own.#server.listen(0, "127.0.0.1", resolve));
    return own;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (this.silent) return;
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    const doi = decodeURIComponent(req.url!.replace(/^\/dois\//, "")).toLowerCase();
    const [status, body] = this.#decide(req, doi, Buffer.concat(parts).toString("utf8"));
    this.log.push([req.method!, doi, status]);
    res.writeHead(status, { "Content-Type": `${JSON_API}; charset=utf-8` });
    res.end(body === undefined ? undefined : JSON.stringify(body));
  }

  #decide(req: IncomingMessage, doi: string, text: string): [number, Json?] {
    const fault = this.faults.shift();
    if (fault !== undefined) return error(fault, "This is a fault.");
    const expected = Buffer.from(`TEST.REPO:${this.password}`).toString("base64");
    if (req.headers.authorization !== `Basic ${expected}`) return error(401, "Bad credentials.");
    if (!req.url!.startsWith("/dois/10.5072/")) return error(403, "You are not authorized.");
    const before = this.dois.get(doi);
    if (req.method === "DELETE") {
      if (!before) return error(404, "The resource you are looking for doesn't exist.");
      if (before.state !== "draft") return error(405, "Method not allowed");
      this.dois.delete(doi);
      return [204];
    }
    if (req.method !== "PUT") return error(405, "Method not allowed");
    if (req.headers["content-type"] !== JSON_API) return error(415, "Unsupported media type");
    let data: { type?: unknown; attributes?: Json };
    try {
      data = (JSON.parse(text) as { data: typeof data }).data;
    } catch {
      return error(400, "You need to provide a payload following the JSONAPI spec");
    }
    if (data?.type !== "dois" || typeof data.attributes !== "object")
      return error(400, "You need to provide a payload following the JSONAPI spec");
    const { event, doi: named, ...sent } = data.attributes;
    if (named !== undefined && named !== doi) return error(422, "doi: can't be changed");
    const attributes = { ...before?.attributes, ...sent };
    const state =
      event === "publish"
        ? "findable"
        : event === "hide"
          ? before?.state === "findable"
            ? "registered"
            : (before?.state ?? "draft")
          : (before?.state ?? "draft");
    if (state !== "draft") {
      const missing = REQUIRED.filter((name) => {
        const value = attributes[name];
        return value === undefined || value === null || (Array.isArray(value) && !value.length);
      });
      if (missing.length > 0) return error(422, `${missing.join(", ")}: can't be blank`);
    }
    if ((attributes["titles"] as { title: string }[] | undefined)?.[0]?.title === "Refuse this")
      return error(422, `titles: refused by ${this.password}`);
    this.dois.set(doi, { state, attributes });
    return [
      before ? 200 : 201,
      { data: { id: doi, type: "dois", attributes: { ...attributes, doi, state } } },
    ];
  }
}

const error = (status: number, title: string): [number, Json] => [
  status,
  { errors: [{ status: String(status), title }] },
];
