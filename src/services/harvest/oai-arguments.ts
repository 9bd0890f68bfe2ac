import { createHmac, timingSafeEqual } from "node:crypto";
import { getOrInsert } from "../../get-or-insert.js";
import { ownValue } from "../../own.js";

/** Errors of the protocol (OAI-PMH 2.0, section 3.6). They are answered with HTTP status 200. */
export type OaiErrorCode =
  | "badArgument"
  | "badResumptionToken"
  | "badVerb"
  | "cannotDisseminateFormat"
  | "idDoesNotExist"
  | "noRecordsMatch"
  | "noMetadataFormats"
  | "noSetHierarchy";

/** A request that the protocol refuses. */
export class OaiError extends Error {
  constructor(
    readonly code: OaiErrorCode,
    message: string,
  ) {
    super(message);
  }
}

const ARGUMENTS = [
  "verb",
  "identifier",
  "metadataPrefix",
  "from",
  "until",
  "set",
  "resumptionToken",
] as const;
type Argument = (typeof ARGUMENTS)[number];

interface VerbArguments {
  required?: readonly Argument[];
  optional?: readonly Argument[];
  /** Takes a resumption token in place of every other argument. */
  resumes?: true;
}

const LIST: VerbArguments = {
  required: ["metadataPrefix"],
  optional: ["from", "until", "set"],
  resumes: true,
};
const VERBS = {
  Identify: {},
  ListMetadataFormats: { optional: ["identifier"] },
  ListSets: { resumes: true },
  GetRecord: { required: ["identifier", "metadataPrefix"] },
  ListIdentifiers: LIST,
  ListRecords: LIST,
} as const satisfies Record<string, VerbArguments>;
export type Verb = keyof typeof VERBS;

/** The arguments of a request, each at most once, as its verb allows. */
export type OaiArguments = { readonly verb: Verb } & {
  readonly [A in Exclude<Argument, "verb">]?: string;
};

/** Longest value that is read; tokens of this registry are shorter. */
const MAX_VALUE_CHARS = 8192;

/**
 * Reads the arguments of a request.
 * @throws OaiError `badVerb`, `badArgument`
 */
export function oaiArguments(parameters: Iterable<[name: string, value: string]>): OaiArguments {
  const given = new Map<string, string[]>();
  for (const [name, value] of parameters) getOrInsert(given, name, (): string[] => []).push(value);
  const verbs = given.get("verb") ?? [];
  const [verb] = verbs;
  const rules: VerbArguments | undefined =
    verb === undefined || verbs.length > 1 ? undefined : ownValue(VERBS, verb);
  if (!rules)
    throw new OaiError(
      "badVerb",
      `${verbProblem(verbs)}; use one of ${Object.keys(VERBS).join(", ")}.`,
    );
  const { required = [], optional = [], resumes } = rules;
  const known = ["verb", ...required, ...optional, ...(resumes ? ["resumptionToken"] : [])];
  for (const [name, values] of given) {
    if (!known.includes(name))
      throw new OaiError(
        "badArgument",
        `${verb} has no argument ${short(name)}; it has ${known.slice(1).join(", ") || "none"}.`,
      );
    if (values.length > 1)
      throw new OaiError("badArgument", `The argument ${name} is repeated; send it once.`);
    if (values.some((value) => value.length > MAX_VALUE_CHARS))
      throw new OaiError(
        name === "resumptionToken" ? "badResumptionToken" : "badArgument",
        `The argument ${name} is longer than ${MAX_VALUE_CHARS} characters.`,
      );
  }
  const values = Object.fromEntries(
    [...given].map(([name, [value]]) => [name, value]),
  ) as OaiArguments;
  if (resumes && values.resumptionToken !== undefined) {
    if (given.size > 2)
      throw new OaiError(
        "badArgument",
        "The argument resumptionToken excludes every other argument except verb.",
      );
    return values;
  }
  for (const name of required)
    if (values[name] === undefined)
      throw new OaiError("badArgument", `The argument ${name} of ${verb} is missing.`);
  return values;
}

