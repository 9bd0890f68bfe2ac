import type { Redis } from "ioredis";
import type { RedisLink } from "../../redis/link.js";

/** `changed`: its state or progress; `ended`: nothing more will come; `cancel`: whoever runs it is to stop. */
export type Signal = "changed" | "ended" | "cancel";

/** How long a watcher waits for its subscription before it relies on looking now and then, ms. */
const PATIENCE = 1000;

/**
 * What nodes tell each other of submissions. Redis hands a message on to whoever listens at that moment and
 * forgets it: nothing may depend on its arrival, each receiver looks into the truth now and then as well.
 */
export class Signals {
  #subscriber: Redis | undefined;
  readonly #joined = new Map<string, Promise<unknown>>();

  constructor(private readonly link: RedisLink, private readonly heard: (submission: string, signal: Signal) => void) {}

  /** To those who watch a submission; `cancel` goes to every worker. */
  tell(submission: string, signal: Signal): void {
    if (!this.link.ready) return;
    const [channel, message] = signal === "cancel" ? [this.#orders(), submission] : [this.#news(submission), signal];
    this.link.commands.publish(channel, message).catch((error: unknown) => this.link.failed(error));
  }

  /** Hears from now on that submissions are to stop. */
  async hearOrders(): Promise<void> {
    await this.#subscribe(this.#orders());
  }

  /** Hears from now on what happens to a submission. */
  async join(submission: string): Promise<void> {
    const channel = this.#news(submission);
    let joined = this.#joined.get(submission);
    if (!joined) this.#joined.set(submission, (joined = this.#subscribe(channel)));
    await joined;
  }

  leave(submission: string): void {
    this.#joined.delete(submission);
    this.#subscriber?.unsubscribe(this.#news(submission)).catch(() => {});
  }

  async #subscribe(channel: string): Promise<void> {
    let clock: NodeJS.Timeout | undefined;
    // Sent again by the connection itself when it was lost or is not there yet.
    const done = this.#listener().subscribe(channel).catch(() => {});
    await Promise.race([done, new Promise((resolve) => (clock = setTimeout(resolve, PATIENCE)))]);
    clearTimeout(clock);
  }

  #listener(): Redis {
    if (this.#subscriber) return this.#subscriber;
    const news = this.#news("");
    const orders = this.#orders();
    this.#subscriber = this.link.patient();
    this.#subscriber.on("message", (channel: string, message: string) => {
      if (channel === orders) this.heard(message, "cancel");
      else if (message === "changed" || message === "ended") this.heard(channel.slice(news.length), message);
    });
    return this.#subscriber;
  }

  #news(submission: string): string {
    return this.link.key("news", submission);
  }

  #orders(): string {
    return this.link.key("orders");
  }
}
