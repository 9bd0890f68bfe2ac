import type { RequestHandler } from "express";
import type { RequestObserver } from "../metrics.js";

/**
 * Reports a response when it has been sent, or when its client has disconnected. The API that
 * answers names its operation in `res.locals.operation`.
 */
export const metrics =
  (observer: RequestObserver): RequestHandler =>
  (_req, res, next) => {
    const began = performance.now();
    res.once("close", () => {
      const lasts = String(res.getHeader("content-type") ?? "").startsWith("text/event-stream");
      observer.answered(
        (res.locals["operation"] as string | undefined) ?? "other",
        res.writableFinished ? String(res.statusCode) : "gone",
        lasts ? undefined : (performance.now() - began) / 1000,
      );
    });
    next();
  };
