import type { Caller } from "../use-cases/access/caller.js";
import type { Deps } from "../use-cases/deps.js";
import { Loaders } from "./loaders.js";

/** What a resolver knows of one request, at every door. */
export interface Context {
  readonly deps: Deps;
  readonly caller: Caller | null;
  /** Address the request came from, for login limits. */
  readonly address: string;
  readonly loaders: Loaders;
}

/** A context for one request. */
export function contextOf(deps: Deps, caller: Caller | null, address: string): Context {
  return { deps, caller, address, loaders: new Loaders(deps, caller) };
}
