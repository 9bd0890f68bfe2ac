import { RateLimit } from "../use-cases/accounts/login-rate.js";
import type { Deps } from "../use-cases/deps.js";
import type { Context } from "./context.js";

/** Writes are counted for the service as a whole, whichever door they come through. */
const limits = new WeakMap<Deps, RateLimit>();

/**
 * Counts one write of an account, before anything is done. A write without a token is refused for that, and
 * counts only where it would not be: the creation of an account, by the address it comes from.
 * @throws ServiceError `TOO_MANY_REQUESTS` past WRITE_RATE
 */
export async function countWrite({ deps, caller, address }: Context, { open = false } = {}): Promise<void> {
  if (!caller && !open) return;
  let limit = limits.get(deps);
  if (!limit) limits.set(deps, (limit = new RateLimit(deps.config.WRITE_RATE, "WRITE_RATE", deps.shared)));
  await limit.take(caller?.user ?? `address ${address}`);
}
