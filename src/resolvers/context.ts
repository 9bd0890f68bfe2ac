import type { Caller } from "../use-cases/access/caller.js";
import type { Deps } from "../use-cases/deps.js";
import { Loaders } from "./loaders.js";

/** What a resolver knows of one request, at every door. */
export interface Context {
  readonly deps: Deps;
  readonly caller: Caller | null;
  /** Address the request came from, for login limits. */
  readonly address: string;
  /** That address is one client's, not a proxy's that others come through as well. */
  readonly ownAddress: boolean;
  /** Name of the request in logs, also in those of the work that it asks for. */
  readonly request?: string;
  /** The request's span, for that of the work that it asks for; absent without tracing. */
  readonly trace?: string;
  readonly loaders: Loaders;
}

/** Names a request in the logs and traces of work that it asks for. */
export type RequestNames = Pick<Context, "request" | "trace">;

/** A context for one request. @param signal aborted when nobody waits for the answer any more */
export function contextOf(deps: Deps, caller: Caller | null, address: string, request?: string, ownAddress = false, signal?: AbortSignal): Context {
  const trace = deps.tracing?.traceparent();
  return { deps, caller, address, ownAddress, ...(request === undefined ? {} : { request }), ...(trace === undefined ? {} : { trace }), loaders: new Loaders(deps, caller, signal) };
}

/** What work that goes on in the background is told of the request. */
export const requestOf = ({ request, trace }: Context): RequestNames => ({ ...(request === undefined ? {} : { request }), ...(trace === undefined ? {} : { trace }) });
