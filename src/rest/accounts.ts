/** Accounts, sessions, access tokens and password resets. */
import { ServiceError } from "../errors.js";
import {
  AccountResolver,
  CredentialResolver,
  GroupResolver,
} from "../graphql/resolvers/account-resolver.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { readForm, readJson } from "../http/body.js";
import { endSession, isFromOwnPage, sessionOf, startSession } from "../http/browsers.js";
import { expectedRevision } from "../http/negotiation.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import type { JsonObject } from "../model/field.js";
import { KINDS } from "../model/kinds.js";
import { textIn } from "../services/administration/accounts.js";
import { assertOwnPage, type Session } from "../services/accounts/sessions.js";
import { viewOf } from "../services/records/view.js";
import { representationsOf } from "./contract/record-rows.js";
import {
  arkPath,
  BODY_REFUSALS,
  type ContractRow,
  FIND_REFUSALS,
  formatQuery,
  IF_MATCH,
  IF_NONE_MATCH,
  json,
  NOT_MODIFIED,
  path,
  query,
  schemaRef,
  WRITE_REFUSALS,
} from "./contract/rows.js";
import { answerOf, recordExample } from "./contract/schemas.js";
import { sendRecord, sendWritten } from "./record-forms.js";
import { arkOf, type Handler, type Handlers, type RestRequest } from "./request.js";

const LOGIN: JsonObject = {
  grant_type: "password",
  username: "ada@example.org",
  password: "correct horse battery staple",
};

/** Two routes for one purpose: the security scheme names `/token`, the overview names `/login`. */
const tokenOperation = (path: "/token" | "/login"): ContractRow => ({
  method: "post",
  path,
  operationId: path.slice(1),
  tag: "accounts",
  summary: "Exchange user name and password for an access token",
  description:
    "OAuth 2.0 password grant. The answer is the same, and takes the same time, whether the " +
    "account is unknown or the password wrong.",
  body: {
    "application/x-www-form-urlencoded": {
      schema: schemaRef("TokenRequest"),
      example: LOGIN,
      exampleName: "Credentials",
    },
    "application/json": {
      schema: schemaRef("TokenRequest"),
      example: LOGIN,
      exampleName: "Credentials",
    },
  },
  bodyLimit: "MAX_LOGIN_BYTES",
  answer: {
    description: "A token.",
    content: json(schemaRef("Token"), {
      access_token: "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl",
      token_type: "bearer",
      expires_in: 86400,
    }),
  },
  refusals: ["BAD_CREDENTIALS", "UNSUPPORTED_MEDIA_TYPE", "TOO_LARGE", "TOO_MANY_REQUESTS"],
});

const USER = recordExample(KINDS.user);

export const ACCOUNTS: readonly ContractRow[] = [
  tokenOperation("/token"),
  tokenOperation("/login"),
  {
    method: "get",
    path: "/me",
    operationId: "me",
    tag: "accounts",
    summary: "The user behind the token",
    answer: {
      description: "The record of the user, private fields included.",
      content: representationsOf(answerOf(KINDS.user), USER, KINDS.user),
      headers: ["ETag", "Link", "X-Publication-Status", "Content-Location"],
    },
    parameters: [IF_NONE_MATCH, formatQuery("user")],
    also: NOT_MODIFIED,
    token: "required",
    refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN", "NOT_FOUND", "NOT_ACCEPTABLE"],
  },
];

const SESSION_ANSWER = {
  description: "The session.",
  content: json(schemaRef("Session"), {
    user: USER["@id"]!,
    name: USER["name"]!,
    admin: false,
    csrf: "cn0zGm3hkFPqYkBFXC3CvnN0GhTW5ZJrfdZQg9mO7Zg",
    expiresAt: "2026-12-01T09:00:00.000Z",
  }),
};

/** Sessions of browsers, for the registry's own pages. */
export const SESSIONS: readonly ContractRow[] = [
  {
    ...tokenOperation("/token"),
    path: "/session",
    operationId: "start_session",
    summary: "Sign a browser in",
    description:
      "For the registry's own pages: the answer sets the session cookie. Only a request of such a " +
      "page is accepted, by `Sec-Fetch-Site` or `Origin`. Programs use `POST /token` instead.\n\n" +
      "The cookie is accepted for everything that a token is. A request that changes something also " +
      "needs the session's CSRF token as `X-CSRF-Token`, and has to come from a page of the registry.",
    answer: SESSION_ANSWER,
    refusals: [
      "BAD_CREDENTIALS",
      "FORBIDDEN",
      "CSRF_REFUSED",
      "UNSUPPORTED_MEDIA_TYPE",
      "TOO_LARGE",
      "TOO_MANY_REQUESTS",
    ],
  },
  {
    method: "get",
    path: "/session",
    operationId: "read_session",
    tag: "accounts",
    summary: "Who is signed in",
    description: "Without a session all members are null, and `admin` is false.",
    answer: SESSION_ANSWER,
    token: "optional",
    refusals: ["INVALID_TOKEN"],
  },
  {
    method: "delete",
    path: "/session",
    operationId: "end_session",
    tag: "accounts",
    summary: "Sign a browser out",
    description: "Ends the session on every node and removes the cookie.",
    answer: { ...SESSION_ANSWER, description: "A session of nobody." },
    token: "optional",
    refusals: ["INVALID_TOKEN"],
  },
];

