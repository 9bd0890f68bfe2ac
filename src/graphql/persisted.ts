import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { GraphQLError } from "graphql";
import { ConfigError } from "../config/config.js";
import type { GraphqlCode } from "./codes.js";

/** Most documents that clients have stored, and most characters of all of them. */
const [MOST, MOST_LENGTH] = [1_000, 4 * 2 ** 20];
/** Largest file of trusted documents, in characters. */
const MOST_TRUSTED = 64 * 2 ** 20;
const HASH = /^[0-9a-f]{64}$/;

const hashOf = (query: string): string => createHash("sha256").update(query).digest("hex");
const refused = (code: GraphqlCode | "BAD_REQUEST", message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code } });

/**
 * Documents by their SHA-256: those that clients have sent before (Apollo's protocol of automatic
 * persisted queries), and a list of trusted ones, beside which no others are answered.
 */
export class PersistedDocuments {
  /** Least recently used first. */
  readonly #stored = new Map<string, string>();
  #length = 0;
  readonly #trusted: ReadonlyMap<string, string> | undefined;

  /** @throws ConfigError for a file that is not a list of documents */
  constructor(trustedFile: string | null) {
    this.#trusted = trustedFile === null ? undefined : readTrusted(trustedFile);
  }

  /**
   * The document that a request means.
   * @param query as sent
   * @param extensions as sent
   */
  find(
    query: string | undefined,
    extensions: unknown,
  ): { query: string | undefined } | { error: GraphQLError } {
    const asked = hashIn(extensions);
    if (asked instanceof GraphQLError) return { error: asked };
    if (query !== undefined && query !== "") {
      if (asked === undefined && !this.#trusted) return { query };
      const hash = hashOf(query);
      if (asked !== undefined && asked !== hash)
        return {
          error: refused(
            "PERSISTED_QUERY_HASH_MISMATCH",
            "provided sha does not match query: sha256Hash is not the SHA-256 of the document.",
          ),
        };
      return !this.#trusted || this.#trusted.has(hash) ? { query } : { error: notTrusted() };
    }
    if (asked === undefined) return { query };
    const known = this.#trusted ? this.#trusted.get(asked) : this.#used(asked);
    if (known !== undefined) return { query: known };
    // Clients of the protocol know this message as well as the code.
    return {
      error: this.#trusted
        ? notTrusted()
        : refused("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound"),
    };
  }

  /** Stores a document that was found to be valid, if its request asks for that. */
  store(query: string, extensions: unknown): void {
    const hash = hashIn(extensions);
    if (this.#trusted || typeof hash !== "string" || this.#stored.has(hash)) return;
    this.#stored.set(hash, query);
    this.#length += query.length;
    for (const [oldest, text] of this.#stored) {
      if (this.#stored.size <= MOST && this.#length <= MOST_LENGTH) break;
      this.#stored.delete(oldest);
      this.#length -= text.length;
    }
  }

  #used(hash: string): string | undefined {
    const query = this.#stored.get(hash);
    if (query === undefined) return undefined;
    this.#stored.delete(hash);
    this.#stored.set(hash, query);
    return query;
  }
}

const notTrusted = (): GraphQLError =>
  refused(
    "DOCUMENT_NOT_TRUSTED",
    "This registry answers only the documents that its operator has listed " +
      "(GRAPHQL_TRUSTED_DOCUMENTS), and this is none of them.",
  );

function hashIn(extensions: unknown): string | undefined | GraphQLError {
  const asked = (extensions as { persistedQuery?: unknown } | null | undefined)?.persistedQuery;
  if (asked === undefined || asked === null) return undefined;
  const { version, sha256Hash } = asked as { version?: unknown; sha256Hash?: unknown };
  if (version !== 1)
    return refused("BAD_REQUEST", "Unsupported persisted query version: it must be 1.");
  if (typeof sha256Hash !== "string" || !HASH.test(sha256Hash))
    return refused("BAD_REQUEST", "sha256Hash must be a SHA-256 in 64 lower-case hexadecimals.");
  return sha256Hash;
}

/** A JSON object of documents by hash, or Apollo's manifest of persisted queries. */
function readTrusted(file: string): ReadonlyMap<string, string> {
  const wrong = (why: string): ConfigError =>
    new ConfigError(`GRAPHQL_TRUSTED_DOCUMENTS cannot be used: ${file} ${why}`);
  let content: unknown;
  try {
    const text = readFileSync(file, "utf8");
    if (text.length > MOST_TRUSTED) throw new Error("is too large");
    content = JSON.parse(text);
  } catch (error) {
    throw wrong((error as Error).message);
  }
  if (content === null || typeof content !== "object" || Array.isArray(content))
    throw wrong("holds no JSON object");
  const { operations } = content as { operations?: unknown };
  const bodies = Array.isArray(operations)
    ? (operations as { body?: unknown }[]).map((operation) => operation?.body)
    : Object.values(content);
  if (!bodies.every((body) => typeof body === "string"))
    throw wrong("holds a document that is not text");
  const trusted = new Map(bodies.map((body) => [hashOf(body), body]));
  if (!Array.isArray(operations))
    for (const [hash, body] of Object.entries(content as Record<string, string>))
      if (HASH.test(hash) && trusted.get(hash) !== body)
        throw wrong(`has ${hash}, which is not the SHA-256 of its document`);
  return trusted;
}
