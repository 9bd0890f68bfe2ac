import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type GraphQLSchema, lexicographicSortSchema, printSchema } from "graphql";
import { ServiceError } from "../errors.js";
import { notModified } from "../http/negotiation.js";
import { SAFE_HEADERS, sendBytes } from "../http/reply.js";

/** Caches ask again with If-None-Match: a new version may bring another schema at any time. */
const CACHE = "public, no-cache";

/** The schema as `graphql/schema.graphql` has it, for clients of this registry. */
export class SchemaFile {
  readonly #schema: GraphQLSchema;
  #printed: { bytes: Buffer; etag: string } | undefined;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** @throws ServiceError `METHOD_NOT_ALLOWED` */
  send(req: IncomingMessage, res: ServerResponse): void {
    if (req.method !== "GET" && req.method !== "HEAD")
      throw new ServiceError(
        "METHOD_NOT_ALLOWED",
        "The schema supports only GET and HEAD.",
        {},
        { Allow: "GET, HEAD" },
      );
    this.#printed ??= this.#print();
    const { bytes, etag } = this.#printed;
    const headers = { ETag: etag, "Cache-Control": CACHE };
    if (notModified(req, etag))
      return void res.writeHead(304, { ...SAFE_HEADERS, ...headers }).end();
    sendBytes(req, res, bytes, { type: "application/graphql; charset=utf-8", headers });
  }

  #print(): { bytes: Buffer; etag: string } {
    const bytes = Buffer.from(`${printSchema(lexicographicSortSchema(this.#schema))}\n`);
    const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 27);
    // Weak: the compressed answers have it too.
    return { bytes, etag: `W/"${hash}"` };
  }
}
