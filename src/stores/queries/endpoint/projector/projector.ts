import { setTimeout as pause } from "node:timers/promises";
import { ServiceError } from "../../../../errors.js";
import type { FeedAnswer, FeedGraph } from "../../../records/port.js";
import type { FeedReader } from "../../oxigraph/feed-reader.js";
import type { EngineLog } from "../../oxigraph/log.js";
import type { SparqlHttp } from "../http-client.js";
import type { ProjectionOptions } from "../options.js";
import { samePosition, type Position } from "../position.js";
import { EndpointRefusal } from "../refusals.js";
import { holdsAnything, graphsAmong, look, someGraphs } from "./looks.js";
import { graphsOf, halves, lotsOf, type Piece } from "./pieces.js";
import { beginUpdate, resetUpdate, stepUpdate } from "./updates.js";

/** The projection is not where this projector left it, or no longer its own: begin again by looking. */
export class Displaced extends Error {}

/** Graphs read at a time to fill an endpoint: few, so that an update is neither much too large nor too small. */
const FILLED_AT_ONCE = 100;
/** Graphs emptied in one update when the endpoint is cleared. */
const CLEARED_AT_ONCE = 200;
/** ms before an endpoint that is away is asked again; doubled up to the last. */
const FIRST_WAIT = 100;
const LAST_WAIT = 1_000;
/** Times the change log is asked again that has not reached what was announced, and ms between. */
const IMPATIENCE = 8;
const IMPATIENCE_WAIT = 25;

export interface ProjectorEvents {
  /** The endpoint was seen there. */
  onPosition(position: Position): void;
  onProgress(done: number, total: number): void;
  /** Why the endpoint cannot be used as it is; `undefined` once it can. */
  onProblem(problem: string | undefined): void;
}

/** The lease as the projector sees it. */
export interface Held {
  fence: number;
  /** @throws Displaced once it may have run out */
  check(): void;
}

/**
 * Keeps the graphs of an endpoint at the state of the truth. However often it is ended, paused or doubled, each step
 * begins at the position that the endpoint itself holds ({@link Position}).
 */
export class Projector {
  /** Where the endpoint was seen last; `undefined` before that, and where nothing is to be expected of it. */
  #seen: Position | undefined;
  #held!: Held;
  #target = 0;
  #wake: () => void = () => {};

  constructor(
    private readonly http: SparqlHttp, private readonly feed: FeedReader, private readonly truth: string,
    private readonly options: ProjectionOptions, private readonly events: ProjectorEvents, private readonly log: EngineLog,
  ) {}

  /** The truth has reached this sequence. */
  advance(sequence: number): void {
    this.#target = Math.max(this.#target, sequence);
    this.#wake();
  }

  /** Projects for as long as the lease is held. @throws Displaced; Error when the feed is closed */
  async run(held: Held): Promise<never> {
    this.#held = held;
    this.#seen = undefined;
    await this.#enter();
    for (;;) {
      const { phase } = this.#at;
      if (phase === "clear") await this.#clear();
      else if (phase === "fill") await this.#fill();
      else await this.#follow();
    }
  }

