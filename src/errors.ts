/**
 * The one table of errors: stable code → HTTP status, for every interface. REST answers
 * `{"detail","code"}` with the status; GraphQL puts the code into `extensions.code`.
 */
export const ERRORS = {
  BAD_REQUEST: { status: 400, meaning: "The URL, a header or the GraphQL document is malformed." },
  QUERY_SYNTAX: {
    status: 400,
    meaning: "The SPARQL query is malformed; `line` and `column` say where, counted from 1.",
  },
  QUERY_REFUSED: {
    status: 400,
    meaning:
      "The SPARQL query uses something that is not supported, such as SERVICE, or " +
      "exceeds the limit in the sentence.",
  },
  UPDATE_REFUSED: { status: 400, meaning: "A SPARQL update: /sparql answers queries only." },
  QUERY_TOO_COSTLY: {
    status: 400,
    meaning:
      "The GraphQL document nests deeper, repeats more or asks for more records than the " +
      "limit in the sentence.",
  },
  NOT_AUTHENTICATED: { status: 401, meaning: "The operation needs a token and none was sent." },
  INVALID_TOKEN: {
    status: 401,
    meaning:
      "The token is malformed, expired, was issued by another registry, or was ended: revoked, or " +
      "by a password change.",
  },
  BAD_CREDENTIALS: { status: 401, meaning: "The user name or the password is wrong." },
  FORBIDDEN: {
    status: 403,
    meaning: "The caller may not do this; the sentence says which rule refuses it.",
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    meaning: "The access token lacks the scope that the operation needs; the sentence names it.",
  },
  SIGN_IN_REFUSED: {
    status: 403,
    meaning:
      "The issuer of OpenID Connect did not confirm the sign-in, or it came too late or twice.",
  },
  CSRF_REFUSED: {
    status: 403,
    meaning:
      "A request with the session cookie would change something, and did not show that a page of " +
      "this registry sent it: it needs the registry's own Origin, and the session's CSRF token.",
  },
  NOT_FOUND: { status: 404, meaning: "Nothing is stored under this identifier or path." },
  AMBIGUOUS: { status: 404, meaning: "Several identifiers differ from this one in hyphens only." },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: "The path exists, the method does not; see the Allow header.",
  },
  NOT_ACCEPTABLE: { status: 406, meaning: "None of the media types in Accept can be produced." },
  BODY_TIMEOUT: {
    status: 408,
    meaning: "The body arrived more slowly than BODY_MIN_RATE; the connection is closed.",
  },
  ACCESS_ASKED: { status: 409, meaning: "The same request for access is not decided yet." },
  ACCESS_NOT_NEEDED: {
    status: 409,
    meaning: "The content that access was requested for may be read already.",
  },
  DUPLICATE: {
    status: 409,
    meaning: "The identifier, or one that differs in hyphens only, is taken.",
  },
  EMAIL_TAKEN: { status: 409, meaning: "An account with this e-mail address exists." },
  IDENTITY_TAKEN: {
    status: 409,
    meaning: "The account at the issuer is linked with another account of this registry.",
  },
  OWNS_RECORDS: {
    status: 409,
    meaning:
      "A group, organization or project owns records, so it cannot be deleted or archived: hand " +
      "them over first.",
  },
  WRONG_KIND: { status: 409, meaning: "The identifier belongs to a record of another kind." },
  CRATE_EXISTS: {
    status: 409,
    meaning: "The crate's identifier exists and belongs to the uploader.",
  },
  CHANGED_MEANWHILE: {
    status: 409,
    meaning:
      "A record of the crate was changed by somebody else while the update was ingested, or " +
      "one was registered above a new identifier; nothing was changed.",
  },
  SCHEMA_UNUSABLE: {
    status: 409,
    meaning: "The stored schema cannot be applied to a table; the sentence says why.",
  },
  OWNER_STAYS: {
    status: 409,
    meaning:
      "The owner of a group is always a member and cannot be removed; transfer the group " +
      "to another owner first.",
  },
  PATCH_CONFLICT: {
    status: 409,
    meaning:
      "A JSON Patch does not fit the record's current document: a test fails, or a pointer " +
      "leads nowhere; nothing was changed.",
  },
  NOT_CANCELLABLE: { status: 409, meaning: "The submission has already ended." },
  NOT_RETRYABLE: {
    status: 409,
    meaning: "The submission has not failed, or its archive is not stored any more.",
  },
  GONE: { status: 410, meaning: "The record was deleted; a tombstone says by whom and when." },
  CONTENT_DELETED: {
    status: 410,
    meaning:
      "The stored content was deleted; its metadata is preserved. For a crate: its " +
      "archive as uploaded contained something that was deleted.",
  },
  REVISION_MISMATCH: {
    status: 412,
    meaning: "The record has changed since the revision that If-Match names.",
  },
  TOO_LARGE: {
    status: 413,
    meaning: "The body is larger than the setting that the sentence names.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning:
      "The operation does not read the body's media type, or the body is compressed " +
      "(Content-Encoding).",
  },
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    meaning: "The requested byte range lies outside the content.",
  },
  VALIDATION: { status: 422, meaning: "The input breaks the rules listed in `detail`." },
  TOO_MANY_REQUESTS: {
    status: 429,
    meaning: "Too many attempts; Retry-After says when to come back.",
  },
  INTERNAL: {
    status: 500,
    meaning:
      "An internal error of the service; its log has the details under the id in the " +
      "sentence.",
  },
  INDEX_LOADING: {
    status: 503,
    meaning: "The graph index is being loaded; records are served meanwhile.",
  },
  INDEX_BEHIND: {
    status: 503,
    meaning: "The graph index did not reach the asked-for state within INDEX_WAIT.",
  },
  BUSY: {
    status: 503,
    meaning: "Too many concurrent requests of this kind, running and queued; see Retry-After.",
  },
  VALIDATION_TIMEOUT: {
    status: 503,
    meaning: "The check took too long and was ended.",
  },
  QUERY_TIMEOUT: { status: 503, meaning: "The query ran into its time limit and was ended." },
  QUERY_MEMORY: {
    status: 503,
    meaning: "The SPARQL query needed more memory than its thread has and was ended.",
  },
  QUERY_FAILED: {
    status: 503,
    meaning:
      "The query engine failed while it answered the query, and is restarting; this does " +
      "not count against the caller.",
  },
  SPARQL_BUSY: {
    status: 503,
    meaning: "All processes of /sparql are busy, and the query was not started in time.",
  },
  SPARQL_NEEDS_ENDPOINT: {
    status: 503,
    meaning: "The graph is larger than SPARQL_MEMORY: the operator sets GRAPH_ENGINE=oxigraph.",
  },
  STORE_UNAVAILABLE: { status: 503, meaning: "A store cannot be reached; nothing was changed." },
  STORE_DAMAGED: {
    status: 503,
    meaning:
      "Stored records that the request needs are damaged; nothing was changed, and other " +
      "records are served. The operator has to restore a backup.",
  },
  CONTENT_DAMAGED: {
    status: 503,
    meaning:
      "The stored bytes are not those that were uploaded, and are not served; uploading the " +
      "same file again repairs them.",
  },
  NO_CONTAINER_ENGINE: {
    status: 503,
    meaning: "No container engine is configured; nothing was changed.",
  },
  NO_DOI_SERVICE: {
    status: 503,
    meaning: "No DOI service is configured; nothing was changed.",
  },
  TOO_MANY_CONNECTIONS: {
    status: 503,
    meaning:
      "The service, or the client's address, has as many connections open as the setting in " +
      "the sentence allows.",
  },
  SHUTTING_DOWN: { status: 503, meaning: "The service is stopping and takes no new work." },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** A refusal with a stable code and one sentence that names the place and the fix. */
