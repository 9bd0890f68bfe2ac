import { createHmac, timingSafeEqual } from "node:crypto";
import { OaiError } from "./oai-arguments.js";

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
