/** An issuer of OpenID Connect whose answers a test writes: what it says need not be true. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import jwt from "jsonwebtoken";

export const CLIENT = { id: "registry", secret: "a secret of the registry" };

const keys = (kid: string) => ({
  kid,
  ...generateKeyPairSync("rsa", { modulusLength: 2048 }),
});
type Keys = { kid: string; privateKey: KeyObject; publicKey: KeyObject };

export interface LyingIssuer {
  readonly url: string;
  /** Changes the claims of the next ID token. */
  claims: (nonce: string) => object;
  /** Signs the next ID token; the published key is another one. */
  readonly formerKey: Keys;
  signedBy: Keys | undefined;
  /** Replaces members of the metadata document. */
  metadata: object;
  /** Bytes that follow the token endpoint's answer. */
  padding: number;
  readonly asked: string[];
  stop(): Promise<void>;
}

export async function lyingIssuer(nonceOf: () => string): Promise<LyingIssuer> {
  const [current, formerKey] = [keys("current"), keys("current")];
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer: LyingIssuer = {
    url,
    claims: () => ({}),
    formerKey,
    signedBy: undefined,
    metadata: {},
    padding: 0,
    asked: [],
    stop: () => new Promise((resolve) => void server.close(() => resolve())),
  };
  const now = () => Math.floor(Date.now() / 1000);
  const answer = (path: string): object => {
    if (path === "/.well-known/openid-configuration")
      return {
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/keys`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
        ...issuer.metadata,
      };
    if (path === "/keys")
      return {
        keys: [
          {
            ...current.publicKey.export({ format: "jwk" }),
            kid: "current",
            use: "sig",
            alg: "RS256",
          },
        ],
      };
    const claims = {
      iss: url,
      aud: CLIENT.id,
      sub: "someone",
      iat: now(),
      exp: now() + 60,
      nonce: nonceOf(),
      ...issuer.claims(nonceOf()),
    };
    const { privateKey, kid } = issuer.signedBy ?? current;
    return {
      access_token: "x",
      token_type: "Bearer",
      expires_in: 60,
      padding: "x".repeat(issuer.padding),
      id_token: jwt.sign(claims, privateKey, { algorithm: "RS256", keyid: kid }),
    };
  };
  server.on("request", (req, res) => {
    issuer.asked.push(req.url!);
    res.writeHead(200, { "Content-Type": "application/json", Connection: "close" });
    res.end(JSON.stringify(answer(req.url!)));
  });
  return issuer;
}
