/**
 * Sign-in of a program that has no browser: it shows a code, its user enters the code at a page of
 * the registry, and the program gets a token (as RFC 8628 describes it).
 */
import { randomInt, randomUUID } from "node:crypto";
import jwt from "jsonwebtoken";
import { invalid, ServiceError } from "../../errors.js";
import { record } from "../access/audit.js";
import { assertSignedIn, type Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { hashOf, liveCredential } from "./credentials.js";
import { issueWithRefresh } from "./refresh.js";
import type { TokenAnswer } from "./tokens.js";

/** Without vowels, so that no code is a word, and without what looks alike. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const CODE_CHARS = 8;
/** A code counts for so long (s). */
const LIFETIME = 600;
/** Codes of one account that wait for their program. */
const MOST = 5;

export interface DeviceLogin {
  /** The program's; nobody else sees it. */
  device_code: string;
  /** What the user enters. */
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  /** Seconds. */
  expires_in: number;
  /** Seconds between two questions. */
  interval: number;
}

const audienceOf = ({ installation }: Deps): string => `${installation} device`;

/** Begins: nothing is stored until the user has entered the code. */
export function beginDeviceLogin(deps: Deps): DeviceLogin {
  const letters = Array.from({ length: CODE_CHARS }, () => LETTERS[randomInt(LETTERS.length)]);
  const code = `${letters.slice(0, 4).join("")}-${letters.slice(4).join("")}`;
  const page = `${deps.baseUrl()}/device`;
  return {
    device_code: jwt.sign({ code, id: randomUUID() }, deps.jwtSecret, {
      algorithm: "HS256",
      audience: audienceOf(deps),
      expiresIn: LIFETIME,
    }),
    user_code: code,
    verification_uri: page,
    verification_uri_complete: `${page}?code=${code}`,
    expires_in: LIFETIME,
    interval: 2,
  };
}

/** The user lets the program that shows the code act for the account. @throws ValidationError */
export async function approveDevice(
  deps: Deps,
  typed: string,
  caller: Caller,
  now = Date.now(),
): Promise<void> {
  assertSignedIn(caller, "let a program sign in");
  const letters = typed.toUpperCase().replaceAll(/[^A-Z]/g, "");
  if (letters.length !== CODE_CHARS)
    throw invalid(["body", "code"], "Value error, a code has the form BCDF-GHJK");
  const hash = hashOf(`device ${letters.slice(0, 4)}-${letters.slice(4)}`);
  const known = await deps.records.credential(hash);
  if (known) return;
  await deps.records.storeCredential(
    {
      hash,
      id: randomUUID(),
      user: caller.user,
      purpose: "device",
      name: null,
      createdAt: now,
      usedAt: null,
      expiresAt: now + LIFETIME * 1000,
      scopes: null,
      boundTo: null,
    },
    { most: MOST, replaces: true },
  );
}

/**
 * What the program gets: tokens, once, or null while the user has not entered the code.
 * @throws ServiceError `INVALID_TOKEN` for a code that has ended
 */
export async function deviceTokens(
  deps: Deps,
  deviceCode: string,
  now = Date.now(),
): Promise<TokenAnswer | null> {
  let code: string;
  try {
    const audience = audienceOf(deps);
    const verified = jwt.verify(deviceCode, deps.jwtSecret, { algorithms: ["HS256"], audience });
    code = (verified as { code: string }).code;
  } catch {
    throw new ServiceError(
      "INVALID_TOKEN",
      "The code was not entered in time, or is not one of this registry: begin again.",
    );
  }
  const secret = `device ${code}`;
  const found = await liveCredential(deps, secret, "device", now);
  if (!found || !(await deps.records.removeCredential({ hash: hashOf(secret) }))) return null;
  const { user } = found.account;
  const [person] = await deps.records.findMany([user]);
  await deps.records.noteSignIn(user, now);
  await record(deps, "SIGNED_IN", { actor: user, detail: { way: "device" } });
  return issueWithRefresh(deps, found.account, person?.name ?? null, now);
}
