import { ServiceError } from "../../errors.js";

/** Who asks: the account behind a verified token. */
export interface Caller {
  /** ARK of the user record, stored form. */
  readonly user: string;
  readonly admin: boolean;
}

/** @throws ServiceError `NOT_AUTHENTICATED` */
export function authenticated(caller: Caller | null): Caller {
  if (caller) return caller;
  throw new ServiceError("NOT_AUTHENTICATED", "This operation needs a token: send Authorization: Bearer <token>, obtained from POST /token.");
}
