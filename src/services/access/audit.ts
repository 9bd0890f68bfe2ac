/**
 * The audit log: who came in, and who changed what others may do. Services record here what is no
 * part of a commit; the stores record commits themselves (`storage/records/audit.ts`).
 */
import { networkOf } from "../../config/client.js";
import { lookupArk } from "../../identifiers/ark.js";
import type { AuditAction, AuditDetail } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";

type AuditDeps = Pick<Deps, "records" | "log" | "client">;

interface Act {
  /** ARK of the user who did it; null where nobody is known. */
  actor: string | null;
  /** ARK of what it was done to. */
  subject?: string | null;
  /** The user name of a refused sign-in. */
  name?: string | null;
  detail?: AuditDetail;
}

/** Records an act after it was done. Where that fails, the act stands, and the log says so. */
export async function record(
  { records, log, client }: AuditDeps,
  action: AuditAction,
  { actor, subject = null, name = null, detail = {} }: Act,
): Promise<void> {
  const address = client ?? null;
  await records
    .appendAudit({ at: Date.now(), action, actor, name, address, subject, detail })
    .catch((error: unknown) =>
      log.error({ err: error, action, actor, subject, address }, "an act was not recorded"),
    );
}

const HOUR = 3_600_000;
/** Refused sign-ins of one network in an hour that have an entry each. */
const MOST_REFUSED = 20;

/** How somebody tried to come in. */
interface Attempt {
  way:
    | "password"
    | "change"
    | "reset"
    | "adminToken"
    | "issuer"
    | "token"
    | "refreshToken"
    | "reviewLink";
  /** What was entered. */
  name?: string;
  /** ARK of the account, where there is one. */
  account?: string | undefined;
  issuer?: string;
}

/**
 * Records that a sign-in was refused. A flood of guesses does not fill the disk: past
 * {@link MOST_REFUSED} in an hour from one network, an entry follows at each doubling and says how
 * many they are.
 */
export async function recordRefusal(
  deps: AuditDeps & Pick<Deps, "shared">,
  { way, name, account, issuer }: Attempt,
): Promise<void> {
  const { count } = await deps.shared.count(`audit ${networkOf(deps.client ?? "")}`, HOUR);
  const subject = account ?? null;
  const detail = { way, ...(issuer === undefined ? {} : { issuer }) };
  if (count <= MOST_REFUSED)
    await record(deps, "SIGN_IN_REFUSED", {
      actor: null,
      name: name === undefined ? null : shownName(name),
      subject,
      detail,
    });
  else if (Number.isInteger(Math.log2(count / MOST_REFUSED)))
    await record(deps, "SIGN_IN_REFUSED", { actor: null, subject, detail: { attempts: count } });
}

const MAX_NAME_CHARS = 254;
const EMAIL = /^[^\s@]+@[^\s@]+\.[a-z]{2,}$/i;

/**
 * People enter their password in the wrong field: only what has the form of an e-mail address or
 * identifier is stored.
 */
function shownName(name: string): string | null {
  const bare = name.trim();
  const isName = bare.length <= MAX_NAME_CHARS && (EMAIL.test(bare) || lookupArk(bare));
  return isName ? bare : null;
}

/** Records the first use of a token from an address in an hour. */
export async function recordTokenUse(
  deps: AuditDeps & Pick<Deps, "shared">,
  { actor, kind, token }: { actor: string; kind: "access" | "bearer" | "refresh"; token: string },
): Promise<void> {
  const { count } = await deps.shared.count(`audit ${token} ${deps.client ?? ""}`, HOUR);
  if (count > 1) return;
  const named = kind === "access" ? { token } : {};
  await record(deps, "TOKEN_USED", { actor, detail: { kind, ...named } });
}
