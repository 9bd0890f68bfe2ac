import { createHash, randomBytes } from "node:crypto";
import type { Account, Credential, CredentialPurpose } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";

/** 256 random bits, as 43 characters. */
export const newSecret = (): string => randomBytes(32).toString("base64url");

/** Access tokens begin with it: programs that look for leaked secrets recognise them. */
export const ACCESS_TOKEN_PREFIX = "arkgraph_";

/** Form in which secrets are stored; a secret of 256 bits needs no slow hash. */
export const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/**
 * The credential that a secret stands for, with its account, while both are valid. A new password,
 * and disabling or deleting the account, end all credentials from before.
 */
export async function liveCredential(
  { records }: Pick<Deps, "records">,
  secret: string,
  purpose: CredentialPurpose,
  now: number,
): Promise<{ credential: Credential; account: Account } | undefined> {
  const found = await records.credential(hashOf(secret));
  if (!found || found.credential.purpose !== purpose) return undefined;
  const { credential, account } = found;
  const ended =
    credential.expiresAt <= now ||
    credential.createdAt < account.tokensValidFrom ||
    account.deleted ||
    account.disabled;
  return ended ? undefined : found;
}

/** Notes a use now and then; the caller's request does not wait for the disk, nor fail with it. */
export function noteUse(
  { records, log }: Pick<Deps, "records" | "log">,
  { hash, purpose, usedAt, createdAt }: Credential,
  { now, every }: { now: number; every: number },
): void {
  // The first use of a token is always noted.
  if (now - (usedAt ?? (purpose === "session" ? createdAt : 0)) < every) return;
  records
    .useCredential(hash, now)
    .catch((error: unknown) => log.warn({ err: error }, "the use of a credential was not noted"));
}
