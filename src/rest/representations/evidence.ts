import { EVIDENCE_CONTEXT, EVIDENCE_FORMATS, type EvidenceAnswer, type EvidenceFormat, type EvidenceGraph, type EvidenceNode } from "../../use-cases/evidence/index.js";
import { sendBytes, streamBytes } from "../reply.js";
import type { RestRequest } from "../request.js";
import { formatNamed, preferred } from "./negotiate.js";

type Form = "jsonld" | "json" | EvidenceFormat;
/** Names of `?format=`. */
export const EVIDENCE_FORM_NAMES: Readonly<Record<Form, Form>> = { jsonld: "jsonld", json: "json", "prov-json": "prov-json", turtle: "turtle", dot: "dot", mermaid: "mermaid" };
const JSON_TYPES = { jsonld: "application/ld+json", json: "application/json" } as const;
/** PROV-JSON is not among them: it has no media type of its own. */
const BY_TYPE: Readonly<Record<string, Form>> = {
  "application/ld+json": "jsonld", "application/json": "json", [EVIDENCE_FORMATS.turtle.type]: "turtle", [EVIDENCE_FORMATS.dot.type]: "dot", [EVIDENCE_FORMATS.mermaid.type]: "mermaid",
};

const TYPES = Object.keys(BY_TYPE) as [string, ...string[]];

/** The form that a request asks for. @throws ServiceError `NOT_ACCEPTABLE`; ValidationError for an unknown name */
export function evidenceForm({ req, query }: RestRequest): Form {
  return query["format"] === undefined ? BY_TYPE[preferred(req.headers.accept, TYPES)]! : formatNamed(query["format"], EVIDENCE_FORM_NAMES);
}

/** Sends an answer in that form. JSON is written as its nodes are read: the largest answer never stands in memory whole. */
export async function sendEvidence(request: RestRequest, form: Form, answer: EvidenceAnswer): Promise<void> {
  const { req, res } = request;
  const headers = { "Cache-Control": "no-store", Vary: "Accept" };
  if (form === "jsonld" || form === "json") {
    await streamBytes(req, res, jsonOf(answer), { type: JSON_TYPES[form], headers });
    return;
  }
  const nodes: EvidenceNode[] = [];
  for await (const some of answer.nodes()) for (const node of some) nodes.push(node);
  const graph: EvidenceGraph = { ...answer.head, "@graph": nodes, ...answer.tail() };
  const { type, write } = EVIDENCE_FORMATS[form];
  const text = await write(graph);
  sendBytes(req, res, Buffer.from(text), { type: type === "application/json" ? type : `${type}; charset=utf-8`, headers: { ...headers, ...cut(request, graph) } });
}

/** A form that cannot hold a cursor tells of the rest beside it. */
function cut({ path, query, context }: RestRequest, { truncated, cursor }: EvidenceGraph): Record<string, string> {
  if (!truncated) return {};
  const next = new URLSearchParams({ ...(query as Record<string, string>), cursor: cursor! });
  return { "X-Truncated": "true", Link: `<${context.deps.baseUrl()}${encodeURI(path)}?${next}>; rel="next"` };
}

/** Every answer begins with it: written once, and not for each. */
const CONTEXT = JSON.stringify(EVIDENCE_CONTEXT);
/** Nodes of one piece of text. */
const PIECE = 500;

async function* jsonOf({ head, nodes, tail }: EvidenceAnswer): AsyncGenerator<Buffer> {
  const { "@context": _context, ...rest } = head;
  let before = `{"@context":${CONTEXT},${JSON.stringify(rest).slice(1, -1)},"@graph":[`;
  for await (const some of nodes()) {
    for (let start = 0; start < some.length; start += PIECE) {
      const text = JSON.stringify(some.slice(start, start + PIECE));
      yield Buffer.from(before + text.slice(1, -1));
      before = ",";
    }
  }
  yield Buffer.from(`],${JSON.stringify(tail()).slice(1)}`);
}
