import type { ErrorRequestHandler, RequestHandler } from "express";
import { ServiceError } from "../../errors.js";
import { decodedPath } from "../../http/reply.js";
import { malformedPath } from "../../rest/request.js";
import type { Site } from "../../web/site.js";

/** @throws ServiceError `NOT_FOUND` */
export const nothingHere: RequestHandler = (req) => {
  throw new ServiceError(
    "NOT_FOUND",
    `There is no ${decodedPath(req.path).slice(0, 200)} here; see /docs for every path.`,
  );
};

/** Answers with the error, as a page where a browser asks for one. */
export const errors =
  (site: Site): ErrorRequestHandler =>
  // Express knows handlers of errors by their four parameters.
  (error: unknown, req, res, _next) =>
    // Express throws a URIError for a path that is no UTF-8.
    site.refuse(req, res, error instanceof URIError ? malformedPath() : error);
