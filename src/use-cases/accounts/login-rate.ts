import { ServiceError } from "../../errors.js";

const MINUTE = 60_000;
const MOST_KEYS = 100_000;

/** Counts attempts in windows of one minute, per key. */
export class RateLimit {
  private readonly windows = new Map<string, { from: number; count: number }>();
  /** @param perMinute 0 switches the limit off; @param setting its name, for the error */
  constructor(private readonly perMinute: number, private readonly setting: string) {}

  /** @throws ServiceError `TOO_MANY_REQUESTS` with Retry-After */
  take(key: string, now = Date.now()): void {
    if (this.perMinute === 0) return;
    let window = this.windows.get(key);
    if (!window || now - window.from >= MINUTE) {
      // The oldest window goes, not all of them: a flood of names must not open the door to one that is locked.
      this.windows.delete(key);
      if (this.windows.size >= MOST_KEYS) this.windows.delete(this.windows.keys().next().value!);
      this.windows.set(key, (window = { from: now, count: 0 }));
    }
    if (++window.count <= this.perMinute) return;
    const seconds = Math.ceil((window.from + MINUTE - now) / 1000);
    throw new ServiceError("TOO_MANY_REQUESTS", `More than ${this.perMinute} attempts in a minute (${this.setting}): try again in ${seconds} s.`, {}, { "Retry-After": String(seconds) });
  }
}
