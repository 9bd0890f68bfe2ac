/**
 * Sign-in by OpenID Connect: openid-client does the protocol, this module bounds its connections.
 */
import * as client from "openid-client";
import type { IssuerSettings } from "../../config/setting-values.js";
import type { Challenge, Issuer, StatedPerson } from "./port.js";
import { SignInRefused } from "./port.js";

/** A metadata document is read again after this time (ms), so that new keys and endpoints count. */
const FRESH = 3_600_000;
/** Of one answer of the issuer. */
const [TIMEOUT, MAX_BYTES] = [10_000, 1_048_576];
const MAX_GROUPS = 1000;

export class OidcIssuer implements Issuer {
  readonly name;
  readonly label;
  readonly issuer;
  readonly register;
  readonly groups;
  readonly #options: IssuerSettings;
  #known: { config: Promise<client.Configuration>; until: number } | undefined;

  constructor(options: IssuerSettings) {
    this.#options = options;
    this.name = options.name;
    this.label = options.label;
    this.issuer = options.issuer;
    this.register = options.register;
    this.groups = options.groups;
  }

  async begin(callback: string): Promise<{ address: string; challenge: Challenge }> {
    const config = await this.#config();
    const challenge = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const address = client.buildAuthorizationUrl(config, {
      redirect_uri: callback,
      scope: this.#options.scope,
      state: challenge.state,
      nonce: challenge.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(challenge.verifier),
      code_challenge_method: "S256",
    });
    return { address: address.href, challenge };
  }

  async finish(answer: URL, { state, nonce, verifier }: Challenge): Promise<StatedPerson> {
    const config = await this.#config();
    const claims = await client
      .authorizationCodeGrant(config, answer, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      .then((tokens) => tokens.claims()!, refused);
    const textOf = (value: unknown) =>
      typeof value === "string" && value.trim() !== "" ? value.trim().slice(0, 1000) : null;
    const given = [claims["given_name"], claims["family_name"]].map(textOf).filter(Boolean);
    const groups = claims[this.#options.groupsClaim];
    return {
      issuer: claims.iss,
      subject: claims.sub,
      name: textOf(claims["name"]) ?? textOf(given.join(" ")),
      email: textOf(claims["email"]),
      groups: (Array.isArray(groups) ? groups : [groups])
        .slice(0, MAX_GROUPS)
        .filter((group) => typeof group === "string"),
    };
  }

  async #config(): Promise<client.Configuration> {
    const now = Date.now();
    if (this.#known && this.#known.until > now) return this.#known.config;
    const { issuer, clientId, clientSecret } = this.#options;
    const isLoopback = issuer.startsWith("http:");
    const config = client
      .discovery(new URL(issuer), clientId, undefined, client.ClientSecretBasic(clientSecret), {
        [client.customFetch]: this.#fetch,
        timeout: TIMEOUT / 1000,
        execute: [
          // The signature too, not only the connection from which the token came.
          client.enableNonRepudiationChecks,
          ...(isLoopback ? [client.allowInsecureRequests] : []),
        ],
      })
      .catch((error: unknown) => {
        this.#known = undefined;
        return refused(error);
      });
    this.#known = { config, until: now + FRESH };
    return config;
  }

  /** Connects to the origins of the setting only, whatever the metadata of the issuer names. */
  readonly #fetch: client.CustomFetch = async (address, options) => {
    const { origin } = new URL(address);
    const { issuer, origins } = this.#options;
    if (origin !== new URL(issuer).origin && !origins.includes(origin))
      throw new SignInRefused(`its metadata names ${origin}, which OIDC_ISSUERS does not`);
    const answer = await fetch(address, {
      method: options.method,
      headers: options.headers,
      body: options.body as BodyInit,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of answer.body ?? []) {
      size += part.byteLength;
      if (size > MAX_BYTES)
        throw new SignInRefused(`it answered with more than ${MAX_BYTES} bytes`);
      parts.push(part);
    }
    const { status, headers } = answer;
    return new Response(size === 0 ? null : Buffer.concat(parts), { status, headers });
  };
}

/** @throws SignInRefused with a reason from the protocol, which holds no secret */
function refused(error: unknown): never {
  if (error instanceof SignInRefused) throw error;
  const { message, error: code, cause } = error as Error & { error?: string; cause?: unknown };
  if (cause instanceof SignInRefused) throw cause;
  throw new SignInRefused((code ?? message).slice(0, 300), { cause: error });
}
