import { setTimeout as pause } from "node:timers/promises";
import type { FeedAnswer, FeedGraph } from "../../../records/port.js";
import type { FeedReader } from "../../follower.js";
import type { EngineLog } from "../../port.js";
import { type Position, type ProjectionOptions, type SparqlHttp, samePosition } from "../client.js";
import { holdsAnything, someGraphs } from "../watch.js";
import { beginUpdate, Displaced, type Held, LAST_WAIT, resetUpdate, Steps } from "./updates.js";

/**
 * Graphs read at a time to fill an endpoint: few, so that an update is neither much too large nor
 * too small.
 */
const GRAPHS_PER_FILL = 100;
/** Graphs emptied in one update when the endpoint is cleared. */
const GRAPHS_PER_CLEAR = 200;
/**
 * How often the change log is asked again when it has not reached the announced sequence, and ms
 * between.
 */
const IMPATIENCE = 8;
const IMPATIENCE_WAIT = 25;

interface ProjectorEvents {
  /** The endpoint was seen there. */
  onPosition(position: Position): void;
  onProgress(done: number, total: number): void;
  /** Why the endpoint cannot be used as it is; `undefined` once it can. */
  onProblem(problem: string | undefined): void;
}

/**
 * Keeps the graphs of an endpoint in step with the record store. However often it is ended, paused
 * or doubled, each step begins at the position that the endpoint itself holds ({@link Position}).
 */
export class Projector {
  #steps!: Steps;
  #target = 0;
  #wake: () => void = () => {};

  readonly #http: SparqlHttp;
  readonly #feed: FeedReader;
  readonly #source: string;
  readonly #options: ProjectionOptions;
  readonly #events: ProjectorEvents;
  readonly #log: EngineLog;

  constructor(
    http: SparqlHttp,
    feed: FeedReader,
    source: string,
    options: ProjectionOptions,
    events: ProjectorEvents,
    log: EngineLog,
  ) {
    this.#http = http;
    this.#feed = feed;
    this.#source = source;
    this.#options = options;
    this.#events = events;
    this.#log = log;
  }

  /** The record store has reached this sequence. */
  advance(sequence: number): void {
    this.#target = Math.max(this.#target, sequence);
    this.#wake();
  }

