/** Secrets of reviewers' links, as requests send them. */
import { ServiceError } from "../../errors.js";
import type { ReviewLink } from "../../storage/records/port.js";
import type { Review } from "../access/review.js";
import type { Deps } from "../deps.js";
import { hashOf, newSecret } from "./credentials.js";

/** Programs that look for leaked secrets recognise them by it. */
export const REVIEW_PREFIX = "arkreview_";
const SECRET = /^arkreview_[\w-]{43}$/;

export const newReviewSecret = (): string => REVIEW_PREFIX + newSecret();

export const isReviewSecret = (text: string): boolean => SECRET.test(text);

/** The link of a secret, while it is valid. */
export async function liveReviewLink(
  { records }: Pick<Deps, "records">,
  secret: string,
  now = Date.now(),
): Promise<ReviewLink | undefined> {
  if (!isReviewSecret(secret)) return undefined;
  const link = await records.reviewLink(hashOf(secret));
  return link && link.expiresAt > now ? link : undefined;
}

export const noSuchLink = (): ServiceError =>
  new ServiceError(
    "NOT_FOUND",
    "No review link has this address: it was revoked, has expired, or never existed. " +
      "Ask who sent it for another one.",
  );

/** Uses by a program within this time (ms) are counted as one. */
const NOTED_USE = 60_000;

/** Counts a use; the reader's request does not wait for the disk, nor fail with it. */
export function countUse(
  { records, log }: Pick<Deps, "records" | "log">,
  { hash, usedAt }: ReviewLink,
  now = Date.now(),
): void {
  if (now - (usedAt ?? 0) < NOTED_USE) return;
  records
    .useReviewLink(hash, now)
    .catch((error: unknown) => log.warn({ err: error }, "the use of a review link was not noted"));
}

/**
 * A browser opens the address of a link: it counts a use.
 * @throws ServiceError `NOT_FOUND`
 */
export async function openReviewLink(
  deps: Pick<Deps, "records">,
  secret: string,
  now = Date.now(),
): Promise<Review> {
  const link = await liveReviewLink(deps, secret, now);
  if (!link) throw noSuchLink();
  await deps.records.useReviewLink(link.hash, now);
  return link;
}
