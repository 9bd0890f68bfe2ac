/**
 * What a GraphQL request may be: its document is parsed, checked and kept; what is refused has a
 * code and words.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  parse,
  specifiedRules,
  validate,
  visit,
} from "graphql";
import { type Config, ConfigError } from "../config/config.js";
import { ERRORS, type ErrorCode } from "../errors.js";
import { isExactNumber } from "../model/json/read.js";
import { costOf, overLimit, pagesByVariable } from "./limits.js";

/**
 * Codes of errors that only GraphQL has, by the names that Apollo's clients know, with their
 * meaning. They are in `extensions.code`, where all other errors have the code of `src/errors.ts`.
 */
export const GRAPHQL_CODES = {
  GRAPHQL_PARSE_FAILED: "The document is not GraphQL; `locations` says where.",
  GRAPHQL_VALIDATION_FAILED: "The document does not fit the schema.",
  OPERATION_RESOLUTION_FAILURE: "The document has no operation of this name, or several.",
  BAD_USER_INPUT: "An argument does not fit its type.",
  PERSISTED_QUERY_NOT_FOUND:
    "No document is stored under this hash: send it again with the document.",
  PERSISTED_QUERY_HASH_MISMATCH: "The hash is not the SHA-256 of the document.",
  DOCUMENT_NOT_TRUSTED: "The registry answers listed documents only (GRAPHQL_TRUSTED_DOCUMENTS).",
  CLIENT_TOO_SLOW: "The client of a subscription accepted nothing for GRAPHQL_SEND_TIMEOUT.",
} as const satisfies Readonly<Record<string, string>>;

type GraphqlCode = keyof typeof GRAPHQL_CODES;

export const isGraphqlCode = (code: unknown): code is GraphqlCode =>
  typeof code === "string" && Object.hasOwn(GRAPHQL_CODES, code);
export const isOurs = (code: unknown): code is ErrorCode =>
  typeof code === "string" && Object.hasOwn(ERRORS, code);

/** The code by which Apollo's clients and servers know the class of an error. */
export function apolloCode(code: ErrorCode | GraphqlCode): string {
  if (isGraphqlCode(code)) return code.startsWith("GRAPHQL_") ? code : (ALIKE[code] ?? code);
  if (code === "BAD_REQUEST") return code;
  const { status } = ERRORS[code];
  if (status === 401) return "UNAUTHENTICATED";
  if (status === 403) return "FORBIDDEN";
  return status >= 500 ? "INTERNAL_SERVER_ERROR" : "BAD_USER_INPUT";
}

/** Codes of our own that Apollo has under another name. */
const ALIKE: Readonly<Partial<Record<GraphqlCode, string>>> = {
  PERSISTED_QUERY_HASH_MISMATCH: "BAD_REQUEST",
  DOCUMENT_NOT_TRUSTED: "FORBIDDEN",
  CLIENT_TOO_SLOW: "BAD_REQUEST",
};

