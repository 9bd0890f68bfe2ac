import type { Caller } from "../use-cases/access/caller.js";
import type { Deps } from "../use-cases/deps.js";
import { Loaders } from "./loaders.js";

/** What a resolver knows of one request, at every door. */
export interface Context {
  readonly deps: Deps;
  readonly caller: Caller | null;
  /** Address the request came from, for login limits. */
  readonly address: string;
  /** Name of the request in logs, also in those of the work that it asks for. */
  readonly request?: string;
  readonly loaders: Loaders;
}

/** A context for one request. */
export function contextOf(deps: Deps, caller: Caller | null, address: string, request?: string): Context {
  return { deps, caller, address, ...(request === undefined ? {} : { request }), loaders: new Loaders(deps, caller) };
}

/** What work that goes on in the background is told of the request. */
export const requestOf = ({ request }: Context): { request?: string } => (request === undefined ? {} : { request });
