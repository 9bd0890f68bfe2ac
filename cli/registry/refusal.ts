import { visible } from "../render/visible.js";
import { Failure } from "../failure.js";

/** An answer that is no success. */
export class Refusal extends Failure {
  constructor(message: string, readonly status: number, readonly code: string | undefined) {
    super(message);
  }
}

interface Item { loc?: unknown[]; msg?: unknown }

/** The sentence of an error body: `{"detail","code"}`, or the items of a 422. */
export function refusal(address: string, status: number, text: string): Refusal {
  let body: { detail?: unknown; code?: unknown; errors?: unknown } = {};
  try {
    body = (JSON.parse(text) as typeof body | null) ?? {};
  } catch {
    // No answer of the registry itself: a proxy's page, say.
  }
  const code = typeof body.code === "string" ? body.code : undefined;
  // GraphQL says it in its own way.
  const detail = body.detail ?? (Array.isArray(body.errors) ? (body.errors[0] as { message?: unknown } | undefined)?.message : undefined);
  const said = typeof detail === "string" ? detail : Array.isArray(detail) ? detail.map((item: Item) => `${(item.loc ?? []).join(".")}: ${String(item.msg)}`).join("; ") : `${address} answered with status ${status}`;
  const hint = status === 401 && code !== "BAD_CREDENTIALS" ? " (run arkgraph login)" : "";
  return new Refusal(`${visible(said)}${hint}`, status, code);
}
