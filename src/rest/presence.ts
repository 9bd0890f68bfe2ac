import { ServiceError } from "../errors.js";
import type { RestRequest } from "./request.js";

/** Aborted when the client has left: nobody would see the answer. */
export function presence({ res }: RestRequest): AbortSignal {
  const leaving = new AbortController();
  res.once("close", () => leaving.abort(new ServiceError("BAD_REQUEST", "The client left before the answer.")));
  return leaving.signal;
}
