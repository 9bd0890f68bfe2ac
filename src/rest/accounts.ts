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
import type { JsonObject } from "../model/field.js";
import { userOf } from "../services/accounts/accounts.js";
import { listAccessTokens, revokeAccessToken } from "../services/accounts/credentials.js";
import { deviceTokens } from "../services/accounts/device.js";
import { endRefresh, refresh } from "../services/accounts/refresh.js";
import { textIn } from "../services/administration/accounts.js";
import { assertOwnPage, type Session } from "../services/accounts/sessions.js";
import { viewOf } from "../services/records/view.js";
import { sendRecord, sendWritten } from "./record-forms.js";
import { arkOf, type Handler, type Handlers, type RestRequest } from "./request.js";

const accounts = new AccountResolver();

const token: Handler = async ({ req, res, context }) => {
  const answer = await accounts.token(
    await readForm(req, context.deps, "MAX_LOGIN_BYTES"),
    context,
  );
  sendJson(req, res, answer, { headers: NOT_CACHED });
};

/** RFC 6749, section 5.1: tokens are not cached. */
const NOT_CACHED = { "Cache-Control": "no-store", Pragma: "no-cache" };

const sentRefreshToken = async ({ req, context }: RestRequest): Promise<string> =>
  textIn(await readForm(req, context.deps, "MAX_LOGIN_BYTES"), "refresh_token");

const sendSession = async (
  { req, res, context }: RestRequest,
  session: Session | undefined,
): Promise<void> => {
  const caller = session?.caller ?? null;
  const record = caller ? await userOf(context.deps, caller) : undefined;
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
    const record = await userOf(context.deps, context.caller);
    if (!record)
      throw new ServiceError("NOT_FOUND", "The user behind the token is not stored here any more.");
    await sendRecord(
      request,
      await viewOf(context.deps, record, context.caller),
      `/user/${encodeURI(record.ark)}`,
    );
  },
};

export const accountOperations: Handlers = {
  token,
  login: token,
  refresh_token: async (request) => {
    const { req, res, context } = request;
    const answer = await refresh(context.deps, await sentRefreshToken(request));
    sendJson(req, res, answer, { headers: NOT_CACHED });
  },
  begin_device_login: async ({ req, res, context }) => {
    sendJson(req, res, await accounts.beginDevice(context), { headers: NOT_CACHED });
  },
  device_token: async ({ req, res, context }) => {
    const form = await readForm(req, context.deps, "MAX_LOGIN_BYTES");
    const tokens = await deviceTokens(context.deps, textIn(form, "device_code"));
    sendJson(req, res, tokens ?? { pending: true }, { headers: NOT_CACHED });
  },
  revoke_refresh_token: async (request) => {
    const { req, res, context } = request;
    await endRefresh(context.deps, await sentRefreshToken(request));
    sendJson(req, res, { revoked: true }, { headers: NOT_CACHED });
  },
};

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

const credentials = new CredentialResolver();

export const credentialOperations: Handlers = {
  list_access_tokens: async ({ req, res, context }) => {
    const { deps, caller } = signedIn(context);
    sendJson(req, res, await listAccessTokens(deps, caller), { headers: NOT_STORED });
  },
  create_access_token: async ({ req, res, context }) => {
    const signed = signedIn(context);
    const asked = ((await readJson(req, context.deps)) ?? {}) as JsonObject;
    sendJson(req, res, await credentials.create(asked, signed), { headers: NOT_STORED });
  },
  revoke_access_token: async ({ req, res, params, context }) => {
    const id = params.token_id;
    const { deps, caller } = signedIn(context);
    await revokeAccessToken(deps, id, caller);
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
