import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "../../../../errors.js";
import type { FeedGraph } from "../../../records/port.js";
import type { EngineLog } from "../../log.js";
import type { SparqlHttp } from "../http-client.js";
import type { ProjectionOptions } from "../options.js";
import { samePosition, type Position } from "../position.js";
import { EndpointRefusal } from "../refusals.js";
import { graphsAmong, look } from "./looks.js";
import { graphsOf, halves, lotsOf, type Piece } from "./pieces.js";
import { stepUpdate } from "./updates.js";

/** The projection is not where this projector left it, or no longer its own: begin again by looking. */
export class Displaced extends Error {}

/** ms before an endpoint that is away is asked again; doubled up to the last. */
const FIRST_WAIT = 100;
export const LAST_WAIT = 1_000;

/** The lease as the projector sees it. */
export interface Held {
  fence: number;
  /** @throws Displaced once it may have run out */
  check(): void;
}

/**
 * The updates of one lease: each begins at the position that the endpoint was seen at, and is sent until it is where
 * the update leads.
 */
export class Steps {
  /** Where the endpoint was seen last; `undefined` before that, and where nothing is to be expected of it. */
  seen: Position | undefined;

  constructor(
    private readonly http: SparqlHttp, readonly held: Held, private readonly options: Pick<ProjectionOptions, "timeout" | "batch">,
    private readonly onPosition: (position: Position) => void, private readonly log: EngineLog,
  ) {}

  /** The same, once the endpoint was seen. */
  get at(): Position {
    return this.seen!;
  }

  /** Brings records to their given state in as many updates as it takes; the last one arrives at `to`. */
  async apply(graphs: readonly FeedGraph[], to: Position, fresh: boolean): Promise<void> {
    const existing = fresh ? new Set<string>() : await this.asked(() => graphsAmong(this.http, graphs.flatMap(({ ark }) => graphsOf(ark)), this.options.timeout));
    const refused = (ark: string, lines: number): void => this.log.error({ ark, lines }, "graph lines that the SPARQL endpoint cannot hold were left out");
    let before: Piece[] | undefined;
    for (const lot of lotsOf(graphs, existing, this.options.batch, refused)) {
      if (before) await this.#apart(before, { ...this.at, part: this.at.part + 1 });
      before = lot;
    }
    await this.#apart(before ?? [], to);
  }

  /** One lot in one step, or in smaller ones where the endpoint refuses it: one bad line must not cost the rest. */
  async #apart(lot: readonly Piece[], to: Position): Promise<void> {
    try {
      return await this.step(to, lot);
    } catch (error) {
      if (!(error instanceof EndpointRefusal)) throw error;
      const two = halves(lot);
      if (two) {
        await this.#apart(two[0], { ...this.at, part: this.at.part + 1 });
        // The number of the first half's steps is known now.
        return this.#apart(two[1], to.part > 0 ? { ...to, part: this.at.part + 1 } : to);
      }
      if (lot.length === 0 || lot[0]!.statements.length === 0) throw error;
      this.log.error({ ark: lot[0]!.ark, lines: lot[0]!.statements.length, reason: error.message }, "graph lines that the SPARQL endpoint cannot hold were left out");
      return this.step(to, lot.map((piece) => ({ ...piece, statements: [] })));
    }
  }

  /**
   * Sends an update until the endpoint is where it leads: an answer that is lost says nothing of what was done.
   * @throws Displaced, EndpointRefusal
   */
  async step(to: Position, lot: readonly Piece[], update?: string): Promise<void> {
    const text = update ?? stepUpdate(this.at, to, lot);
    for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LAST_WAIT)) {
      this.held.check();
      try {
        await this.http.update(text, { timeout: this.options.timeout });
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        this.log.warn({ reason: error.message }, "an update of the SPARQL endpoint was not answered; looking what became of it");
        await pause(wait);
      }
      const { positions } = await this.look();
      if (positions.length === 1 && samePosition(positions[0], to)) {
        this.seen = to;
        return this.onPosition(to);
      }
      if (positions.length > 1 || !samePosition(positions[0], this.seen)) throw new Displaced("another node has the projection, or the endpoint came back as something else");
    }
  }

  look(): ReturnType<typeof look> {
    return this.asked(() => look(this.http, this.options.timeout));
  }

  /** Asks until the endpoint answers; that it is away is told once. */
  async asked<T>(ask: () => Promise<T>): Promise<T> {
    for (let wait = FIRST_WAIT, told = false; ; wait = Math.min(wait * 2, LAST_WAIT)) {
      this.held.check();
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        if (!told) this.log.warn({ reason: error.message }, "the SPARQL endpoint does not answer; asking again");
        told = true;
        await pause(wait);
      }
    }
  }
}
