/** Which documents are answered, over every transport. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { InMemoryLRUCache } from "@apollo/utils.keyvaluecache";
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
} from "graphql";
import { type Config, ConfigError } from "../config/config.js";
import { costOf } from "./cost.js";
import type { GraphqlCode } from "./errors.js";
import type { Parameters } from "./parameters.js";
import { selectionLimits, storableLiterals } from "./validation-rules.js";

/** Most errors reported for one document. */
const MAX_ERRORS = 20;

/** What an operation costs: the records that it asks for at most. */
export interface Price {
  requested: number;
  /** GRAPHQL_MAX_COST. */
  limit: number;
}

/** ms after which known totals are read again. */
const TOTALS_AGE = 5_000;

/** Most characters of the documents that clients have stored. */
const MAX_STORED = 4 * 2 ** 20;
/** Largest file of trusted documents, in characters. */
const MAX_TRUSTED = 64 * 2 ** 20;
const HASH = /^[0-9a-f]{64}$/;
/** Begins the keys of Apollo Server in its cache of persisted queries. */
const APQ = "apq:";

const hashOf = (query: string): string => createHash("sha256").update(query).digest("hex");

/** As Apollo Server words it. */
const HASH_MISMATCH = "provided sha does not match query";

const refused = (code: GraphqlCode | "TOO_LARGE", message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code } });

type Limits = Pick<
  Config,
  | "GRAPHQL_MAX_DEPTH"
  | "GRAPHQL_MAX_COST"
  | "GRAPHQL_MAX_TOKENS"
  | "GRAPHQL_MAX_DOCUMENT_BYTES"
  | "GRAPHQL_TRUSTED_DOCUMENTS"
  | "MAX_JSON_DEPTH"
>;

/** Documents within the limits, and those that are known by their hash. */
export class Documents {
  /** Documents by hash: those that clients have sent, or the trusted ones. For Apollo Server too. */
  readonly persisted = new InMemoryLRUCache<string>({ maxSize: MAX_STORED });
  /** By hash; absent where any document is answered. */
  readonly #trusted: ReadonlyMap<string, string> | undefined;
  /** Apollo Server parses a document once, and each is validated once. */
  readonly #validated = new WeakMap<DocumentNode, readonly GraphQLError[]>();
  readonly #readTotals: () => Promise<ReadonlyMap<string, number>>;
  #totals: Promise<ReadonlyMap<string, number>> | undefined;
  #totalsAt = Number.NEGATIVE_INFINITY;
  readonly #schema: GraphQLSchema;
  readonly #limits: Limits;

