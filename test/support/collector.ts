import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

type Value = {
  stringValue?: string;
  intValue?: number | string;
  boolValue?: boolean;
  doubleValue?: number;
};
interface Attribute {
  key: string;
  value: Value;
}
interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  traceState?: string;
  attributes?: Attribute[];
  events?: { name: string; attributes?: Attribute[] }[];
  status?: { code?: number; message?: string };
}
interface OtlpRequest {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
}

/** `SpanKind` of OTLP. */
export const KIND = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;

export interface ReceivedSpan extends Omit<OtlpSpan, "attributes" | "events"> {
  attributes: Record<string, string | number | boolean | undefined>;
  events: string[];
  resource: Record<string, string | number | boolean | undefined>;
}

/** A collector that accepts traces as OTLP in JSON over HTTP, and stores them. */
export class Collector {
  readonly spans: ReceivedSpan[] = [];
  /** The raw requests: reading them loses no data. */
  readonly bodies: string[] = [];
  readonly headers: IncomingHttpHeaders[] = [];

  readonly #server: Server;

  private constructor(
    server: Server,
    readonly url: string,
  ) {
    this.#server = server;
  }

  /** @param silent accepts requests and never answers */
  static async start({ silent = false } = {}): Promise<Collector> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const collector = new Collector(
      server,
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    );
    server.on("request", async (req, res) => {
      let text = "";
      for await (const chunk of req.setEncoding("utf8")) text += chunk;
      if (
        req.method !== "POST" ||
        req.url !== "/v1/traces" ||
        req.headers["content-type"] !== "application/json"
      )
        return void res.writeHead(404).end();
      collector.headers.push(req.headers);
      collector.bodies.push(text);
      for (const { resource, scopeSpans } of (JSON.parse(text) as OtlpRequest).resourceSpans)
        for (const span of scopeSpans.flatMap(({ spans }) => spans))
          collector.spans.push({
            ...span,
            attributes: plain(span.attributes),
            events: (span.events ?? []).map(({ name }) => name),
            resource: plain(resource.attributes),
          });
      if (!silent) res.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    });
    return collector;
  }

  named(name: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const plain = (attributes: readonly Attribute[] = []) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ??
        value.boolValue ??
        value.doubleValue ??
        (value.intValue === undefined ? undefined : Number(value.intValue)),
    ]),
  );
