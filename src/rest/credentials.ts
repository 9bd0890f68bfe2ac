import { CredentialResolver } from "../graphql/resolvers/access-resolver.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { readJson } from "../http/body.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import type { JsonObject } from "../model/field.js";
import { textIn } from "../services/accounts/administration.js";
import {
  BODY_REFUSALS,
  type ContractRow,
  json,
  path,
  schemaRef,
  WRITE_REFUSALS,
} from "./contract/rows.js";
import type { Handlers } from "./request.js";

const TOKEN: JsonObject = {
  id: "1b4e28ba-2fa1-4d2b-883f-0016d3cca427",
  name: "Notebook on the cluster",
  createdAt: "2026-11-24T09:00:00.000Z",
  usedAt: null,
  expiresAt: "2027-11-24T09:00:00.000Z",
};
const PASSWORDS: JsonObject = {
  currentPassword: "correct horse battery staple",
  newPassword: "another fine phrase",
};
const NEW_TOKEN = {
  access_token: "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl",
  token_type: "bearer",
  expires_in: 86400,
};

export const CREDENTIALS: readonly ContractRow[] = [
  {
    method: "get",
    path: "/me/tokens",
    operationId: "list_access_tokens",
    tag: "accounts",
    summary: "Your access tokens",
    answer: {
      description: "Those that are valid, the newest first.",
      content: json({ type: "array", items: schemaRef("AccessToken") }, [TOKEN]),
    },
    token: "required",
    refusals: ["NOT_AUTHENTICATED"],
  },
  {
    method: "post",
    path: "/me/tokens",
    operationId: "create_access_token",
    tag: "accounts",
    summary: "Make an access token for programs",
    description:
      "A token with a name, which has your rights until it ends (`ACCESS_TOKEN_LIFETIME`) or is " +
      "revoked. `secret` is shown once, and sent as `Authorization: Bearer <secret>`.",
    body: json(schemaRef("AccessTokenRequest"), { name: "Notebook on the cluster" }),
    answer: {
      description: "The token.",
      content: json(schemaRef("CreatedAccessToken"), {
        secret: "arkgraph_cn0zGm3hkFPqYkBFXC3CvnN0GhTW5ZJrfdZQg9mO7Zg",
        token: TOKEN,
      }),
    },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...BODY_REFUSALS],
  },
  {
    method: "delete",
    path: "/me/tokens/{token_id}",
    operationId: "revoke_access_token",
    tag: "accounts",
    summary: "End an access token",
    parameters: [path("token_id", "`id` of the token.", { type: "string" }, TOKEN["id"] as string)],
    answer: {
      description: "The token has ended.",
      content: json(schemaRef("RevokedAccessToken"), { revoked: TOKEN["id"]! }),
    },
    token: "required",
    refusals: ["NOT_AUTHENTICATED", "NOT_FOUND"],
  },
  {
    method: "put",
    path: "/me/password",
    operationId: "change_password",
    tag: "accounts",
    summary: "Set a new password",
    description: "All your tokens and sessions from before end; go on with the new token.",
    body: json(schemaRef("PasswordChange"), PASSWORDS),
    bodyLimit: "MAX_LOGIN_BYTES",
    answer: { description: "A token.", content: json(schemaRef("Token"), NEW_TOKEN) },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...BODY_REFUSALS, "BAD_CREDENTIALS"],
  },
  {
    method: "post",
    path: "/password-reset",
    operationId: "reset_password",
    tag: "accounts",
    summary: "Set a new password with an administrator's token",
    description:
      "Once, within `RESET_LIFETIME`. All tokens and sessions of the account end; sign in then.",
    body: json(schemaRef("PasswordResetRequest"), {
      token: "cn0zGm3hkFPqYkBFXC3CvnN0GhTW5ZJrfdZQg9mO7Zg",
      password: "another fine phrase",
    }),
    bodyLimit: "MAX_LOGIN_BYTES",
    answer: {
      description: "The user.",
      content: json(schemaRef("PasswordWasReset"), { user: "ark:99999/user-ada" }),
    },
    refusals: [...BODY_REFUSALS, "BAD_CREDENTIALS", "TOO_MANY_REQUESTS"],
  },
];

const credentials = new CredentialResolver();

export const credentialOperations: Handlers = {
  list_access_tokens: async ({ req, res, context }) =>
    sendJson(req, res, await credentials.list(signedIn(context)), { headers: NOT_STORED }),
  create_access_token: async ({ req, res, context }) => {
    const signed = signedIn(context);
    const asked = ((await readJson(req, context.deps)) ?? {}) as JsonObject;
    sendJson(req, res, await credentials.create(asked, signed), { headers: NOT_STORED });
  },
  revoke_access_token: async ({ req, res, params, context }) => {
    const id = params["token_id"]!;
    await credentials.revoke(id, signedIn(context));
    sendJson(req, res, { revoked: id }, { headers: NOT_STORED });
  },
  change_password: async ({ req, res, context }) => {
    const signed = signedIn(context);
    const body = await readJson(req, context.deps, "MAX_LOGIN_BYTES");
    const [current, next] = [textIn(body, "currentPassword"), textIn(body, "newPassword")];
    sendJson(req, res, await credentials.change({ current, next }, signed), {
      headers: NOT_STORED,
    });
  },
  reset_password: async ({ req, res, context }) => {
    const body = await readJson(req, context.deps, "MAX_LOGIN_BYTES");
    const sent = { token: textIn(body, "token"), password: textIn(body, "password") };
    sendJson(req, res, { user: await credentials.reset(sent, context) }, { headers: NOT_STORED });
  },
};
