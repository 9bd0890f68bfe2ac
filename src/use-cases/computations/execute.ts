import { ServiceError } from "../../errors.js";
import { authenticated, type Caller } from "../access/caller.js";
import { assertMayChange } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { findLive } from "../records/find.js";

/**
 * Asks for a run of a computation's container. No container engine can be configured yet, so after all other
 * rules this one refuses, and nothing is changed.
 * @throws ServiceError `NOT_AUTHENTICATED`, `NOT_FOUND`, `GONE`, `FORBIDDEN`, `NO_CONTAINER_ENGINE`
 */
export async function executeComputation(deps: Deps, id: string, caller: Caller | null): Promise<never> {
  const who = authenticated(caller);
  const record = await findLive(deps, id, "computation");
  await assertMayChange(deps.records, who, record);
  throw new ServiceError("NO_CONTAINER_ENGINE", `${record.ark} cannot be run: this registry has no container engine; nothing was changed.`, {}, { "Retry-After": "3600" });
}