export class ServiceError extends Error {
  readonly status: number;
  constructor(
    readonly code: ErrorCode,
    message: string,
    /** Members added to the error body, e.g. the candidates of an ambiguous identifier. */
    readonly extra: Readonly<Record<string, unknown>> = {},
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = "ServiceError";
    this.status = ERRORS[code].status;
  }
}

/**
 * A dependency of a job that is no store of the registry's cannot be reached, and is expected back.
 */
export class Outage extends Error {}

/**
 * Whether a job failed because of an outage that is expected to end: an accepted job waits for its
 * end.
 */
export const isOutage = (error: unknown): boolean =>
  error instanceof Outage || (error instanceof ServiceError && error.code === "STORE_UNAVAILABLE");

/**
 * One broken rule, in the vocabulary of pydantic 2 that existing clients know; never echoes the
 * input.
 */
export interface ValidationItem {
  /** Where: `body`, `query`, `path` or `header` first; array indexes are integers. */
  loc: (string | number)[];
  msg: string;
  type: string;
  /** The limit that was broken, e.g. `{ max_length: 200 }`. */
  ctx?: Record<string, unknown>;
}

/**
 * Most items of one answer, and about its most characters: a body can break millions of rules, and
 * the first ones are enough.
 */
export const MAX_ITEMS = 100;
const MAX_CHARACTERS = 48 * 2 ** 10;
/** Characters of one key, or of one message, that are shown. */
const MAX_KEY_CHARS = 200;
const MAX_MESSAGE_CHARS = 2_000;

