import type { Page, Viewer } from "./record.js";

export type AccessState = "asked" | "granted" | "declined" | "revoked";

/** What a user asked for: to read the content of a record; and what was decided. */
export interface AccessRequest {
  /** UUID; who asks again gets a new one. */
  id: string;
  /** ARK of the record. */
  record: string;
  /** ARK of the user. */
  requester: string;
  reason: string;
  state: AccessState;
  askedAt: number;
  /** End of a grant; null: it has none. */
  until: number | null;
  /** To the requester. */
  message: string | null;
  decidedAt: number | null;
  /** ARK of the user. */
  decidedBy: string | null;
}

/** One of `record`, `requester` and `actingFor` is given. */
export interface AccessRequestQuery {
  record?: string | undefined;
  requester?: string | undefined;
  /** Those of live records whose owner this one acts for. */
  actingFor?: Viewer | undefined;
  /** `expired`: granted, and its end is over at `now`. */
  state?: AccessState | "expired" | undefined;
  now: number;
}

/** A user has at most one for a record. Those of a deleted record or account are deleted with it. */
export interface AccessRequestStore {
  /**
   * Stores one that is asked. It takes the place of a grant that has expired, or of one that was
   * declined or revoked at `decidedBefore` or earlier.
   * @param limit.most that are asked and not decided of the user
   * @returns false where another one stands in the way, or the user has too many
   */
  askForAccess(
    request: Pick<AccessRequest, "id" | "record" | "requester" | "reason" | "askedAt">,
    limit: { most: number; decidedBefore: number },
  ): Promise<boolean>;
  accessRequest(
    which: { id: string } | Pick<AccessRequest, "record" | "requester">,
  ): Promise<AccessRequest | undefined>;
  /** Of these records those that were granted to the user, also where the grant has expired. */
  accessGrants(
    requester: string,
    records: readonly string[],
  ): Promise<Pick<AccessRequest, "record" | "until">[]>;
  /** The newest first; `positions[i]` is that of `items[i]`. */
  accessRequests(
    query: AccessRequestQuery & { after?: string | undefined; limit: number },
  ): Promise<Page<AccessRequest> & { positions: string[] }>;
  countAccessRequests(query: AccessRequestQuery): Promise<number>;
  /** @returns false where there is none with this id */
  decideAccess(
    decision: Pick<AccessRequest, "id" | "state" | "until" | "message" | "decidedAt" | "decidedBy">,
  ): Promise<boolean>;
}
