import { randomUUID } from "node:crypto";
import jwt from "jsonwebtoken";
import { LRUCache } from "lru-cache";
import { ServiceError } from "../../errors.js";
import type { Account, RecordStore } from "../../storage/records/port.js";
import type { SharedMemory } from "../../storage/shared/port.js";
import { recordRefusal, recordTokenUse } from "../access/audit.js";
import type { Caller } from "../access/rules.js";
import type { Review } from "../access/review.js";
import { SCOPES, scopesIn } from "../access/scopes.js";
import type { Deps } from "../deps.js";
import { ACCESS_TOKEN_PREFIX, liveCredential, noteUse } from "./credentials.js";
import { countUse, liveReviewLink, noSuchLink, REVIEW_PREFIX } from "./review-secrets.js";
import { assertCsrf, assertOwnPage, type Session, verifySession } from "./sessions.js";
import { storedOnce } from "../stored-once.js";
import { getOrInsert } from "../../get-or-insert.js";

export interface TokenAnswer {
  access_token: string;
  token_type: "bearer";
  /** Seconds. */ expires_in: number;
  /** Only where it was asked for. */ refresh_token?: string;
}

const ALGORITHM = "HS256";
/**
 * Cache of verified tokens by their text: verifying a signature for every request would cost more
 * than the read of the record.
 */
const VERIFIED_LIMIT = 10_000;

/** Tokens and addresses whose last use is known without a question to the shared memory. */
const USED_LIMIT = 10_000;
const HOUR = 3_600_000;

/** Uses of an access token within this time (ms) are noted as one. */
const NOTED_USE = 60_000;

/** `iss` and `aud` were compared when the token was verified. */
interface Claims {
  sub: string;
  /** Seconds since 1970, with a fraction. */ iat: number;
  exp: number;
  /**
   * `tokensValidFrom` of the account when the token was issued; another one ends the token, whatever
   * the clocks of the nodes say. Tokens of version 0.2 have none.
   */
  since?: number;
}

export function issueToken(
  deps: Deps,
  account: Account,
  name: string | null,
  now = Date.now(),
): TokenAnswer {
  const lifetime = Math.floor(deps.config.TOKEN_LIFETIME / 1000);
  const claims = {
    iss: deps.installation,
    aud: deps.installation,
    sub: account.user,
    ...(name === null ? {} : { name }),
    email: account.email,
    since: account.tokensValidFrom,
    iat: now / 1000,
    exp: now / 1000 + lifetime,
    jti: randomUUID(),
  };
  return {
    access_token: jwt.sign(claims, deps.jwtSecret, { algorithm: ALGORITHM }),
    token_type: "bearer",
    expires_in: lifetime,
  };
}

const refused = (why: string) =>
  new ServiceError(
    "INVALID_TOKEN",
    `The token ${why}: obtain a new one from POST /token.`,
    {},
    { "WWW-Authenticate": 'Bearer error="invalid_token"' },
  );

/** What a request sent to show who it is from. Transports fill it in. */
export interface SentCredentials {
  /** The header `Authorization`; it takes precedence over a session. */
  readonly authorization: string | undefined;
  /** The secret in the session cookie. */
  readonly session: string | undefined;
  /** A page of the registry itself made the request. */
  readonly isFromOwnPage: boolean;
  readonly csrf: string | undefined;
  /** The secret of a reviewer's link in its cookie. */
  readonly review: string | undefined;
  /** Of the client, for limits and the audit log. */
  readonly address: () => string;
  /**
   * What a session must show besides its cookie, which browsers send for any page: nothing to read,
   * that a page of the registry asks for a stream, and its CSRF token to change something.
   */
  readonly needs: "nothing" | "origin" | "csrf";
}

/** Who asks: an account, or by what link without one. */
export interface Identity {
  caller: Caller | null;
  session?: Session;
  review?: Review;
}

const tokenIn = (header: string): string | undefined => /^Bearer +([^ ]+) *$/i.exec(header)?.[1];

/** A request that a page of the registry made, or that shows a page, without a CSRF token. */
const isReading = ({ needs, csrf, isFromOwnPage }: SentCredentials): boolean =>
  needs === "nothing" || (csrf === undefined && isFromOwnPage);

