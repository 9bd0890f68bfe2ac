/** The streams of server-sent events of this node, in both modes of the protocol GraphQL over SSE. */
import { randomUUID } from "node:crypto";
import type { Request, Response } from "express";
import { GraphQLError } from "graphql";
import { TOKEN_HEADER_KEY, TOKEN_QUERY_KEY } from "graphql-sse";
import { ServiceError } from "../errors.js";
import { preferred } from "../http/negotiation.js";
import { EventStream } from "./event-stream.js";
import type { Streaming } from "./operations.js";
import { parametersOf } from "./parameters.js";
import type { Context } from "./resolvers/context.js";

/** Streams open at a time. */
const MAX_STREAMS = 1_000;
/** One client may have this part of all reservations. */
const SHARE = 1 / 10;
/** Most characters of an operation's name. */
const MAX_ID = 100;

interface Limits {
  /** Operations open at a time on one reserved stream; bound GRAPHQL_MAX_SUBSCRIPTIONS. */
  maxOperations: number;
  /** Bound GRAPHQL_MAX_RESERVATIONS. */
  maxReservations: number;
  /** ms; bound GRAPHQL_RESERVATION_TIME. */
  reservationTime: number;
}

interface Reservation {
  stream: EventStream;
  /** The client that it counts for. */
  client: string;
  user: string | null;
  /** The caller by the credentials of the reservation, as they are now. */
  callerNow: Context["callerNow"];
}

/** The token of the reservation that a request belongs to; undefined for a stream of its own. */
const reservationIn = (req: Request): string | undefined =>
  req.get(TOKEN_HEADER_KEY) ??
  new URL(req.url, "http://localhost").searchParams.get(TOKEN_QUERY_KEY) ??
  undefined;

/** Whether a request opens the stream of a reservation. */
export const opensReserved = (req: Request): boolean =>
  req.method === "GET" &&
  reservationIn(req) !== undefined &&
  /text\/event-stream/.test(req.headers.accept ?? "");

export class EventStreams {
  readonly #streaming: Streaming;
  readonly #limits: Limits;
  readonly #open = new Set<EventStream>();
  /** By their tokens. */
  readonly #reservations = new Map<string, Reservation>();

  constructor(streaming: Streaming, limits: Limits) {
    this.#streaming = streaming;
    this.#limits = limits;
  }

