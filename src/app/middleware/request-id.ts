import type { RequestHandler } from "express";
import { requestIdOf } from "../../config/client.js";

/** Every answer names its request, as the log does. */
export const requestId: RequestHandler = (req, res, next) => {
  res.setHeader("X-Request-Id", requestIdOf(req));
  next();
};
