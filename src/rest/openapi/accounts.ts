import type { JsonObject } from "../../model/field.js";
import { json, schemaRef, type Operation } from "./operation.js";

const CREDENTIALS: JsonObject = { grant_type: "password", username: "ada@example.org", password: "correct horse battery staple" };

/** Two routes for one purpose: `/token` is the security scheme's, `/login` is what the overview names. */
const tokenOperation = (path: "/token" | "/login"): Operation => ({
  method: "post", path, operationId: path.slice(1), tag: "accounts", summary: "Exchange user name and password for an access token",
  description: "OAuth 2.0 password grant. The answer is the same, and takes the same time, whether the account is unknown or the password wrong.",
  body: {
    "application/x-www-form-urlencoded": { schema: schemaRef("TokenRequest"), example: CREDENTIALS, exampleName: "Credentials" },
    "application/json": { schema: schemaRef("TokenRequest"), example: CREDENTIALS, exampleName: "Credentials" },
  },
  bodyLimit: "MAX_LOGIN_BYTES",
  answer: { description: "A token.", content: json(schemaRef("Token"), { access_token: "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl", token_type: "bearer", expires_in: 86400 }) },
  refusals: ["BAD_CREDENTIALS", "UNSUPPORTED_MEDIA_TYPE", "TOO_LARGE", "TOO_MANY_REQUESTS"],
});

export const ACCOUNTS: readonly Operation[] = [tokenOperation("/token"), tokenOperation("/login")];