/** What services say for REST, as it is over GraphQL. */
const WORDING: readonly [RegExp, string][] = [
  [
    /send Authorization: Bearer <token>, obtained from POST \/token\b/,
    "sign in with the mutation login, and send its token",
  ],
  [/obtain a new one from POST \/token\b/, "obtain a new one with the mutation login"],
  [/\(PUT \/group\)/, "(mutation updateGroup)"],
  [/\(PUT \/publish\)/, "(mutation publish)"],
  [/: ask for \/(?:[a-z]+\/)?(ark:[^\s"]+?)\.$/, ': ask for record(id: "$1").'],
];

/** The sentence of an error without the words of REST. */
export const forGraphql = (message: string): string =>
  WORDING.reduce((text, [words, instead]) => text.replace(words, instead), message);

/**
 * Why a literal of the document may not be stored; a JSON body with it would be refused too: NUL or
 * a lone surrogate in a string, a number that a double cannot represent, unlimited nesting.
 * `undefined` when all literals are valid.
 */
function badLiteral(document: DocumentNode, maxDepth: number): GraphQLError | undefined {
  let found: GraphQLError | undefined;
  let depth = 0;
  const bad = (node: ASTNode, msg: string, type: string): typeof BREAK => {
    found = new GraphQLError(msg, {
      nodes: node,
      extensions: {
        code: "VALIDATION",
        detail: [{ loc: ["body", "query", node.loc?.start ?? 0], msg, type }],
      },
    });
    return BREAK;
  };
  const nested = {
    enter: (node: ASTNode) =>
      ++depth > maxDepth
        ? bad(
            node,
            `Input should be nested at most ${maxDepth} levels deep (MAX_JSON_DEPTH)`,
            "too_deep",
          )
        : undefined,
    leave: () => void depth--,
  };
  const number = (node: ASTNode & { value: string }) =>
    isExactNumber(node.value)
      ? undefined
      : bad(node, "Input should be a number that a double holds exactly", "number_precision");
  visit(document, {
    StringValue: (node) =>
      node.value.includes("\0") || !node.value.isWellFormed()
        ? bad(
            node,
            "Input should be a valid string without NUL or lone surrogates",
            "string_unicode",
          )
        : undefined,
    IntValue: number,
    FloatValue: number,
    ListValue: nested,
    ObjectValue: nested,
  });
  return found;
}

/** Most documents in the cache: clients send the same documents again and again. */
const KEPT = 500;
/** A longer document is not cached. */
const LONGEST_KEPT = 20_000;
/** Most errors reported for one document. */
const MOST_ERRORS = 20;

interface Known {
  query: string;
  hash: string;
  document: DocumentNode;
  byVariable: boolean;
  costs: Map<string | null, number>;
}
/** What an operation costs: the records that it asks for at most. */
export interface Price {
  requested: number;
  /** GRAPHQL_MAX_COST. */
  limit: number;
}
/**
 * A document that may be executed, or why not; without a price where no operation is chosen.
 * Under the hash the document is in {@link Documents.texts} and {@link Documents.parsed}, at least
 * until this turn of the event loop ends; documents that are not kept have none.
 */
type Checked =
  { document: DocumentNode; hash?: string; price?: Price } | { errors: readonly GraphQLError[] };

/** ms after which known totals are read again. */
const TOTALS_AGE = 5_000;

function withCode(error: GraphQLError, code: GraphqlCode): GraphQLError {
  error.extensions["code"] = code;
  return error;
}

const tooCostly = ({ requested, limit }: Price): GraphQLError =>
  new GraphQLError(
    `The operation requests up to ${requested} records; the limit is ${limit} ` +
      "(GRAPHQL_MAX_COST). Page sizes multiply: request smaller pages with first.",
    { extensions: { code: "QUERY_TOO_COSTLY", cost: { requested, limit } } },
  );

const hashOf = (query: string): string => createHash("sha256").update(query).digest("hex");

/**
 * Parses documents and checks them against the limits and the schema, the same for every transport.
 * Each document is parsed once and then cached.
 */
export class Documents {
  readonly #known = new Map<string, Known>();
  readonly #byHash = new Map<string, Known>();
  readonly #persisted: PersistedDocuments;
  readonly #readTotals: () => Promise<ReadonlyMap<string, number>>;
  #totals: Promise<ReadonlyMap<string, number>> | undefined;
  #totalsAt = Number.NEGATIVE_INFINITY;
  readonly #schema: GraphQLSchema;
  readonly #config: Pick<
    Config,
    | "GRAPHQL_MAX_DEPTH"
    | "GRAPHQL_MAX_COST"
    | "GRAPHQL_MAX_TOKENS"
    | "GRAPHQL_MAX_DOCUMENT_BYTES"
    | "GRAPHQL_TRUSTED_DOCUMENTS"
    | "MAX_JSON_DEPTH"
  >;

  /** @param readTotals how many records there are, by the name of the type that lists them */
  constructor(
    schema: GraphQLSchema,
    config: Pick<
      Config,
      | "GRAPHQL_MAX_DEPTH"
      | "GRAPHQL_MAX_COST"
      | "GRAPHQL_MAX_TOKENS"
      | "GRAPHQL_MAX_DOCUMENT_BYTES"
      | "GRAPHQL_TRUSTED_DOCUMENTS"
      | "MAX_JSON_DEPTH"
    >,
    readTotals: () => Promise<ReadonlyMap<string, number>>,
  ) {
    this.#schema = schema;
    this.#config = config;
    this.#readTotals = readTotals;
    this.#persisted = new PersistedDocuments(config.GRAPHQL_TRUSTED_DOCUMENTS);
  }

  /** The document that a request means, which may name it by its hash. */
  find(query: string | undefined, extensions: unknown): ReturnType<PersistedDocuments["find"]> {
    return this.#persisted.find(query, extensions);
  }

  /** Stores a checked document for requests that name it, if this request asks for that. */
  persist(query: string, extensions: unknown): void {
    this.#persisted.store(query, extensions);
  }

  /**
   * The execution reports an operation that does not exist.
   * @throws ServiceError `STORE_UNAVAILABLE`, for a document that may be too costly
   */
  async check(
    query: string,
    operationName: string | null | undefined,
    variables: Readonly<Record<string, unknown>> | null | undefined,
  ): Promise<Checked> {
    let known = this.#known.get(query);
    if (!known) {
      const read = this.#read(query);
      if ("errors" in read) return read;
      known = {
        query,
        hash: hashOf(query),
        document: read.document,
        byVariable: pagesByVariable(read.document),
        costs: new Map(),
      };
      if (query.length <= LONGEST_KEPT) this.#keep(known);
    }
    const { document, hash } = known;
    const price = await this.#priceOf(known, operationName ?? null, variables ?? {});
    if (price && price.requested > price.limit) return { errors: [tooCostly(price)] };
    return {
      document,
      ...(this.#byHash.has(hash) ? { hash } : {}),
      ...(price ? { price } : {}),
    };
  }

  /**
   * Why large variables do not fit their types: the first reason only. The execution lists up to
   * fifty, each with the invalid value, which may be megabytes. The execution reports an operation
   * that does not exist.
   */
  misfit(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Readonly<Record<string, unknown>>,
  ): GraphQLError | undefined {
    const operation = getOperationAST(document, operationName);
    return (
      operation?.variableDefinitions &&
      getVariableValues(this.#schema, operation.variableDefinitions, variables, { maxErrors: 1 })
        .errors?.[0]
    );
  }

  /** Texts of checked documents, in the shape of Apollo's cache of persisted queries. */
  readonly texts = readOnly((hash) => this.#byHash.get(hash)?.query);

  /** The same documents parsed, in the shape of Apollo's documentStore. */
  readonly parsed = readOnly((hash) => this.#byHash.get(hash)?.document);

  #read(query: string): Checked {
    const { GRAPHQL_MAX_DOCUMENT_BYTES: longest, GRAPHQL_MAX_TOKENS: maxTokens } = this.#config;
    // Comments and commas are not tokens: a text that has nothing else is bounded by its length.
    if (query.length > longest || Buffer.byteLength(query) > longest) {
      return {
        errors: [
          new GraphQLError(
            `The document is longer than ${longest} bytes (GRAPHQL_MAX_DOCUMENT_BYTES). ` +
              "Send values as variables.",
            { extensions: { code: "TOO_LARGE" } },
          ),
        ],
      };
    }
    let document: DocumentNode;
    try {
      document = parse(query, { maxTokens });
    } catch (error) {
      // A list of ten thousand brackets overflows the parser's stack.
      if (error instanceof GraphQLError && error.message.includes(" tokens."))
        return {
          errors: [
            new GraphQLError(
              `The document has more than ${maxTokens} tokens (GRAPHQL_MAX_TOKENS). Send ` +
                "values as variables, or ask in several requests.",
              { extensions: { code: "QUERY_TOO_COSTLY" } },
            ),
          ],
        };
      return {
        errors: [
          withCode(
            error instanceof GraphQLError
              ? error
              : new GraphQLError("Syntax Error: the document nests too deep to be read."),
            "GRAPHQL_PARSE_FAILED",
          ),
        ],
      };
    }
    const over = overLimit(document, this.#config.GRAPHQL_MAX_DEPTH);
    if (over) return { errors: [over] };
    const bad = badLiteral(document, this.#config.MAX_JSON_DEPTH);
    if (bad) return { errors: [bad] };
    const errors = validate(this.#schema, document, specifiedRules, { maxErrors: MOST_ERRORS });
    for (const error of errors) withCode(error, "GRAPHQL_VALIDATION_FAILED");
    return errors.length > 0 ? { errors } : { document };
  }

  async #priceOf(
    { document, byVariable, costs }: Known,
    operationName: string | null,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<Price | undefined> {
    const limit = this.#config.GRAPHQL_MAX_COST;
    const operation = getOperationAST(document, operationName);
    if (!operation) return undefined;
    let requested = byVariable ? undefined : costs.get(operationName);
    if (requested === undefined) {
      requested = costOf(this.#schema, document, operation, variables);
      costs.set(operationName, requested);
    }
    // Few documents need to know what is there.
    if (requested > limit)
      requested = costOf(this.#schema, document, operation, variables, await this.#totalsNow());
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

  #keep(known: Known): void {
    if (this.#known.size >= KEPT) {
      const [query, oldest] = this.#known.entries().next().value!;
      this.#known.delete(query);
      // Those who were given its hash in this turn of the event loop have not read it yet.
      setImmediate(() => {
        if (this.#byHash.get(oldest.hash) === oldest) this.#byHash.delete(oldest.hash);
      });
    }
    this.#known.set(known.query, known);
    this.#byHash.set(known.hash, known);
  }
}

/** A cache that others only read; each key ends in a SHA-256 in hex. */
const readOnly = <T>(find: (hash: string) => T | undefined) => ({
  get: async (key: string): Promise<T | undefined> => find(key.slice(-64)),
  set: async (): Promise<void> => undefined,
  delete: async (): Promise<void> => undefined,
});

/** Most documents that clients have stored, and most characters of all of them. */
const [MOST, MOST_LENGTH] = [1_000, 4 * 2 ** 20];
/** Largest file of trusted documents, in characters. */
const MOST_TRUSTED = 64 * 2 ** 20;
const HASH = /^[0-9a-f]{64}$/;

const refused = (code: GraphqlCode | "BAD_REQUEST", message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code } });

/**
 * Documents by their SHA-256: those that clients have sent before (Apollo's protocol of automatic
 * persisted queries), and a list of trusted ones, beside which no others are answered.
 */
class PersistedDocuments {
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
