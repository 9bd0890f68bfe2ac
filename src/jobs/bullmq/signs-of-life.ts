import type { RedisLink } from "../../redis/link.js";
import type { Progress } from "../port.js";

/** Progress that changes faster than this is told together, ms. */
const INTERVAL = 100;

export interface SignOptions {
  /** How often signs are renewed, ms. */
  interval: number;
  /** How long a sign is believed, ms. */
  lifetime: number;
  /** Progress of a submission has been stored. */
  told: (submission: string) => void;
}

interface Sign { progress: Progress | null; toldAt: number; timer?: NodeJS.Timeout; written?: true }

/**
 * One key in Redis for each submission that is worked on: that somebody does, and how far they are. It is renewed
 * while the work goes on and ends by itself with the process. Unlike BullMQ's lock it comes back when Redis lost it.
 */
export class SignsOfLife {
  readonly #mine = new Map<string, Sign>();
  readonly #beat: NodeJS.Timeout;

  constructor(private readonly link: RedisLink, private readonly options: SignOptions) {
    this.#beat = setInterval(() => {
      for (const id of this.#mine.keys()) this.#write(id);
    }, options.interval).unref();
  }

  /** Written with the first progress, or the first beat: work that is done sooner needs none. */
  begin(submission: string): void {
    this.#mine.set(submission, { progress: null, toldAt: 0 });
  }

  /** A change of stage is told at once. */
  progressed(submission: string, progress: Progress): void {
    const sign = this.#mine.get(submission);
    if (!sign) return;
    const newStage = sign.progress?.stage !== progress.stage;
    sign.progress = progress;
    if (newStage || Date.now() - sign.toldAt >= INTERVAL) this.#tell(submission, sign);
    else sign.timer ??= setTimeout(() => this.#tell(submission, sign), INTERVAL);
  }

  end(submission: string): void {
    const sign = this.#mine.get(submission);
    clearTimeout(sign?.timer);
    this.#mine.delete(submission);
    if (sign?.written && this.link.ready) this.link.commands.del(this.#key(submission)).catch((error: unknown) => this.link.failed(error));
  }

  /** How far a submission is, on whichever node; null when that is not known. */
  async progress(submission: string): Promise<Progress | null> {
    const mine = this.#mine.get(submission);
    if (mine) return mine.progress;
    if (!this.link.ready) return null;
    try {
      const sign = await this.link.commands.get(this.#key(submission));
      return sign === null ? null : (JSON.parse(sign) as Progress | null);
    } catch (error) {
      this.link.failed(error);
      return null;
    }
  }

  /** Whether somebody works on it. @throws when Redis is away */
  async seen(submission: string): Promise<boolean> {
    return this.#mine.has(submission) || (await this.link.commands.exists(this.#key(submission))) === 1;
  }

  close(): void {
    clearInterval(this.#beat);
    for (const { timer } of this.#mine.values()) clearTimeout(timer);
    this.#mine.clear();
  }

  #tell(submission: string, sign: Sign): void {
    clearTimeout(sign.timer);
    delete sign.timer;
    sign.toldAt = Date.now();
    this.#write(submission);
    this.options.told(submission);
  }

  #write(submission: string): void {
    const sign = this.#mine.get(submission);
    if (!sign || !this.link.ready) return;
    sign.written = true;
    this.link.commands.set(this.#key(submission), JSON.stringify(sign.progress), "PX", this.options.lifetime).catch((error: unknown) => this.link.failed(error));
  }

  #key(submission: string): string {
    return this.link.key("alive", submission);
  }
}
