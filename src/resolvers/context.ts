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
  /** The request's span, for that of the work that it asks for; absent without tracing. */
  readonly trace?: string;
  readonly loaders: Loaders;
}

/** Names a request in the logs and traces of work that it asks for. */
export type RequestNames = Pick<Context, "request" | "trace">;

/** A context for one request. */
export function contextOf(deps: Deps, caller: Caller | null, address: string, request?: string): Context {
  const trace = deps.tracing?.traceparent();
  return { deps, caller, address, ...(request === undefined ? {} : { request }), ...(trace === undefined ? {} : { trace }), loaders: new Loaders(deps, caller) };
}

/** What work that goes on in the background is told of the request. */
export const requestOf = ({ request, trace }: Context): RequestNames => ({ ...(request === undefined ? {} : { request }), ...(trace === undefined ? {} : { trace }) });
