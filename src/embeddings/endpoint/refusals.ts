import { Outage } from "../../errors.js";
import { EmbeddingsRefused } from "../port.js";

/** The server refuses what it was sent to embed: less of it, or shorter texts, it may take. */
export class InputRefused extends EmbeddingsRefused {}

/** Characters of the server's own words that are passed on. */
const LONGEST_WORDS = 300;
/** Answers that may be others in a while. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
/** Answers of servers that know no such call at all, and will not in a while. */
const UNABLE: ReadonlySet<number> = new Set([501, 505]);
/** What servers answer to texts, or lists of texts, that are longer than they take. */
const TOO_MUCH: ReadonlySet<number> = new Set([400, 413, 422]);
/** What the reader of the log can do about an answer. */
const REMEDIES: Readonly<Record<number, string>> = {
  401: "see EMBEDDINGS_KEY", 403: "see EMBEDDINGS_KEY",
  404: "see EMBEDDINGS_URL, which /embeddings is put behind, and EMBEDDINGS_MODEL", 405: "see EMBEDDINGS_URL, which /embeddings is put behind",
  413: "see EMBEDDINGS_BATCH and EMBEDDINGS_MAX_TEXT",
};

/** @param reason names settings, no hosts */
export const away = (reason: string): Outage => new Outage(`the embeddings server ${reason}`);

/** @param setting where the time comes from */
export const late = (timeout: number, setting: string): Outage => away(`did not answer within ${setting}=${timeout} ms`);

/**
 * What an answer that is not 2xx means.
 * @param body the beginning of what was answered
 */
export function refusalOf(status: number, body: string, key: string | undefined): Error {
  const remedy = status >= 300 && status < 400 ? "a redirection, which is not followed; set EMBEDDINGS_URL to where it leads" : REMEDIES[status];
  // Those who refuse a key like to repeat it, whole or in parts.
  const words = status === 401 || status === 403 ? "" : wordsOf(body, key);
  const message = `answers ${status}${remedy === undefined ? "" : `, ${remedy}`}${words === "" ? "" : `: ${words}`}`;
  if (PASSING.has(status) || (status >= 500 && !UNABLE.has(status))) return away(message);
  return new (TOO_MUCH.has(status) ? InputRefused : EmbeddingsRefused)(`the embeddings server ${message}`);
}

/** What it said, in one line and without the key. */
function wordsOf(body: string, key: string | undefined): string {
  const said = messageOf(body);
  const hidden = key === undefined ? said : said.replaceAll(key, "…").replaceAll(key.replaceAll("/", "\\/"), "…").replaceAll(JSON.stringify(key).slice(1, -1), "…");
  const line = hidden.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > LONGEST_WORDS ? `${line.slice(0, LONGEST_WORDS).toWellFormed()}…` : line;
}

/** `error.message` as OpenAI's API has it, other members that servers put theirs into, else the body as it is. */
function messageOf(body: string): string {
  try {
    const { error, message, detail } = JSON.parse(body) as Record<string, unknown>;
    for (const said of [(error as { message?: unknown } | undefined)?.message, error, message, detail]) if (typeof said === "string") return said;
  } catch {
    // Not every proxy in front of a server speaks JSON.
  }
  return body;
}
