/** Reviewers' links: secret addresses that show a record to people without an account. */
import { randomUUID } from "node:crypto";
import { invalid, ServiceError, ValidationError, type ValidationItem } from "../../errors.js";
import type { Ark } from "../../identifiers/ark.js";
import { instantOf } from "../../model/dates.js";
import { withArticle } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import type { ReviewLink } from "../../storage/records/port.js";
import { record as recordAct } from "../access/audit.js";
import type { Caller } from "../access/rules.js";
import { mayBePrivate } from "../access/visibility.js";
import { hashOf } from "../accounts/credentials.js";
import { newReviewSecret } from "../accounts/review-secrets.js";
import type { Deps } from "../deps.js";
import { findChangeable } from "./write.js";

/** A link as those see it who may change its record. */
export interface ShownReviewLink {
  id: string;
  record: string;
  createdAt: Date;
  createdBy: string;
  expiresAt: Date;
  anonymous: boolean;
  uses: number;
  usedAt: Date | null;
}

const DAY = 86_400_000;
/** How long a link is valid where its maker names no end. */
const DEFAULT_LIFETIME = 90 * DAY;

/** What a client asks for; all may be of any type. */
interface Asked {
  /** Date or date-time. */
  expiresAt?: unknown;
  /** Names of people are hidden. */
  anonymous?: unknown;
}

/**
 * Makes a link to a record that the caller may change.
 * @returns its address, which cannot be read again
 * @throws ValidationError; ServiceError as {@link findChangeable}, `TOO_MANY_REQUESTS` past
 * MAX_REVIEW_LINKS
 */
export async function createReviewLink(
  deps: Deps,
  ark: Ark,
  asked: Asked,
  caller: Caller,
  now = Date.now(),
): Promise<{ address: string; link: ShownReviewLink }> {
  const record = await findChangeable(deps, ark, caller);
  if (!mayBePrivate(record.kind))
    throw invalid(
      ["body", "id"],
      `Value error, ${record.ark} is ${withArticle(KINDS[record.kind].typeName)}, which everybody ` +
        "sees: link to what is reviewed",
    );
  if (asked.anonymous === true && !record.private)
    throw invalid(
      ["body", "anonymous"],
      `Value error, ${record.ark} is open: everybody sees its names. Only a private record has an ` +
        "anonymous link",
    );
  const secret = newReviewSecret();
  const link: ReviewLink = {
    hash: hashOf(secret),
    id: randomUUID(),
    record: record.ark,
    createdBy: caller.user,
    createdAt: now,
    ...checked(asked, now, deps.config.REVIEW_LINK_LIFETIME),
    uses: 0,
    usedAt: null,
  };
  const { MAX_REVIEW_LINKS: most } = deps.config;
  if (!(await deps.records.storeReviewLink(link, most)))
    throw new ServiceError(
      "TOO_MANY_REQUESTS",
      `${record.ark} has ${most} review links, which is the most (MAX_REVIEW_LINKS). ` +
        "Revoke one first.",
    );
  await recordAct(deps, "REVIEW_LINK_CREATED", {
    actor: caller.user,
    subject: record.ark,
    detail: { link: link.id, anonymous: link.anonymous },
  });
  return { address: `${deps.baseUrl()}/review/${secret}`, link: shown(link) };
}

function checked(
  { expiresAt, anonymous = false }: Asked,
  now: number,
  longest: number,
): Pick<ReviewLink, "expiresAt" | "anonymous"> {
  const problems: ValidationItem[] = [];
  const problem = (field: string, msg: string) =>
    void problems.push({ loc: ["body", field], msg, type: "value_error" });
  let at = now + Math.min(DEFAULT_LIFETIME, longest);
  if (expiresAt !== undefined && expiresAt !== null) {
    at = (typeof expiresAt === "string" ? instantOf(expiresAt) : undefined) ?? Number.NaN;
    if (Number.isNaN(at)) problem("expiresAt", "Input should be a valid datetime or date");
    else if (at <= now) problem("expiresAt", "Value error, the time has passed: name a later one");
    else if (at > now + longest)
      problem(
        "expiresAt",
        `Value error, a link is valid for at most ${Math.floor(longest / DAY)} days ` +
          "(REVIEW_LINK_LIFETIME)",
      );
  }
  if (anonymous !== null && typeof anonymous !== "boolean")
    problem("anonymous", "Input should be a valid boolean");
  if (problems.length > 0) throw new ValidationError(problems);
  return { expiresAt: at, anonymous: anonymous === true };
}

const shown = ({ id, record, createdBy, ...link }: ReviewLink): ShownReviewLink => ({
  id,
  record,
  createdAt: new Date(link.createdAt),
  createdBy,
  expiresAt: new Date(link.expiresAt),
  anonymous: link.anonymous,
  uses: link.uses,
  usedAt: link.usedAt === null ? null : new Date(link.usedAt),
});

/**
 * The links of a record that are valid, the newest first.
 * @throws as {@link findChangeable}
 */
export async function listReviewLinks(
  deps: Pick<Deps, "records">,
  ark: Ark,
  caller: Caller,
  now = Date.now(),
): Promise<ShownReviewLink[]> {
  const record = await findChangeable(deps, ark, caller);
  const links = await deps.records.reviewLinksOf(record.ark);
  return links.filter(({ expiresAt }) => expiresAt > now).map(shown);
}

/** Ends a link at once. @throws ServiceError as {@link findChangeable}, `NOT_FOUND` */
export async function revokeReviewLink(
  deps: Deps,
  ark: Ark,
  id: string,
  caller: Caller,
): Promise<ShownReviewLink> {
  const record = await findChangeable(deps, ark, caller);
  const link = (await deps.records.reviewLinksOf(record.ark)).find((each) => each.id === id);
  if (!link || !(await deps.records.removeReviewLink(record.ark, id)))
    throw new ServiceError(
      "NOT_FOUND",
      `${record.ark} has no review link with the id ${id.slice(0, 100)}.`,
    );
  await recordAct(deps, "REVIEW_LINK_REVOKED", {
    actor: caller.user,
    subject: record.ark,
    detail: { link: id },
  });
  return shown(link);
}