  get #at(): Position {
    return this.#seen!;
  }

  /** Finds out where the projection is, and makes it this lease's; waits while the endpoint is not fit to be filled. */
  async #enter(): Promise<void> {
    for (let told: string | undefined; ;) {
      const problem = await this.#arrive();
      this.events.onProblem(problem);
      if (problem === undefined) return;
      if (problem !== told) this.log.error({ problem }, "the SPARQL endpoint is not filled");
      told = problem;
      await pause(LAST_WAIT);
    }
  }

  /** Answers why the endpoint is left alone, where it is. */
  async #arrive(): Promise<string | undefined> {
    const { fence } = this.#held;
    const start: Position = { truth: this.truth, fence, phase: "fill", sequence: await this.#newest(), after: 0, part: 0 };
    const clear: Position = { ...start, phase: "clear" };
    const { positions: [found, another] } = await this.#look();
    if (!found) {
      if (await this.#asked(() => holdsAnything(this.http, this.options.timeout))) return "it holds graphs that are not of this registry's making; give it a dataset of its own, or empty this one by arkgraph rebuild-index";
      this.log.info({}, "the SPARQL endpoint is empty; filling it");
      await this.#step(start, [], beginUpdate(start));
    } else if (another) {
      this.log.error({}, "two nodes wrote to the SPARQL endpoint at one moment; it is cleared and filled again");
      await this.#step(clear, [], resetUpdate(clear));
    } else if (found.truth !== this.truth) {
      return "it is filled from another registry; give it a dataset of its own, or empty this one by arkgraph rebuild-index";
    } else {
      this.#seen = found;
      // Half of a commit that the records have not, or not any more, is ahead of them too.
      const half = found.part > 0 && found.phase !== "fill" && found.sequence === start.sequence;
      if (found.phase !== "clear" && (found.sequence > start.sequence || half)) {
        this.log.warn({ sequence: start.sequence, endpoint: found.sequence }, "the records are older than the SPARQL endpoint, as after a restored backup; it is cleared and filled again");
        await this.#step(clear, []);
      } else if (found.fence !== fence) {
        await this.#step({ ...found, fence }, []);
      }
      this.events.onPosition(this.#at);
    }
    return undefined;
  }

  async #clear(): Promise<void> {
    for (;;) {
      const graphs = await this.#asked(() => someGraphs(this.http, CLEARED_AT_ONCE, this.options.timeout));
      if (graphs.length === 0) break;
      await this.#step({ ...this.#at, part: this.#at.part + 1 }, [{ ark: "", emptied: graphs, statements: [] }]);
    }
    await this.#step({ ...this.#at, phase: "fill", sequence: await this.#newest(), after: 0, part: 0 }, []);
  }

  /** Every graph of the truth, page by page; an endpoint that was left in the middle goes on there. */
  async #fill(): Promise<void> {
    // What a page brought may be there already when its end was not reached.
    let fresh = this.#at.part === 0;
    let done = 0;
    let next = this.#page(this.#at.after);
    for (;;) {
      const { graphs, next: after, total = 0 } = await next;
      if (after !== undefined) {
        // The store reads the next ones while these are sent.
        next = this.#page(after);
        next.catch(() => {});
      }
      await this.#apply(graphs, { ...this.#at, part: 0, ...(after === undefined ? { phase: "catch", after: 0 } : { after }) }, fresh);
      fresh = true;
      done += graphs.length;
      this.events.onProgress(done, Math.max(total, done));
      if (after === undefined) return;
    }
  }

  /** As many graphs as make one update: their quads are longer than what is sent. */
  async #page(after: number): Promise<FeedAnswer> {
    const { pageSize, batch } = this.options;
    const graphs: FeedGraph[] = [];
    let size = 0;
    for (let from = after; ; ) {
      const page = await this.feed.ask({ all: { after: from, limit: Math.min(pageSize, FILLED_AT_ONCE) } });
      graphs.push(...page.graphs);
      for (const { nquads } of page.graphs) size += nquads?.length ?? 0;
      if (page.next === undefined || size >= batch) return { ...page, graphs };
      from = page.next;
    }
  }

  /** What was changed since the position, and then whatever comes. */
  async #follow(): Promise<void> {
    for (let tries = 1; ; ) {
      const page: FeedAnswer = await this.feed.ask({ since: { sequence: this.#at.sequence, limit: this.options.pageSize } });
      const to: Position = { ...this.#at, phase: page.more ? this.#at.phase : "done", sequence: Math.max(page.sequence, this.#at.sequence), after: 0, part: 0 };
      if (!samePosition(to, this.#at)) {
        await this.#apply(page.graphs, to, false);
        tries = 1;
      } else if (this.#at.sequence < this.#target && tries <= IMPATIENCE) {
        await pause(IMPATIENCE_WAIT * tries++);
      } else {
        // Announced, but never to be: not asked for again until the next announcement.
        this.#target = Math.min(this.#target, this.#at.sequence);
        await this.#idle();
        tries = 1;
      }
    }
  }

  /** Nothing to do: looks whether the endpoint is still what it was. */
  async #idle(): Promise<void> {
    await this.#rest(this.options.poll);
    const { positions } = await this.#look();
    if (positions.length !== 1 || !samePosition(positions[0], this.#at)) throw new Displaced("the endpoint is at another position");
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const clock = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(clock);
        resolve();
      };
    });
  }

  /** Brings records to their given state in as many updates as it takes; the last one arrives at `to`. */
  async #apply(graphs: readonly FeedGraph[], to: Position, fresh: boolean): Promise<void> {
    const existing = fresh ? new Set<string>() : await this.#asked(() => graphsAmong(this.http, graphs.flatMap(({ ark }) => graphsOf(ark)), this.options.timeout));
    const refused = (ark: string, lines: number): void => this.log.error({ ark, lines }, "graph lines that the SPARQL endpoint cannot hold were left out");
    let before: Piece[] | undefined;
    for (const lot of lotsOf(graphs, existing, this.options.batch, refused)) {
      if (before) await this.#apart(before, { ...this.#at, part: this.#at.part + 1 });
      before = lot;
    }
    await this.#apart(before ?? [], to);
  }

  /** One lot in one step, or in smaller ones where the endpoint refuses it: one bad line must not cost the rest. */
  async #apart(lot: readonly Piece[], to: Position): Promise<void> {
    try {
      return await this.#step(to, lot);
    } catch (error) {
      if (!(error instanceof EndpointRefusal)) throw error;
      const two = halves(lot);
      if (two) {
        await this.#apart(two[0], { ...this.#at, part: this.#at.part + 1 });
        // The number of the first half's steps is known now.
        return this.#apart(two[1], to.part > 0 ? { ...to, part: this.#at.part + 1 } : to);
      }
      if (lot.length === 0 || lot[0]!.statements.length === 0) throw error;
      this.log.error({ ark: lot[0]!.ark, lines: lot[0]!.statements.length, reason: error.message }, "graph lines that the SPARQL endpoint cannot hold were left out");
      return this.#step(to, lot.map((piece) => ({ ...piece, statements: [] })));
    }
  }

  /**
   * Sends an update until the endpoint is where it leads: an answer that is lost says nothing of what was done.
   * @throws Displaced, EndpointRefusal
   */
  async #step(to: Position, lot: readonly Piece[], update?: string): Promise<void> {
    const text = update ?? stepUpdate(this.#at, to, lot);
    for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LAST_WAIT)) {
      this.#held.check();
      try {
        await this.http.update(text, { timeout: this.options.timeout });
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        this.log.warn({ reason: error.message }, "an update of the SPARQL endpoint was not answered; looking what became of it");
        await pause(wait);
      }
      const { positions } = await this.#look();
      if (positions.length === 1 && samePosition(positions[0], to)) {
        this.#seen = to;
        return this.events.onPosition(to);
      }
      if (positions.length > 1 || !samePosition(positions[0], this.#seen)) throw new Displaced("another node has the projection, or the endpoint came back as something else");
    }
  }

  #look(): ReturnType<typeof look> {
    return this.#asked(() => look(this.http, this.options.timeout));
  }

  /** Asks until the endpoint answers; that it is away is told once. */
  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    for (let wait = FIRST_WAIT, told = false; ; wait = Math.min(wait * 2, LAST_WAIT)) {
      this.#held.check();
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

  /** The last sequence of the truth. */
  async #newest(): Promise<number> {
    return (await this.feed.ask({ all: { after: Number.MAX_SAFE_INTEGER, limit: 1 } })).sequence;
  }
}
