import type { RequestHandler } from "express";
import type { Tracing } from "../../adapters/telemetry/port.js";

/**
 * Answers each request in a span. The API that answers names its route, as the contract writes it, in
 * `res.locals.route`.
 */
export const traced =
  (tracing: Tracing): RequestHandler =>
  (req, res, next) =>
    tracing.request(
      req,
      res,
      () => res.locals["route"] as string | undefined,
      () => next(),
    );