const accounts = new AccountResolver();

const token: Handler = async ({ req, res, context }) => {
  const answer = await accounts.token(
    await readForm(req, context.deps, "MAX_LOGIN_BYTES"),
    context,
  );
  // RFC 6749, section 5.1: tokens are not cached.
  sendJson(req, res, answer, { headers: { "Cache-Control": "no-store", Pragma: "no-cache" } });
};

const sendSession = async (
  { req, res, context }: RestRequest,
  session: Session | undefined,
): Promise<void> => {
  const caller = session?.caller ?? null;
  const record = caller ? await accounts.own({ ...context, caller }) : undefined;
  const answer = {
    user: caller?.user ?? null,
    name: record?.name ?? null,
    admin: caller?.admin ?? false,
    csrf: session?.csrf ?? null,
    expiresAt: session ? new Date(session.expiresAt).toISOString() : null,
  };
  sendJson(req, res, answer, { headers: NOT_STORED });
};

export const sessionOperations: Handlers = {
  start_session: async (request) => {
    const { req, res, context } = request;
    const { deps } = context;
    assertOwnPage(isFromOwnPage(req, deps));
    const form = await readForm(req, deps, "MAX_LOGIN_BYTES");
    const caller = await accounts.signIn(form, context);
    await sendSession(request, await startSession(deps, req, res, caller));
  },
  read_session: async (request) => {
    await sendSession(request, await sessionOf(request.context.deps, request.req));
  },
  end_session: async (request) => {
    await endSession(request.context.deps, request.req, request.res);
    await sendSession(request, undefined);
  },
};

/** `GET /me`. */
export const ownOperations: Handlers = {
  me: async (request) => {
    const context = signedIn(request.context);
    const record = await accounts.own(context);
    if (!record)
      throw new ServiceError("NOT_FOUND", "The user behind the token is not stored here any more.");
    await sendRecord(
      request,
      await viewOf(context.deps, record, context.caller),
      `/user/${encodeURI(record.ark)}`,
    );
  },
};

export const accountOperations: Handlers = { token, login: token };

const GROUP = recordExample(KINDS.group);
/** Any user besides the owner. */
export const MEMBER = "ark:99999/user-grace";

const membership = (
  route: "addUser" | "rmUser",
  parameter: "userID" | "userId",
  operationId: string,
  summary: string,
  description: string,
): ContractRow => ({
  method: "put",
  path: `/group/ark:{NAAN}/{postfix}/${route}/`,
  operationId,
  tag: "records",
  summary,
  description: `${description} Only the group's owner and administrators change its members.`,
  parameters: [
    ...arkPath(GROUP["@id"] as string),
    {
      ...query(
        parameter,
        "The user, in any spelling of the identifier.",
        { type: "string" },
        MEMBER,
      ),
      required: true,
    },
    IF_MATCH,
  ],
  answer: {
    description: "The updated group.",
    headers: ["ETag", "X-Publication-Status"],
    content: json(answerOf(KINDS.group), {
      ...GROUP,
      members:
        route === "addUser"
          ? [...(EXAMPLES.group["members"] as string[]), MEMBER]
          : EXAMPLES.group["members"]!,
    }),
  },
  token: "required",
  refusals: [...WRITE_REFUSALS, ...FIND_REFUSALS, "OWNER_STAYS", "REVISION_MISMATCH"],
});

export const GROUPS: readonly ContractRow[] = [
  membership(
    "addUser",
    "userID",
    "add_group_user",
    "Make a user a member of a group",
    "Adding an existing member, the owner included, leaves the group unchanged.",
  ),
  membership(
    "rmUser",
    "userId",
    "remove_group_user",
    "End a user's membership of a group",
    "Removing a user who is not a member leaves the group unchanged; the owner cannot be removed.",
  ),
];

const groups = new GroupResolver();

/**
 * The contract spells the parameter differently in the two operations; both accept either spelling.
 */
function change(request: RestRequest, name: "userID" | "userId") {
  const { query, req } = request;
  return {
    group: arkOf(request),
    user: query[name] ?? query["userID"] ?? query["userId"],
    at: ["query", name],
    expectedRevision: expectedRevision(req),
  };
}

export const groupOperations: Handlers = {
  add_group_user: async (request) => {
    const context = signedIn(request.context);
    sendWritten(request, await groups.addMember(change(request, "userID"), context));
  },
  remove_group_user: async (request) => {
    const context = signedIn(request.context);
    sendWritten(request, await groups.removeMember(change(request, "userId"), context));
  },
};

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
