import { ServiceError } from "../../../errors.js";

/** The endpoint has read a request and refuses it: sent again it would be refused again. */
export class EndpointRefusal extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
    this.name = "EndpointRefusal";
  }
}

const AGAIN = { "Retry-After": "5" };

/** @param reason for the log's reader and the caller alike: it names settings, no hosts */
export const away = (reason: string): ServiceError => new ServiceError("STORE_UNAVAILABLE", `The SPARQL endpoint cannot be used: ${reason}. Records, lists and writes go on; try again later.`, {}, AGAIN);

export const late = (timeout: number, setting = "QUERY_TIMEOUT"): ServiceError =>
  new ServiceError("QUERY_TIMEOUT", `The query ran longer than ${timeout} ms (${setting}) and was ended; ask for less at a time.`, {}, { "Retry-After": "1" });

/** Limits of the endpoint's own, in its own words. */
const TIMED_OUT = /time[d -]{0,2}out|time limit|cancelled/i;

/**
 * What an answer that is not 2xx means.
 * @param body the beginning of what was answered
 */
export function refusalOf(status: number, body: string): Error {
  const words = body.replaceAll(/\s+/g, " ").trim().slice(0, 300);
  if (status === 401 || status === 403) return away(`it answers ${status}; see SPARQL_USER and SPARQL_PASSWORD`);
  if (status === 404 || status === 405) return away(`it answers ${status}; see SPARQL_QUERY_URL and SPARQL_UPDATE_URL`);
  if (status >= 300 && status < 400) return away(`it answers ${status}, a redirection, which is not followed; set SPARQL_QUERY_URL and SPARQL_UPDATE_URL to where it leads`);
  if (status === 408 || (status >= 500 && TIMED_OUT.test(words))) return new ServiceError("QUERY_TIMEOUT", "The SPARQL endpoint ended the query by a time limit of its own; ask for less at a time.", {}, { "Retry-After": "1" });
  if (status === 429 || status >= 500) return away(`it answers ${status}`);
  return new EndpointRefusal(status, words);
}
