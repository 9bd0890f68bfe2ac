import type { JsonValue } from "../../../model/field.js";
import { referencesIn } from "../json-path.js";

const MEDIA_TYPE = /^[a-z]+\/[a-z0-9][a-z0-9!#$&^_.+-]*(?:\s*;.*)?$/i;

const BY_EXTENSION: Readonly<Record<string, string>> = {
  txt: "text/plain", md: "text/markdown", csv: "text/csv", tsv: "text/tab-separated-values", html: "text/html", htm: "text/html", xml: "application/xml",
  json: "application/json", jsonld: "application/ld+json", ttl: "text/turtle", nt: "application/n-triples", rdf: "application/rdf+xml", yml: "application/yaml", yaml: "application/yaml",
  pdf: "application/pdf", png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", svg: "image/svg+xml", tif: "image/tiff", tiff: "image/tiff",
  mp3: "audio/mpeg", wav: "audio/wav", mp4: "video/mp4", zip: "application/zip", gz: "application/gzip", tar: "application/x-tar", py: "text/x-python", r: "text/x-r", sh: "text/x-sh",
  ipynb: "application/x-ipynb+json", xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
};

/** Media type of a file: what its entity says when that is one, else by the extension. */
export function mediaTypeOf(path: string, stated?: JsonValue): string {
  const said = referencesIn(stated).find((text) => text.length <= 255 && MEDIA_TYPE.test(text));
  return said ?? BY_EXTENSION[path.slice(path.lastIndexOf(".") + 1).toLowerCase()] ?? "application/octet-stream";
}
