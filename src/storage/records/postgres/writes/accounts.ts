import type { AccountChange } from "../../port.js";
import { emailTaken, hasAccount, isSpent, noAccount } from "../../refusals.js";
import { forgetRequestsOf } from "../access-requests.js";
import { type Sending, StatementError, statement } from "../statement.js";

const SPEND = statement<[name: string]>(
  "UPDATE setting SET value = '' WHERE name = $1 AND value = $2 AND value <> '' RETURNING name",
);
const CREATE = statement<[user: string]>(
  `INSERT INTO account (person, email, password_hash, admin, tokens_valid_from, deleted, disabled)
    VALUES ($1, $2, $3, $4, 0, false, false) ON CONFLICT (person) DO NOTHING RETURNING person`,
);
const UPDATE = statement<[user: string]>(
  `UPDATE account SET email = coalesce($2, email), password_hash = coalesce($3, password_hash),
    admin = coalesce($4, admin), tokens_valid_from = coalesce($5, tokens_valid_from),
    disabled = coalesce($6, disabled) WHERE person = $1 AND deleted = false RETURNING person`,
);
/** All private data are removed; the row stays, so that tokens of the account are known as ended. */
const DELETE = statement<[user: string]>(
  `UPDATE account SET email = '', password_hash = '', admin = false, deleted = true,
    signed_in_at = NULL WHERE person = $1 AND deleted = false RETURNING person`,
);
const FORGET_IDENTITIES = statement("DELETE FROM identity WHERE person = $1");
const FORGET_CREDENTIALS = statement("DELETE FROM credential WHERE person = $1");

/** @throws the refusals of the port; a taken address is refused by the unique index */
export async function changeAccount(sending: Sending, change: AccountChange): Promise<void> {
  const { user } = change;
  if (change.op !== "delete" && change.spends) {
    const { name, value } = change.spends;
    if ((await sending.send(SPEND, [name, value])).length === 0) throw isSpent(name);
  }
  const changed = await storeChange(sending, change).catch((error: unknown) => {
    throw error instanceof StatementError && error.code === UNIQUE_VIOLATION ? emailTaken() : error;
  });
  if (changed.length === 0) throw change.op === "create" ? hasAccount(user) : noAccount(user);
  // Not by the time of either: nodes' clocks differ.
  if (change.op === "delete" || (change.op === "update" && change.tokensValidFrom !== undefined))
    void sending.send(FORGET_CREDENTIALS, [user]);
  if (change.op === "delete") {
    void sending.send(FORGET_IDENTITIES, [user]);
    forgetRequestsOf(sending, user);
  }
}

const UNIQUE_VIOLATION = "23505";

function storeChange(sending: Sending, change: AccountChange): Promise<[user: string][]> {
  const { user } = change;
  switch (change.op) {
    case "create":
      return sending.send(CREATE, [user, change.email, change.passwordHash, change.admin]);
    case "update":
      return sending.send(UPDATE, [
        user,
        change.email ?? null,
        change.passwordHash ?? null,
        change.admin ?? null,
        change.tokensValidFrom ?? null,
        change.disabled ?? null,
      ]);
    case "delete":
      return sending.send(DELETE, [user]);
  }
}
