import type { IncomingMessage, ServerResponse } from "node:http";
import { ServiceError } from "../errors.js";
import { hasBody } from "../http/body.js";
import { requestIdOf } from "../http/client.js";
import { decodedPath, errorAnswer, refuseEarly } from "../http/errors.js";
import { negotiate } from "../http/negotiation.js";
import { PAGE_POLICY, sendBytes, sendJson } from "../http/reply.js";
import { type Log, reportDamage } from "../services/log.js";
import { assetUrl } from "./assets.js";

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as HTML shows it. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);

/** A whole page with the product's style. `body` is HTML. */
export function htmlPage(title: string, body: string, head = ""): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${assetUrl("arkgraph.svg")}">
<link rel="stylesheet" href="${assetUrl("arkgraph.css")}">
${head}</head>
<body>
${body}
</body>
</html>
`;
}

/** The JSON of a refusal, as {@link errorAnswer} makes it. */
interface Refusal {
  status: number;
  body: Readonly<Record<string, unknown>>;
}

const TITLES: Readonly<Record<number, string>> = {
  400: "The address is malformed",
  401: "Sign in to see this",
  403: "Not allowed",
  404: "Not found",
  405: "Not a page",
  406: "Not available in this form",
  409: "Not possible in the current state",
  410: "Deleted",
  412: "Changed since",
  413: "Too large",
  415: "Not a form this page reads",
  416: "Outside the content",
  422: "Something in the address is wrong",
  429: "Too many requests",
  500: "Something went wrong here",
  503: "Not available at the moment",
};

/**
 * The page a browser gets for an error: the sentence that other clients get as JSON, and its
 * details.
 */
export function refusalPage({ status, body }: Refusal, path: string): string {
  const { code, deletedAt, deletedBy, reason, successor, candidates } = body;
  const title = code === "AMBIGUOUS" ? "Which one is meant?" : (TITLES[status] ?? "Refused");
  const rows: [string, string][] = [["Address", `<code>${escapeHtml(path.slice(0, 500))}</code>`]];
  if (typeof deletedAt === "string")
    rows.push([
      "Deleted",
      `<time datetime="${escapeHtml(deletedAt)}">${escapeHtml(deletedAt)}</time>`,
    ]);
  if (typeof deletedBy === "string") rows.push(["By", anchor(deletedBy)]);
  if (typeof reason === "string") rows.push(["Reason", escapeHtml(reason)]);
  if (typeof successor === "string") rows.push(["Successor", anchor(successor)]);
  if (Array.isArray(candidates))
    rows.push(["Stored here", (candidates as string[]).map(anchor).join("<br>")]);
  return htmlPage(
    `${title} · Arkgraph`,
    `<main>
<p class="crumb"><a href="/">Arkgraph</a></p>
<h1>${escapeHtml(title)}</h1>
${sentences(body["detail"])
  .map((sentence) => `<p>${escapeHtml(sentence)}</p>`)
  .join("\n")}
<dl>${rows.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("")}</dl>
${
  code === "GONE"
    ? "<p>An identifier is never given to another object. Earlier revisions are shown to the " +
      "record's owner and to administrators.</p>\n"
    : ""
}${wordsIn(path, status)}<p>` +
      `<a href="/">Look up another identifier</a> · <a href="/page/help">help</a></p>
</main>`,
  );
}

/** The front page resolves anything typed there: words start a search for them. */
function wordsIn(path: string, status: number): string {
  const words = path.slice(1);
  if (status !== 404 || words.length > 200 || !/^[\p{L}\p{N}][\p{L}\p{N}\s'".,-]*$/u.test(words))
    return "";
  return (
    "<p>Not an address here; <a " +
    `href="/search/basic?query=${escapeHtml(encodeURIComponent(words))}">search for ` +
    `${escapeHtml(words)}</a>, as JSON.</p>\n`
  );
}

/** The sentence of a refusal; for a 422 one sentence for each broken rule. */
function sentences(detail: unknown): string[] {
  if (!Array.isArray(detail)) return [String(detail)];
  return (detail as { loc: (string | number)[]; msg: string }[])
    .slice(0, 20)
    .map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`);
}

const anchor = (ark: string): string =>
  `<a href="/${escapeHtml(encodeURI(ark))}">${escapeHtml(ark)}</a>`;

/**
 * Answers with an error, as a page where a browser asks for one, or ends the connection when an
 * answer has already begun.
 */
export function sendError(
  req: IncomingMessage,
  res: ServerResponse,
  error: unknown,
  log: Log,
): void {
  if (res.headersSent || res.destroyed) {
    reportDamage(log, error);
    if (!(error instanceof ServiceError) && !req.destroyed && !res.destroyed)
      log.error({ err: error }, "an answer ended early");
    res.destroy();
    return;
  }
  const { status, body, headers } = errorAnswer(error, log, requestIdOf(req));
  // The answer to a browser depends on Accept; so caches must vary on it.
  headers["Vary"] ??= "Accept, Authorization";
  if (asksForPage(req)) {
    const page = refusalPage(
      { status, body: body as Record<string, unknown> },
      decodedPath((req.url ?? "/").split("?", 1)[0]!),
    );
    sendBytes(req, res, Buffer.from(page), {
      status,
      type: "text/html; charset=utf-8",
      headers: { ...headers, "Cache-Control": "no-cache", "Content-Security-Policy": PAGE_POLICY },
    });
  } else if (req.complete || req.destroyed || !hasBody(req))
    sendJson(req, res, body, { status, headers });
  else refuseEarly(req, res, status, body, headers);
}

/** Whether a browser asks for a page: no answer to such a request is JSON, at any address. */
function asksForPage({ method, url = "/", headers: { accept } }: IncomingMessage): boolean {
  if ((method !== "GET" && method !== "HEAD") || !accept?.includes("text/html")) return false;
  const mark = url.indexOf("?");
  const parameters = new URLSearchParams(mark < 0 ? "" : url.slice(mark));
  // A client that names another form gets errors in that form; `?info` is text for programs.
  if (parameters.has("info") || (parameters.get("format") ?? "html") !== "html") return false;
  try {
    return negotiate(accept, undefined).mediaType === "text/html";
  } catch {
    return false;
  }
}