  /** Projects for as long as the lease is held. @throws Displaced; Error when the feed is closed */
  async run(held: Held): Promise<never> {
    this.#steps = new Steps(
      this.#http,
      held,
      this.#options,
      (position) => this.#events.onPosition(position),
      this.#log,
    );
    await this.#enter();
    for (;;) {
      const { phase } = this.#steps.at;
      if (phase === "clear") await this.#clear();
      else if (phase === "fill") await this.#fill();
      else await this.#follow();
    }
  }

  /**
   * Finds out where the projection is, and makes it this lease's; waits while the endpoint is not
   * fit to be filled.
   */
  async #enter(): Promise<void> {
    for (let reported: string | undefined; ;) {
      const problem = await this.#arrive();
      this.#events.onProblem(problem);
      if (problem === undefined) return;
      if (problem !== reported) this.#log.error({ problem }, "the SPARQL endpoint is not filled");
      reported = problem;
      await pause(LAST_WAIT);
    }
  }

  /** Answers why the endpoint is left alone, where it is. */
  async #arrive(): Promise<string | undefined> {
    const { fence } = this.#steps.held;
    const start: Position = {
      source: this.#source,
      fence,
      phase: "fill",
      sequence: await this.#newest(),
      after: 0,
      part: 0,
    };
    const clear: Position = { ...start, phase: "clear" };
    const {
      positions: [found, another],
    } = await this.#steps.look();
    if (!found) {
      if (await this.#steps.asked(() => holdsAnything(this.#http, this.#options.timeout)))
        return (
          "it contains graphs that this registry did not write; set another dataset, or " +
          "empty this one with arkgraph rebuild-index"
        );
      this.#log.info({}, "the SPARQL endpoint is empty; filling it");
      await this.#steps.step(start, [], beginUpdate(start));
    } else if (another) {
      this.#log.error(
        {},
        "two nodes wrote to the SPARQL endpoint at the same time; it is cleared and filled again",
      );
      await this.#steps.step(clear, [], resetUpdate(clear));
    } else if (found.source !== this.#source) {
      return (
        "it contains the graphs of another registry; set another dataset, or empty this " +
        "one with arkgraph rebuild-index"
      );
    } else {
      this.#steps.seen = found;
      // Half of a commit that the records have not, or not any more, is ahead of them too.
      const half = found.part > 0 && found.phase !== "fill" && found.sequence === start.sequence;
      if (found.phase !== "clear" && (found.sequence > start.sequence || half)) {
        this.#log.warn(
          { sequence: start.sequence, endpoint: found.sequence },
          "the records are older than the SPARQL endpoint, as after a restored backup; it " +
            "is cleared and filled again",
        );
        await this.#steps.step(clear, []);
      } else if (found.fence !== fence) {
        await this.#steps.step({ ...found, fence }, []);
      }
      this.#events.onPosition(this.#steps.at);
    }
    return undefined;
  }

  async #clear(): Promise<void> {
    for (;;) {
      const graphs = await this.#steps.asked(() =>
        someGraphs(this.#http, GRAPHS_PER_CLEAR, this.#options.timeout),
      );
      if (graphs.length === 0) break;
      await this.#steps.step({ ...this.#steps.at, part: this.#steps.at.part + 1 }, [
        { ark: "", emptied: graphs, statements: [] },
      ]);
    }
    await this.#steps.step(
      { ...this.#steps.at, phase: "fill", sequence: await this.#newest(), after: 0, part: 0 },
      [],
    );
  }

  /**
   * Sends every graph of the record store, page by page; an interrupted fill goes on where it
   * ended.
   */
  async #fill(): Promise<void> {
    // The graphs of a page may be there already when its end was not reached.
    let fresh = this.#steps.at.part === 0;
    let done = 0;
    let next = this.#page(this.#steps.at.after);
    for (;;) {
      const { graphs, next: after, total = 0 } = await next;
      if (after !== undefined) {
        // The store reads the next ones while these are sent.
        next = this.#page(after);
        next.catch(() => {});
      }
      await this.#steps.apply(
        graphs,
        {
          ...this.#steps.at,
          part: 0,
          ...(after === undefined ? { phase: "catch", after: 0 } : { after }),
        },
        fresh,
      );
      fresh = true;
      done += graphs.length;
      this.#events.onProgress(done, Math.max(total, done));
      if (after === undefined) return;
    }
  }

  /** Reads as many graphs as make one update: their quads are longer than what is sent. */
  async #page(after: number): Promise<FeedAnswer> {
    const { pageSize, batch } = this.#options;
    const graphs: FeedGraph[] = [];
    let size = 0;
    for (let from = after; ;) {
      const page = await this.#feed.ask({
        all: { after: from, limit: Math.min(pageSize, GRAPHS_PER_FILL) },
      });
      for (const graph of page.graphs) {
        graphs.push(graph);
        size += graph.nquads?.length ?? 0;
      }
      if (page.next === undefined || size >= batch) return { ...page, graphs };
      from = page.next;
    }
  }

  /** Applies all changes since the position, then every further change. */
  async #follow(): Promise<void> {
    for (let tries = 1; ;) {
      const page: FeedAnswer = await this.#feed.ask({
        since: { sequence: this.#steps.at.sequence, limit: this.#options.pageSize },
      });
      const to: Position = {
        ...this.#steps.at,
        phase: page.more ? this.#steps.at.phase : "done",
        sequence: Math.max(page.sequence, this.#steps.at.sequence),
        after: 0,
        part: 0,
      };
      if (!samePosition(to, this.#steps.at)) {
        await this.#steps.apply(page.graphs, to, false);
        tries = 1;
      } else if (this.#steps.at.sequence < this.#target && tries <= IMPATIENCE) {
        await pause(IMPATIENCE_WAIT * tries++);
      } else {
        // Announced, but never to be: not asked for again until the next announcement.
        this.#target = Math.min(this.#target, this.#steps.at.sequence);
        await this.#idle();
        tries = 1;
      }
    }
  }

  /** Nothing to do: checks that the endpoint is unchanged. */
  async #idle(): Promise<void> {
    await this.#rest(this.#options.poll);
    const { positions } = await this.#steps.look();
    if (positions.length !== 1 || !samePosition(positions[0], this.#steps.at))
      throw new Displaced("the endpoint is at another position");
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

  /** The last sequence of the record store. */
  async #newest(): Promise<number> {
    return (await this.#feed.ask({ all: { after: Number.MAX_SAFE_INTEGER, limit: 1 } })).sequence;
  }
}