  /**
   * @param readTotals how many records there are, by the name of the type that lists them
   * @throws ConfigError for a file that is not a list of documents
   */
  constructor(
    schema: GraphQLSchema,
    limits: Limits,
    readTotals: () => Promise<ReadonlyMap<string, number>>,
  ) {
    this.#schema = schema;
    this.#limits = limits;
    this.#readTotals = readTotals;
    if (limits.GRAPHQL_TRUSTED_DOCUMENTS === null) return;
    this.#trusted = readTrusted(limits.GRAPHQL_TRUSTED_DOCUMENTS);
    this.persisted = new InMemoryLRUCache<string>({ maxSize: MAX_TRUSTED });
    for (const [hash, text] of this.#trusted) void this.persisted.set(APQ + hash, text);
  }

  /**
   * Refuses what need not be parsed: a document that is too long, or not one of the trusted ones.
   * @throws GraphQLError `TOO_LARGE`, `DOCUMENT_NOT_TRUSTED`
   */
  admit({ query, extensions }: Parameters): void {
    const { GRAPHQL_MAX_DOCUMENT_BYTES: longest } = this.#limits;
    // Comments and commas are not tokens: a text that has nothing else is bounded by its length.
    if (query && (query.length > longest || Buffer.byteLength(query) > longest))
      throw refused(
        "TOO_LARGE",
        `The document is longer than ${longest} bytes (GRAPHQL_MAX_DOCUMENT_BYTES). ` +
          "Send values as variables.",
      );
    const hash = query ? this.#trusted && hashOf(query) : extensions?.persistedQuery?.sha256Hash;
    if (hash !== undefined && this.#trusted && !this.#trusted.has(hash))
      throw refused(
        "DOCUMENT_NOT_TRUSTED",
        "This registry answers only the documents that its operator has listed " +
          "(GRAPHQL_TRUSTED_DOCUMENTS), and this is none of them.",
      );
  }

  /**
   * Reads and validates a document for transports without Apollo Server, by the same protocol of
   * automatic persisted queries.
   * @throws GraphQLError
   */
  async read(parameters: Parameters): Promise<DocumentNode | readonly GraphQLError[]> {
    this.admit(parameters);
    const hash = parameters.extensions?.persistedQuery?.sha256Hash;
    const query = parameters.query ?? (await this.persisted.get(APQ + hash));
    if (query === undefined) throw refused("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound");
    if (hash !== undefined && hash !== hashOf(query))
      throw refused("PERSISTED_QUERY_HASH_MISMATCH", HASH_MISMATCH);
    let document: DocumentNode;
    try {
      document = parse(query, { maxTokens: this.#limits.GRAPHQL_MAX_TOKENS });
    } catch (error) {
      return [refused("GRAPHQL_PARSE_FAILED", (error as Error).message)];
    }
    const errors = this.validate(document);
    if (errors.length > 0) return errors;
    if (hash !== undefined) await this.persisted.set(APQ + hash, query);
    return document;
  }

  /** Why a document is refused; empty for one that may be executed. */
  validate(document: DocumentNode): readonly GraphQLError[] {
    let errors = this.#validated.get(document);
    if (!errors) {
      errors = this.#overLimits(document);
      if (errors.length === 0) {
        errors = validate(this.#schema, document, specifiedRules, { maxErrors: MAX_ERRORS });
        for (const error of errors) error.extensions["code"] = "GRAPHQL_VALIDATION_FAILED";
      }
      this.#validated.set(document, errors);
    }
    return errors;
  }

  /** The first limit is enough. */
  #overLimits(document: DocumentNode): readonly GraphQLError[] {
    const { GRAPHQL_MAX_DEPTH, MAX_JSON_DEPTH } = this.#limits;
    const limits = [selectionLimits(GRAPHQL_MAX_DEPTH), storableLiterals(MAX_JSON_DEPTH)];
    return validate(this.#schema, document, limits).slice(0, 1);
  }

  /**
   * What a valid operation costs.
   * @throws GraphQLError `QUERY_TOO_COSTLY`
   * @throws ServiceError `STORE_UNAVAILABLE`, for an operation that may be too costly
   */
  async price(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<Price> {
    const limit = this.#limits.GRAPHQL_MAX_COST;
    let requested = costOf(this.#schema, document, operation, variables);
    // Few documents need to know what is there.
    if (requested > limit)
      requested = costOf(this.#schema, document, operation, variables, await this.#totalsNow());
    if (requested > limit)
      throw new GraphQLError(
        `The operation requests up to ${requested} records; the limit is ${limit} ` +
          "(GRAPHQL_MAX_COST). Page sizes multiply: request smaller pages with first.",
        { extensions: { code: "QUERY_TOO_COSTLY", cost: { requested, limit } } },
      );
    return { requested, limit };
  }

  /** How many records there are, read again after a while. */
  #totalsNow(): Promise<ReadonlyMap<string, number>> {
    const now = performance.now();
    if (!this.#totals || now - this.#totalsAt > TOTALS_AGE) {
      this.#totalsAt = now;
      this.#totals = this.#readTotals();
      this.#totals.catch(() => (this.#totals = undefined));
    }
    return this.#totals;
  }
}

/** A JSON object of documents by hash, or Apollo's manifest of persisted queries. */
function readTrusted(file: string): ReadonlyMap<string, string> {
  const wrong = (why: string): ConfigError =>
    new ConfigError(`GRAPHQL_TRUSTED_DOCUMENTS cannot be used: ${file} ${why}`);
  let content: unknown;
  try {
    const text = readFileSync(file, "utf8");
    if (text.length > MAX_TRUSTED) throw new Error("is too large");
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
