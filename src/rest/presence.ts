import { ServiceError } from "../errors.js";
import type { RestRequest } from "./request.js";

/** Aborted when the client has left before its answer: nobody would see it. */
export function presence({ res }: Pick<RestRequest, "res">): AbortSignal {
  const leaving = new AbortController();
  res.once("close", () => {
    if (!res.writableFinished) leaving.abort(new ServiceError("BAD_REQUEST", "The client left before the answer."));
  });
  return leaving.signal;
}
