import { ServiceError } from "../../errors.js";
import { hasPage, refusalPage } from "../../web/refusal-page.js";
import { PAGE_POLICY } from "../page-policy.js";
import { sendBytes } from "../reply.js";
import type { RestRequest } from "../request.js";
import { negotiate } from "./negotiate.js";

/**
 * Sends a record; where there is none, a browser that asks for a page is told so in one, with the status that all
 * others get with their JSON.
 * @throws what `send` throws, for everyone else
 */
export async function orRefusalPage(request: RestRequest, send: () => Promise<void>): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (!(error instanceof ServiceError) || !hasPage(error)) throw error;
    const headers = { ...error.headers, Vary: "Accept, Authorization" };
    if (!asksForPage(request)) throw new ServiceError(error.code, error.message, error.extra, headers);
    const { req, res, path } = request;
    sendBytes(req, res, Buffer.from(refusalPage(error, path)), { status: error.status, type: "text/html; charset=utf-8", headers: { ...headers, "Cache-Control": "no-cache", "Content-Security-Policy": PAGE_POLICY } });
  }
}

function asksForPage({ req, query, inflection }: RestRequest): boolean {
  if (inflection) return false;
  try {
    return negotiate(req.headers.accept, query["format"]) === "text/html";
  } catch {
    // What cannot be negotiated is no page; that there is no record is the more telling refusal.
    return false;
  }
}