/** Derives callers from what requests sent: the one place that decides, for every transport. */
export class Authenticator {
  readonly #verified = new LRUCache<string, Claims>({ max: VERIFIED_LIMIT });
  readonly #used = new LRUCache<string, true>({ max: USED_LIMIT, ttl: HOUR });
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * `null` without credentials, and after the end of a session: what needs no account goes on.
   * @throws ServiceError `INVALID_TOKEN`, `NOT_AUTHENTICATED`, `CSRF_REFUSED`
   */
  async caller(sent: SentCredentials, now = Date.now()): Promise<Caller | null> {
    return (await this.identify(sent, now)).caller;
  }

  /** The caller with its session, where a session says who it is. @throws as {@link caller} */
  async identify(sent: SentCredentials, now = Date.now()): Promise<Identity> {
    const { authorization, session: secret } = sent;
    if (authorization !== undefined && authorization !== "") {
      const review = await this.#sentReview(authorization, sent, now);
      if (review) return { caller: null, review };
      return { caller: await this.#bearer(authorization, sent.address(), now) };
    }
    // Forms of a session have its CSRF token, and are the account's.
    if (sent.review !== undefined && isReading(sent)) {
      const review = await this.#review(sent.review, sent, now);
      if (review) return { caller: null, review };
    }
    const session = secret === undefined ? undefined : await verifySession(this.#deps, secret, now);
    if (!session) return { caller: null };
    if (sent.needs !== "nothing") assertOwnPage(sent.isFromOwnPage);
    if (sent.needs === "csrf") assertCsrf(session, sent.csrf);
    return { caller: session.caller, session };
  }

  /** The link that a program sent as its token. @throws ServiceError `NOT_FOUND` */
  async #sentReview(
    header: string,
    sent: SentCredentials,
    now: number,
  ): Promise<Review | undefined> {
    const secret = tokenIn(header);
    if (!secret?.startsWith(REVIEW_PREFIX)) return undefined;
    const link = await this.#review(secret, sent, now);
    if (!link) throw noSuchLink();
    countUse(this.#deps, link, now);
    return link;
  }

  /** Attempts to guess a secret are limited as those to sign in. @throws `TOO_MANY_REQUESTS` */
  async #review(secret: string, sent: SentCredentials, now: number) {
    const link = await liveReviewLink(this.#deps, secret, now);
    if (link) return link;
    this.#noteRefusal("reviewLink", sent.address());
    await rateLimit(this.#deps, "LOGIN_RATE").take(`${sent.address()} review links`);
    return undefined;
  }

  async #bearer(header: string, address: string, now: number): Promise<Caller> {
    const token = tokenIn(header);
    if (!token)
      throw new ServiceError(
        "NOT_AUTHENTICATED",
        "The Authorization header is not of the form: Bearer <token>.",
      );
    if (token.startsWith(ACCESS_TOKEN_PREFIX)) return this.#accessToken(token, address, now);
    const claims = this.#verified.get(token) ?? this.#verify(token, address);
    if (claims.exp * 1000 <= now) throw refused("has expired");
    const account = await this.#deps.records.accountOf(claims.sub);
    const isOfBefore =
      claims.since === undefined
        ? Math.round(claims.iat * 1000) < (account?.tokensValidFrom ?? 0)
        : claims.since !== account?.tokensValidFrom;
    if (!account || account.deleted || account.disabled || isOfBefore) {
      this.#noteRefusal("token", address);
      throw refused("was revoked");
    }
    this.#noteUse(
      { actor: account.user, kind: "bearer", token: `${claims.sub} ${claims.iat}` },
      address,
    );
    return { user: account.user, admin: account.admin };
  }

  /** The request does not wait for the entry, nor fail with it. */
  #noteUse(use: Parameters<typeof recordTokenUse>[1], address: string): void {
    const key = `${use.token} ${address}`;
    if (address === "" || this.#used.has(key)) return;
    this.#used.set(key, true);
    void recordTokenUse({ ...this.#deps, client: address }, use);
  }

  /** As above. A bearer token that has expired is no attempt to guess one. */
  #noteRefusal(way: "token" | "reviewLink", address: string): void {
    if (address === "") return;
    recordRefusal({ ...this.#deps, client: address }, { way }).catch((error: unknown) =>
      this.#deps.log.error({ err: error, way, address }, "a refusal was not recorded"),
    );
  }

  async #accessToken(token: string, address: string, now: number): Promise<Caller> {
    const found = await liveCredential(this.#deps, token, "token", now);
    if (!found) {
      this.#noteRefusal("token", address);
      throw refused("has expired or was revoked");
    }
    noteUse(this.#deps, found.credential, { now, every: NOTED_USE });
    const { user, admin } = found.account;
    this.#noteUse({ actor: user, kind: "access", token: found.credential.id }, address);
    const { scopes: stored, boundTo } = found.credential;
    // Tokens of before there were scopes have all.
    const scopes = stored === null ? SCOPES : scopesIn(stored);
    return {
      user,
      admin: admin && scopes.includes("admin") && boundTo === null,
      byAccessToken: true,
      scopes,
      ...(boundTo === null ? {} : { boundTo }),
    };
  }

  #verify(token: string, address: string): Claims {
    let claims: Claims;
    try {
      claims = jwt.verify(token, this.#deps.jwtSecret, {
        algorithms: [ALGORITHM],
        issuer: this.#deps.installation,
        audience: this.#deps.installation,
      }) as unknown as Claims;
    } catch (error) {
      if ((error as Error).name === "TokenExpiredError") throw refused("has expired");
      this.#noteRefusal("token", address);
      throw refused("is not valid");
    }
    if (
      typeof claims.sub !== "string" ||
      typeof claims.iat !== "number" ||
      typeof claims.exp !== "number"
    )
      throw refused("is not valid");
    this.#verified.set(token, claims);
    return claims;
  }
}

const INSTALLATION = "installation";

/**
 * Name of this installation, created at its first start: the issuer and the audience of its tokens.
 * Not its address, which may be configured later, change, or be one of several; all nodes read the
 * same name from the record store.
 */
export async function installation(
  records: Pick<RecordStore, "setting" | "setSetting">,
): Promise<string> {
  const known = await records.setting(INSTALLATION);
  return known ?? storedOnce(records, INSTALLATION, `urn:uuid:${randomUUID()}`);
}

const MINUTE = 60_000;

/** Counts attempts in windows of one minute, per key, over all nodes. */
export class RateLimit {
  readonly #perMinute: number;
  readonly #setting: string;
  readonly #memory: SharedMemory;

  /** @param perMinute 0 switches the limit off; @param setting its name, for the error */
  constructor(perMinute: number, setting: string, memory: SharedMemory) {
    this.#perMinute = perMinute;
    this.#setting = setting;
    this.#memory = memory;
  }

  /** @throws ServiceError `TOO_MANY_REQUESTS` with Retry-After */
  async take(key: string): Promise<void> {
    if (this.#perMinute === 0) return;
    const { count, left } = await this.#memory.count(`${this.#setting} ${key}`, MINUTE);
    if (count <= this.#perMinute) return;
    const seconds = Math.max(1, Math.ceil(left / 1000));
    throw new ServiceError(
      "TOO_MANY_REQUESTS",
      `More than ${this.#perMinute} attempts in a minute (${this.#setting}): try again in ` +
        `${seconds} s.`,
      {},
      { "Retry-After": String(seconds) },
    );
  }
}

const rates = new WeakMap<object, Map<string, RateLimit>>();

/** The limit of a setting, counted for the service as a whole, over every API. */
export function rateLimit(
  deps: Pick<Deps, "config" | "shared">,
  setting: "LOGIN_RATE" | "SIGNUP_RATE" | "WRITE_RATE",
): RateLimit {
  const limits = getOrInsert(rates, deps.shared, () => new Map<string, RateLimit>());
  return getOrInsert(
    limits,
    setting,
    () => new RateLimit(deps.config[setting], setting, deps.shared),
  );
}
