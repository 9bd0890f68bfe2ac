/** Ends requests whose body arrives too slowly. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import type { Config } from "../../config/config.js";
import { ServiceError } from "../../errors.js";
import { hasBody } from "../../http/body.js";
import { errorAnswer } from "../../http/reply.js";
import type { Log } from "../../log.js";

type BodySettings = Pick<Config, "BODY_TIMEOUT" | "BODY_MIN_RATE">;

export function bodyClock(settings: BodySettings, log: Log): RequestHandler {
  const clock = new BodyClock(settings, (req, res, error) => endSlowRequest(req, res, error, log));
  return (req, res, next) => {
    if (hasBody(req)) clock.watch(req, res);
    next();
  };
}

/**
 * Responds with 408 if no response was sent yet, and closes the connection: the code that reads the
 * body gets an aborted stream.
 */
function endSlowRequest(
  req: IncomingMessage,
  res: ServerResponse,
  error: ServiceError,
  log: Log,
): void {
  if (res.headersSent || res.destroyed) return void req.destroy();
  const { status, body, type } = errorAnswer(error, log, req);
  const bytes = Buffer.from(JSON.stringify(body));
  res.writeHead(status, {
    "Content-Type": type,
    "Content-Length": bytes.length,
    Connection: "close",
  });
  res.end(bytes, () => req.destroy());
}

interface Watched {
  req: IncomingMessage;
  res: ServerResponse;
  /** Bytes of the connection when the period began. */ from: number;
  /** How long (ms) of the period the service was ready to read. */ waited: number;
}

/**
 * Ends requests whose body arrives too slowly. One rule applies to small and large bodies: in each
 * period of BODY_TIMEOUT the body must arrive at BODY_MIN_RATE, or end. A body smaller than
 * BODY_TIMEOUT times BODY_MIN_RATE therefore has BODY_TIMEOUT in total, and an upload may take as
 * long as it needs at that rate. Time in which the service itself does not read (a slow disk, a job
 * that waits for its slot) does not count.
 */
class BodyClock {
  readonly #watched = new Set<Watched>();
  readonly #tick: number;
  #timer: NodeJS.Timeout | undefined;

  readonly #settings: BodySettings;
  readonly #expired: (req: IncomingMessage, res: ServerResponse, error: ServiceError) => void;

  /** @param expired responds with 408 to a request whose body took too long */
  constructor(
    settings: BodySettings,
    expired: (req: IncomingMessage, res: ServerResponse, error: ServiceError) => void,
  ) {
    this.#settings = settings;
    this.#expired = expired;

    this.#tick = Math.max(10, Math.min(1000, settings.BODY_TIMEOUT / 10));
  }

  watch(req: IncomingMessage, res: ServerResponse): void {
    const watched: Watched = { req, res, from: req.socket.bytesRead, waited: 0 };
    this.#watched.add(watched);
    req.once("close", () => this.#watched.delete(watched));
    // One timer for all bodies: most end before it fires.
    this.#timer ??= setInterval(() => this.#look(), this.#tick).unref();
  }

  #look(): void {
    const { BODY_TIMEOUT, BODY_MIN_RATE } = this.#settings;
    for (const watched of this.#watched) {
      const { req, res } = watched;
      if (req.complete || req.destroyed) {
        this.#watched.delete(watched);
        continue;
      }
      if (req.readableLength >= req.readableHighWaterMark) continue;
      watched.waited += this.#tick;
      if (watched.waited < BODY_TIMEOUT) continue;
      const received = req.socket.bytesRead - watched.from;
      if (received >= (BODY_MIN_RATE * BODY_TIMEOUT) / 1000) {
        watched.from = req.socket.bytesRead;
        watched.waited = 0;
        continue;
      }
      this.#watched.delete(watched);
      this.#expired(
        req,
        res,
        new ServiceError(
          "BODY_TIMEOUT",
          `The body arrived too slowly: ${received} bytes in ${BODY_TIMEOUT / 1000} s, and ` +
            `at least ${BODY_MIN_RATE} bytes a second must arrive (BODY_TIMEOUT, ` +
            "BODY_MIN_RATE). Send it again over a faster connection.",
        ),
      );
    }
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
