import { AccountResolver } from "../../resolvers/account-resolver.js";
import { readForm } from "../body.js";
import { sendJson } from "../reply.js";
import type { Operation, Operations } from "../request.js";

const accounts = new AccountResolver();

const token: Operation = async ({ req, res, context }) => {
  const answer = await accounts.token(await readForm(req, context.deps, "MAX_LOGIN_BYTES"), context);
  // RFC 6749, section 5.1: tokens are not cached.
  sendJson(req, res, answer, { headers: { "Cache-Control": "no-store", Pragma: "no-cache" } });
};

export const accountOperations: Operations = { token, login: token };
