import { ServiceError } from "../../errors.js";
import type { SharedMemory } from "../../stores/shared/port.js";

const MINUTE = 60_000;

/** Counts attempts in windows of one minute, per key, over all nodes. */
export class RateLimit {
  /** @param perMinute 0 switches the limit off; @param setting its name, for the error */
  constructor(private readonly perMinute: number, private readonly setting: string, private readonly memory: SharedMemory) {}

  /** @throws ServiceError `TOO_MANY_REQUESTS` with Retry-After */
  async take(key: string): Promise<void> {
    if (this.perMinute === 0) return;
    const { count, left } = await this.memory.count(`${this.setting} ${key}`, MINUTE);
    if (count <= this.perMinute) return;
    const seconds = Math.max(1, Math.ceil(left / 1000));
    throw new ServiceError("TOO_MANY_REQUESTS", `More than ${this.perMinute} attempts in a minute (${this.setting}): try again in ${seconds} s.`, {}, { "Retry-After": String(seconds) });
  }
}
