import { invalid } from "../errors.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { CrateResolver } from "../graphql/resolvers/crate-resolver.js";
import { EvidenceResolver } from "../graphql/resolvers/evidence-resolver.js";
import { formatNamed, preferred } from "../http/negotiation.js";
import { sendBytes, sendJson, streamBytes } from "../http/reply.js";
import { impactOf, supportPath } from "../services/evidence/analysis.js";
import { EVIDENCE_FORMATS, type EvidenceFormat } from "../services/evidence/formats.js";
import { originOf } from "../services/evidence/origin.js";
import { drawBadge } from "../services/evidence/picture/badge.js";
import { PICTURE_POLICY } from "../services/evidence/picture/svg.js";
import {
  assertedByParameter,
  evidenceDeps,
  type EvidenceGraph,
  evidenceParameters,
} from "../services/evidence/types.js";
import { askedArk } from "../services/records/find.js";
import { arkOf, type Handlers, linkToNext, type RestRequest } from "./request.js";

type Form = "jsonld" | "json" | "svg" | "png" | "badge" | EvidenceFormat;
/** Names of `?format=`. */
const EVIDENCE_FORM_NAMES: Readonly<Record<Form, Form>> = {
  jsonld: "jsonld",
  json: "json",
  "prov-json": "prov-json",
  turtle: "turtle",
  dot: "dot",
  mermaid: "mermaid",
  svg: "svg",
  png: "png",
  badge: "badge",
};
const JSON_TYPES = { jsonld: "application/ld+json", json: "application/json" } as const;
/** PROV-JSON is not among them: it has no media type of its own. */
const BY_TYPE: Readonly<Record<string, Form>> = {
  "application/ld+json": "jsonld",
  "application/json": "json",
  [EVIDENCE_FORMATS.turtle.type]: "turtle",
  [EVIDENCE_FORMATS.dot.type]: "dot",
  [EVIDENCE_FORMATS.mermaid.type]: "mermaid",
  "image/svg+xml": "svg",
  "image/png": "png",
};

const TYPES = Object.keys(BY_TYPE) as [string, ...string[]];

/**
 * The requested form.
 * @throws ServiceError `NOT_ACCEPTABLE`; ValidationError for an unknown name
 */
function evidenceForm({ req, query }: RestRequest): Form {
  return query["format"] === undefined
    ? BY_TYPE[preferred(req.headers.accept, TYPES)]!
    : formatNamed(query["format"], EVIDENCE_FORM_NAMES);
}

const HEADERS = { "Cache-Control": "no-store", Vary: "Accept" };

async function sendPicture(request: RestRequest): Promise<void> {
  const { req, res, context } = request;
  const asked = { ark: arkOf(request), ...evidenceParameters(request.query) };
  const { drawn, graph } = await evidence.draw(asked, context);
  sendBytes(req, res, Buffer.from(drawn.svg), {
    type: "image/svg+xml; charset=utf-8",
    headers: { ...HEADERS, ...cut(request, graph), "Content-Security-Policy": PICTURE_POLICY },
  });
}

/** Sends one line about the origin, as a picture for other sites. */
async function sendBadge(request: RestRequest): Promise<void> {
  const { req, res, context } = request;
  const origin = await originOf(arkOf(request), context.deps);
  sendBytes(req, res, Buffer.from(drawBadge(origin)), {
    type: "image/svg+xml; charset=utf-8",
    headers: { ...HEADERS, "Content-Security-Policy": PICTURE_POLICY },
  });
}

/** Sends the picture for links to the record. */
async function sendCard(request: RestRequest): Promise<void> {
  const { req, res, context } = request;
  const asked = { ark: arkOf(request), ...evidenceParameters(request.query) };
  sendBytes(req, res, await evidence.card(asked, context), {
    type: "image/png",
    headers: { "Cache-Control": "public, max-age=3600", Vary: "Accept" },
  });
}

/** Sends a graph in a form other than JSON, which {@link EvidenceResolver.written} writes. */
async function sendForm(request: RestRequest, form: EvidenceFormat): Promise<void> {
  const { req, res, query, context } = request;
  const graph = await evidence.query(
    { ark: arkOf(request), ...evidenceParameters(query) },
    context,
  );
  const { type, write } = EVIDENCE_FORMATS[form];
  const text = await write(graph);
  sendBytes(req, res, Buffer.from(text), {
    type: type === "application/json" ? type : `${type}; charset=utf-8`,
    headers: { ...HEADERS, ...cut(request, graph) },
  });
}

/** A form that cannot hold a cursor signals truncation in the headers. */
function cut(request: RestRequest, { truncated, cursor }: EvidenceGraph): Record<string, string> {
  if (!truncated) return {};
  return {
    "X-Truncated": "true",
    Link: linkToNext(request, { ...request.query, cursor }),
  };
}

const evidence = new EvidenceResolver();
const submissions = new CrateResolver();
const FRESH = { headers: { "Cache-Control": "no-store" } };

export const evidenceOperations: Handlers = {
  query_evidence: async (request) => {
    const form = evidenceForm(request);
    if (form === "svg") return sendPicture(request);
    if (form === "png") return sendCard(request);
    if (form === "badge") return sendBadge(request);
    if (form !== "jsonld" && form !== "json") return sendForm(request, form);
    const { req, res, query, context } = request;
    const parts = evidence.written({ ark: arkOf(request), ...evidenceParameters(query) }, context);
    await streamBytes(req, res, parts, { type: JSON_TYPES[form], headers: HEADERS });
  },
  build_evidence: async (request) => {
    const { req, res, query } = request;
    const context = signedIn(request.context);
    const { direction, depth, assertedBy } = evidenceParameters({
      direction: query["direction"],
      depth: query["depth"],
      assertedBy: query["assertedBy"],
    });
    const asked = {
      ark: arkOf(request),
      direction,
      ...(depth === undefined ? {} : { depth }),
      ...(assertedBy === undefined ? {} : { assertedBy }),
    };
    sendJson(req, res, await evidence.build(asked, context), FRESH);
  },
  evidence_build_status: async ({ req, res, params, context }) => {
    sendJson(req, res, await submissions.submission(params.submissionUUID, context), FRESH);
  },
  evidence_impact: async (request) => {
    const { req, res, query, context } = request;
    const deps = evidenceDeps(context.deps);
    sendJson(req, res, await impactOf(arkOf(request), deps, assertedByParameter(query)), FRESH);
  },
  evidence_path: async (request) => {
    const { req, res, query, context } = request;
    const { to } = query;
    if (to === undefined) throw invalid(["query", "to"], "Field required", "missing");
    const path = await supportPath(
      arkOf(request),
      askedArk(to),
      evidenceDeps(context.deps),
      assertedByParameter(query),
    );
    sendJson(req, res, path, FRESH);
  },
};
