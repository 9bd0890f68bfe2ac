import { Writer } from "n3";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ServiceError } from "../errors.js";
import { PREFIXES } from "../model/field.js";
import { graphOf } from "../rdf/graph.js";
import { parseNQuads } from "../rdf/parse.js";
import type { RecordView } from "../use-cases/records/view.js";
import type { Deps } from "../use-cases/deps.js";
import { notModified } from "./conditional.js";
import { sendBytes } from "./reply.js";

const FORMATS = ["application/ld+json", "application/json", "text/turtle", "application/n-quads"] as const;
type Format = (typeof FORMATS)[number];

/**
 * The representation that Accept asks for (RFC 9110 section 12.5.1): JSON-LD unless another one is preferred.
 * @throws ServiceError `NOT_ACCEPTABLE`
 */
export function negotiate(accept: string | undefined): Format {
  if (accept === undefined || accept === "" || accept === "*/*") return "application/ld+json";
  let best: { format: Format; quality: number; specific: number } | undefined;
  const ranges = accept.split(",").map((part) => {
    const [range = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const quality = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
    return { range, quality: Number.isFinite(quality) ? quality : 0, specific: range === "*/*" ? 0 : range.endsWith("/*") ? 1 : 2 };
  });
  for (const format of FORMATS) {
    const fit = ranges.filter(({ range }) => range === format || range === "*/*" || (range.endsWith("/*") && format.startsWith(range.slice(0, -1)))).sort((a, b) => b.specific - a.specific)[0];
    if (fit && fit.quality > 0 && (!best || fit.quality > best.quality || (fit.quality === best.quality && fit.specific > best.specific))) best = { format, ...fit };
  }
  // A browser asks for text/html first; until it has a page of its own the record is shown as JSON.
  if (!best && ranges.some(({ range }) => range === "text/html")) return "application/json";
  if (!best) throw new ServiceError("NOT_ACCEPTABLE", `None of ${accept.slice(0, 200)} can be answered; ask for one of ${FORMATS.join(", ")}.`);
  return best.format;
}

const SUFFIX: Readonly<Record<Format, string>> = { "application/ld+json": "", "application/json": "", "text/turtle": "-ttl", "application/n-quads": "-nq" };

/** Sends a record in the form that Accept asks for, or 304. */
export async function sendRecord(deps: Deps, req: IncomingMessage, res: ServerResponse, view: RecordView, location?: string): Promise<void> {
  const format = negotiate(req.headers.accept);
  const etag = view.etag.replace(/"$/, `${SUFFIX[format]}"`);
  const headers = { ETag: etag, Vary: "Accept, Authorization", "X-Publication-Status": view.record.publicationStatus, "Cache-Control": "no-cache", ...(location === undefined ? {} : { "Content-Location": location }) };
  if (notModified(req, etag)) {
    res.writeHead(304, headers).end();
    return;
  }
  const bytes = SUFFIX[format] === "" ? view.bytes : Buffer.from(await statements(deps, view, format));
  sendBytes(req, res, bytes, { headers, type: format.startsWith("text/") ? `${format}; charset=utf-8` : format });
}

/** What the graph holds of the record, without what was inferred. */
async function statements(deps: Deps, view: RecordView, format: Format): Promise<string> {
  const graph = `<${view.record.ark}> .`;
  const { record, past } = view;
  const quads = past ? (await graphOf({ ark: record.ark, kind: record.kind, document: past, fromCrate: record.crate !== null })).quads : await deps.records.quads(record.ark);
  const lines = (quads ?? "").split("\n").filter((line) => line.endsWith(graph));
  if (format === "application/n-quads") return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
  const writer = new Writer({ prefixes: PREFIXES });
  for (const quad of parseNQuads(lines.join("\n"))) writer.addQuad(quad.subject, quad.predicate, quad.object);
  return new Promise((resolve, reject) => writer.end((error, result: string) => (error ? reject(error) : resolve(result))));
}