  /**
   * Answers an operation: with a stream of its results, or, where the request names a reservation,
   * with 202 and its results in the stream of that.
   * @throws ServiceError before anything is sent
   */
  async handle(req: Request, res: Response, context: Context): Promise<void> {
    if (reservationIn(req) !== undefined) return this.#begin(req, res, context);
    if (!/text\/event-stream|\*\/\*/.test(req.headers.accept ?? "*/*"))
      throw new ServiceError(
        "NOT_ACCEPTABLE",
        "This address answers only with text/event-stream; send the operation to " +
          "/graphql for one answer as JSON.",
      );
    const stream = new EventStream(this.#streaming, null);
    this.#admit(stream, res);
    await stream.answer(req, res);
  }

  /** Reserves a stream, and answers with its token. @throws ServiceError `TOO_MANY_REQUESTS` */
  async reserve(req: Request, res: Response, { caller, address, callerNow }: Context) {
    preferred(req.headers.accept, ["text/plain"]);
    const user = caller?.user ?? null;
    const client = user ?? `address ${address}`;
    this.#checkReservations(client);
    const token = randomUUID();
    const clock = setInterval(() => void this.#check(token), this.#limits.reservationTime).unref();
    const stream = new EventStream(this.#streaming, token, () => {
      clearInterval(clock);
      this.#reservations.delete(token);
    });
    this.#reservations.set(token, { stream, client, user, callerNow });
    await stream.reserve(req, res);
  }

  /** Opens the stream of a reservation. @throws ServiceError before anything is sent */
  async openReserved(req: Request, res: Response, context: Context): Promise<void> {
    const stream = await this.#reserved(req, context);
    if (stream.isOpen)
      throw new ServiceError("DUPLICATE", "The stream of this reservation is open already.");
    this.#admit(stream, res);
    await stream.open(req, res);
  }

  /** Ends an operation of a reservation. @throws ServiceError `NOT_FOUND`, `BAD_REQUEST` */
  async complete(req: Request, res: Response, context: Context): Promise<void> {
    const stream = await this.#reserved(req, context);
    checkId(req.query["operationId"], "the parameter operationId");
    await stream.complete(req, res);
  }

  /** Ends every stream. */
  close(): void {
    for (const stream of this.#open) stream.end();
    for (const { stream } of this.#reservations.values()) stream.end();
  }

  async #begin(req: Request, res: Response, context: Context): Promise<void> {
    preferred(req.headers.accept, ["application/json"]);
    const stream = await this.#reserved(req, context);
    const { operationId } = { operationId: undefined, ...parametersOf(req).extensions };
    const id = checkId(operationId, "extensions.operationId");
    if (stream.has(id))
      throw new ServiceError("DUPLICATE", "An operation of this operationId is open.");
    const { maxOperations } = this.#limits;
    if (stream.size >= maxOperations)
      throw new ServiceError(
        "TOO_MANY_REQUESTS",
        `A stream has at most ${maxOperations} operations open at a time ` +
          "(GRAPHQL_MAX_SUBSCRIPTIONS).",
      );
    await stream.begin(req, res, id);
  }

  /** @throws ServiceError `TOO_MANY_REQUESTS` */
  #admit(stream: EventStream, res: Response): void {
    if (this.#open.size >= MAX_STREAMS)
      throw new ServiceError(
        "TOO_MANY_REQUESTS",
        `Too many streams are open (${MAX_STREAMS}). Retry later.`,
      );
    this.#open.add(stream);
    // Not at its end: until then a slow client holds what was sent.
    res.once("close", () => this.#open.delete(stream));
  }

  /** @throws ServiceError `TOO_MANY_REQUESTS` */
  #checkReservations(client: string): void {
    const most = this.#limits.maxReservations;
    const share = Math.max(1, Math.floor(most * SHARE));
    const held = [...this.#reservations.values()].filter((other) => other.client === client);
    if (this.#reservations.size >= most || held.length >= share)
      throw new ServiceError(
        "TOO_MANY_REQUESTS",
        `Too many streams are reserved: at most ${most} in all (GRAPHQL_MAX_RESERVATIONS), ` +
          `${share} for one client. Close one, or retry later.`,
      );
  }

  /** The stream that the caller has reserved. @throws ServiceError `NOT_FOUND` */
  async #reserved(req: Request, { caller }: Context): Promise<EventStream> {
    const token = reservationIn(req) ?? "";
    const reservation = this.#reservations.get(token);
    if (reservation?.user === (caller?.user ?? null)) {
      await this.#verify(reservation);
      if (!reservation.stream.isEnded) return reservation.stream;
    }
    throw new ServiceError(
      "NOT_FOUND",
      "No reservation has this token: it has ended, expired without a stream, or was made by " +
        "another caller or on another node. Reserve a stream again (PUT); a load balancer must " +
        "send all requests of a client to one node.",
    );
  }

  /** Ends a reservation whose stream was not opened in time, or whose caller it is not any more. */
  async #check(token: string): Promise<void> {
    const reservation = this.#reservations.get(token)!;
    if (reservation.stream.isOpen) await this.#verify(reservation);
    else reservation.stream.end();
  }

  /** Ends a reservation whose credentials are not valid any more. */
  async #verify({ stream, user, callerNow }: Reservation): Promise<void> {
    try {
      if (((await callerNow())?.user ?? null) === user) return;
      stream.end(ENDED);
    } catch (error) {
      // An unavailable store says nothing about them.
      if (error instanceof ServiceError && error.status < 500) stream.end(ENDED);
    }
  }
}

const ENDED = new GraphQLError(
  "The token or the session that reserved this stream has ended. Sign in again.",
  { extensions: { code: "INVALID_TOKEN" } },
);

/** @throws ServiceError `BAD_REQUEST` */
function checkId(id: unknown, place: string): string {
  if (typeof id === "string" && id !== "" && id.length <= MAX_ID) return id;
  throw new ServiceError(
    "BAD_REQUEST",
    `The operation has no name: send ${place}, a text of 1 to ${MAX_ID} characters.`,
  );
}