/**
 * All errors of one input at once: HTTP 422, or `extensions.detail` in GraphQL. However many there
 * are, {@link MAX_ITEMS} are listed.
 */
export class ValidationError extends ServiceError {
  readonly items: ValidationItem[];
  constructor(items: readonly ValidationItem[]) {
    const listed = listedItems(items);
    super(
      "VALIDATION",
      cutMessage(listed.map((item) => `${item.loc.join(".")}: ${item.msg}`).join("; ")),
    );
    this.name = "ValidationError";
    this.items = listed;
  }
}

/** A message as clients see it: the input that it quotes may be megabytes. */
export const cutMessage = (message: string): string =>
  message.length > MAX_MESSAGE_CHARS ? `${message.slice(0, MAX_MESSAGE_CHARS)}…` : message;

function listedItems(items: readonly ValidationItem[]): ValidationItem[] {
  const listed: ValidationItem[] = [];
  let left = MAX_CHARACTERS;
  for (const item of items) {
    if (listed.length === MAX_ITEMS || left < 0) {
      const {
        loc: [first = "body"],
      } = item;
      listed.push({
        loc: [first],
        msg: `The input breaks more rules; the first ${listed.length} are listed`,
        type: "too_many_errors",
        ctx: { max_errors: listed.length },
      });
      break;
    }
    const shown = { ...item, loc: shownPlace(item.loc), msg: cutMessage(item.msg) };
    left -=
      shown.msg.length + shown.loc.reduce<number>((sum, step) => sum + String(step).length, 0);
    listed.push(shown);
  }
  return listed;
}

/** Steps of a place, with long keys cut; of a deep place the first and last ones. */
function shownPlace(loc: readonly (string | number)[]): (string | number)[] {
  const steps = loc.length > 2 * DEEP ? [...loc.slice(0, DEEP), "…", ...loc.slice(-DEEP)] : loc;
  return steps.map((step) =>
    typeof step === "string" && step.length > MAX_KEY_CHARS
      ? `${step.slice(0, MAX_KEY_CHARS)}…`
      : step,
  );
}
/** Steps that are shown of a deep place, at either end. */
const DEEP = 10;

/** Shorthand for a {@link ValidationError} with one item. */
export function invalid(
  loc: (string | number)[],
  msg: string,
  type = "value_error",
  ctx?: Record<string, unknown>,
): ValidationError {
  return new ValidationError([ctx ? { loc, msg, type, ctx } : { loc, msg, type }]);
}
