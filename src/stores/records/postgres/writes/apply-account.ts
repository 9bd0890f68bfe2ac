import type { Account, AccountChange } from "../../accounts-port.js";
import { emailTaken, hasAccount, isSpent, noAccount } from "../../refusals.js";
import type { Ledger } from "./ledger.js";

/** Changes an account, in memory. @throws what the port says */
export function applyAccount(ledger: Ledger, change: AccountChange): void {
  const { user } = change;
  if (change.op !== "delete" && change.spends) {
    const { name, value } = change.spends;
    if (value === "" || ledger.settings.get(name) !== value) throw isSpent(name);
    ledger.set(ledger.settings, name, "");
    ledger.spent.push(name);
  }
  const before = ledger.accounts.get(user);
  if (change.op === "create" && before) throw hasAccount(user);
  if (change.op !== "create" && (!before || before.deleted)) throw noAccount(user);
  const after = changed(change, before);
  if (!after.deleted && [...ledger.accounts.values()].some((other) => !other.deleted && other.user !== user && other.email === after.email)) throw emailTaken();
  ledger.set(ledger.accounts, user, after);
  ledger.changedAccounts.add(user);
}

function changed(change: AccountChange, before: Account | undefined): Account {
  const { user } = change;
  switch (change.op) {
    case "create":
      return { user, email: change.email, passwordHash: change.passwordHash, admin: change.admin, tokensValidFrom: 0, deleted: false };
    case "update": {
      const { email, passwordHash, admin, tokensValidFrom } = change;
      return { ...before!, ...(email === undefined ? {} : { email }), ...(passwordHash === undefined ? {} : { passwordHash }), ...(admin === undefined ? {} : { admin }), ...(tokensValidFrom === undefined ? {} : { tokensValidFrom }) };
    }
    case "delete":
      // Nothing private stays; the row does, so that tokens of the account are known to be ended.
      return { ...before!, email: "", passwordHash: "", admin: false, deleted: true };
  }
}
