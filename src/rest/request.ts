import type { IncomingMessage, ServerResponse } from "node:http";
import type { Config } from "../config/config.js";
import { invalid, ServiceError, ValidationError } from "../errors.js";
import type { Context } from "../graphql/resolvers/context.js";
import { formFields } from "../http/body.js";
import type { Ark } from "../identifiers/ark.js";
import { ownValue } from "../own.js";
import { badStringItem, findBadString } from "../model/strings.js";
import { askedArk } from "../services/records/find.js";
import type { Site } from "../web/site.js";

/** The names of parameters in paths. An operation has those of its own path. */
export type PathParameters = Readonly<
  Record<
    | "NAAN"
    | "postfix"
    | "download_id"
    | "organization"
    | "submissionUUID"
    | "token_id"
    | "request_id"
    | "name"
    | "page_name",
    string
  >
>;

/** One request on its way to an operation. */
export interface RestRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Decoded once, without `/api` in front and without a slash at the end. */
  readonly path: string;
  readonly operationId: string;
  readonly params: PathParameters;
  /** First value of each parameter. */
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly context: Context;
  /**
   * `?info`, `?` or `??` after an ARK: the client asks for its kernel metadata (draft-kunze-ark,
   * section 5).
   */
  readonly inflection: boolean;
  /** The web pages. */
  readonly site: Site;
}

/** Answers the request; anything it throws becomes the error body. */
export type Handler = (request: RestRequest) => Promise<void>;
export type Handlers = Readonly<Record<string, Handler>>;

/** The ARK that the path names. @throws ServiceError `NOT_FOUND` */
export const arkOf = ({ params }: RestRequest): Ark => askedArk(arkIn(params));

/** The same as text. */
const arkIn = (params: RestRequest["params"]): string =>
  `ark:${params.NAAN}/${params.postfix ?? params.download_id}`;

export interface Target {
  /** As the request means it: decoded, or as written where that is a stored identifier. */
  path: string;
  /** The path before decoding, where it may hold an identifier with its own escapes. */
  written?: string;
  query: string;
  /** The query as it was sent, with its `?`; empty where there is none. */
  search: string;
  inflection: boolean;
}

/** `?`, `??`, `?info`, and `info` among other parameters. */
const INFLECTION = /^\?\??$|[?&]info(?:[=&]|$)/;

export const malformedPath = (): ServiceError =>
  new ServiceError(
    "BAD_REQUEST",
    "The path holds a percent-escape that is not UTF-8: write % as %25.",
  );

/** Splits a request target and decodes its path once. @throws ServiceError `BAD_REQUEST` */
export function splitTarget(target: string): Target {
  // A proxy's client may send the whole URL (RFC 9112, section 3.2.2).
  if (!target.startsWith("/")) target = target.replace(/^https?:\/\/[^/?#]*/i, "") || "/";
  const mark = target.indexOf("?");
  const raw = mark < 0 ? target : target.slice(0, mark);
  let path: string;
  try {
    path = raw.includes("%") ? decodeURIComponent(raw) : raw;
  } catch {
    throw malformedPath();
  }
  return {
    path: trimmed(path),
    ...(raw !== path ? { written: trimmed(raw) } : {}),
    query: mark < 0 ? "" : target.slice(mark + 1),
    search: mark < 0 ? "" : target.slice(mark),
    inflection: mark >= 0 && INFLECTION.test(target.slice(mark)),
  };
}

/** Without `/api` in front and slashes at the end. */
function trimmed(path: string): string {
  const own = path.startsWith("/api/") || path === "/api" ? path.slice(4) || "/" : path;
  return own.length > 1 && own.endsWith("/") ? own.replace(/\/+$/, "") || "/" : own;
}

/** @throws ValidationError when the path holds characters that no identifier may hold */
export function checkPath(params: PathParameters): void {
  const items = Object.entries(params)
    .filter(([, value]) => value.includes("\0"))
    .map(([name]) => badStringItem(["path", name]));
  if (items.length > 0) throw new ValidationError(items);
}

/**
 * First value of each query parameter.
 * @throws ServiceError `TOO_LARGE` past MAX_FORM_FIELDS; ValidationError for text that no JSON
 * string may hold
 */
export function readQuery(
  query: string,
  limits: Pick<Config, "MAX_FORM_FIELDS">,
): Record<string, string | undefined> {
  const values: Record<string, string | undefined> = Object.create(null) as Record<
    string,
    string | undefined
  >;
  if (query === "") return values;
  for (const [name, value] of formFields(query, limits)) {
    if (findBadString(value)) throw new ValidationError([badStringItem(["query", name])]);
    if (!(name in values)) values[name] = value;
  }
  return values;
}

const FLAGS: Readonly<Record<string, boolean>> = {
  true: true,
  t: true,
  yes: true,
  y: true,
  on: true,
  1: true,
  false: false,
  f: false,
  no: false,
  n: false,
  off: false,
  0: false,
};

/** A query parameter that is true or false; false when it is absent. @throws ValidationError */
export function readFlag(query: RestRequest["query"], name: string): boolean {
  const value = query[name]?.toLowerCase();
  if (value === undefined) return false;
  const flag = ownValue(FLAGS, value);
  if (flag === undefined)
    throw invalid(
      ["query", name],
      "Input should be a valid boolean, unable to interpret input",
      "bool_parsing",
    );
  return flag;
}

/** A link to the next page of a list (RFC 8288): the same path with these parameters. */
export const linkToNext = (
  { path, context }: Pick<RestRequest, "path" | "context">,
  parameters: Readonly<Record<string, string | undefined>>,
): string =>
  `<${context.deps.baseUrl()}${encodeURI(path)}?` +
  `${new URLSearchParams(parameters as Record<string, string>)}>; rel="next"`;

/** Aborted when the client has left before its answer: nobody would see it. */
export function presence({ res }: Pick<RestRequest, "res">): AbortSignal {
  const leaving = new AbortController();
  const leave = (): void => {
    if (!res.writableFinished)
      leaving.abort(
        new ServiceError("BAD_REQUEST", "The client closed the connection before the answer."),
      );
  };
  // A response that is closed already says so no more.
  if (res.destroyed) leave();
  else res.once("close", leave);
  return leaving.signal;
}