function verbProblem([verb, ...more]: readonly string[]): string {
  if (verb === undefined) return "The argument verb is missing";
  return more.length > 0 ? "The argument verb is repeated" : `There is no verb ${short(verb)}`;
}

const short = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

const DAY = /^(\d{4})-(\d\d)-(\d\d)$/;
const SECOND = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z$/;
/** ms of the two granularities. */
const UNITS = { day: 86_400_000, second: 1000 } as const;

/** Datestamps in ms: from `since` on, up to but without `before`. */
export interface Datestamps {
  since?: number;
  before?: number;
}

/**
 * The range of `from` and `until`, both inclusive, in days or in seconds.
 * @throws OaiError `badArgument`
 */
export function datestampsOf({ from, until }: Pick<OaiArguments, "from" | "until">): Datestamps {
  const first = from === undefined ? undefined : instantOf("from", from);
  const last = until === undefined ? undefined : instantOf("until", until);
  if (first && last && first.unit !== last.unit)
    throw new OaiError(
      "badArgument",
      "from and until have different granularities; write both as YYYY-MM-DD or both as " +
        "YYYY-MM-DDThh:mm:ssZ.",
    );
  if (first && last && first.at > last.at)
    throw new OaiError("badArgument", "from is later than until; exchange them.");
  return {
    ...(first ? { since: first.at } : {}),
    ...(last ? { before: last.at + last.unit } : {}),
  };
}

function instantOf(name: string, text: string): { at: number; unit: number } {
  const unit = DAY.test(text) ? UNITS.day : UNITS.second;
  const at = Date.parse(text);
  // `Date.parse` reads other forms too, and takes February 30 for March 1. XML has no year 0.
  if (
    !(DAY.test(text) || SECOND.test(text)) ||
    !Number.isFinite(at) ||
    text.startsWith("0000") ||
    new Date(at).toISOString().slice(0, text.length - 1) !== text.slice(0, -1)
  )
    throw new OaiError(
      "badArgument",
      `The argument ${name} is no date in UTC: ${short(text)}. Write YYYY-MM-DD or ` +
        "YYYY-MM-DDThh:mm:ssZ, for example 2026-01-31T12:00:00Z.",
    );
  return { at, unit };
}

/** A time in the granularity of the repository: seconds. */
export const datestamp = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** Bytes of the signature in a token. */
const SIGNATURE = 16;

/**
 * A resumption token: what the next page needs, signed. Nothing is stored for it, so it outlives
 * restarts, is read by every node, and does not expire.
 */
export function writeToken(secret: string, state: readonly unknown[]): string {
  const body = Buffer.from(JSON.stringify(state)).toString("base64url");
  return `${body}.${signatureOf(secret, body).toString("base64url")}`;
}

/**
 * The state of a token that {@link writeToken} wrote with this secret.
 * @throws OaiError `badResumptionToken`
 */
export function readToken(secret: string, token: string): readonly unknown[] {
  const [body = "", signature = "", ...more] = token.split(".");
  const given = Buffer.from(signature, "base64url");
  if (
    more.length > 0 ||
    given.length !== SIGNATURE ||
    given.toString("base64url") !== signature ||
    !timingSafeEqual(given, signatureOf(secret, body))
  )
    throw foreign();
  return JSON.parse(Buffer.from(body, "base64url").toString("utf8")) as readonly unknown[];
}

/** A token that this registry did not write, or wrote for another verb. */
export const foreign = (): OaiError =>
  new OaiError(
    "badResumptionToken",
    "The resumption token is not from this list; repeat the request without it.",
  );

/** The key signs other tokens as well: the prefix keeps them apart. */
const signatureOf = (secret: string, body: string): Buffer =>
  createHmac("sha256", secret)
    .update(`oai-pmh resumption token:${body}`)
    .digest()
    .subarray(0, SIGNATURE);
