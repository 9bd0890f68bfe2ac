/** Markdown of records as safe elements: nothing of it is HTML, and nothing is loaded from elsewhere. */
import { decodeHTMLStrict } from "entities";
import { lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { EntityIds, isPathId } from "../identifiers/entity-ids.js";
import { plainText, withoutTags } from "../model/texts.js";
import { isWebAddress } from "./components.js";
import { recordPath, withQuery } from "./paths.js";
import { shortened } from "./words.js";

/** Deeper nesting is shown as text. */
const DEEPEST = 12;
/** Characters and elements of one text that are shown. */
const [MAX_CHARS, MAX_TOKENS] = [100_000, 2000];

interface MarkdownProps {
  text: string;
  /** The text is a file of this crate: its addresses may lead to other files there. */
  crate?: string | null;
  /** Headings are those of the page. */
  headings?: boolean;
  /** Characters that are shown at once. */
  lead?: number;
}

/** A text with its paragraphs, lists, tables, code and links. */
export function Markdown({ text, crate = null, headings = false, lead = Infinity }: MarkdownProps) {
  const tokens = tokensOf(shortened(text, MAX_CHARS));
  const budget = new Budget(crate, headings);
  const first = endOfLead(tokens, lead);
  const rest = tokens.slice(first);
  return (
    <div class="markdown">
      {blocks(tokens.slice(0, first), budget)}
      {rest.length > 0 && (
        <details class="more">
          <summary>Read on</summary>
          {blocks(rest, budget)}
        </details>
      )}
      {(budget.isSpent || text.length > MAX_CHARS) && <p class="quiet">The text goes on.</p>}
    </div>
  );
}

/** How many blocks make up the first characters. */
function endOfLead(tokens: readonly Token[], characters: number): number {
  let length = 0;
  const end = tokens.findIndex(({ raw }) => (length += raw.length) > characters);
  if (end < 0) return tokens.length;
  // A heading stays with what it is about.
  return Math.max(1, tokens[end - 1]?.type === "heading" ? end - 1 : end);
}

function tokensOf(text: string): Token[] {
  // Quotes and lists within each other would overflow the stack of the parser.
  const flat = withoutTags(asMarkdown(text)).replace(
    /^((?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])[ \t]*){12})[^\n]*$/gm,
    "",
  );
  return lexer(flat, { gfm: true, breaks: false });
}

/** What HTML has in common with Markdown, before the other tags are left out. */
const asMarkdown = (html: string): string =>
  html
    .replace(/<h[1-6](?:\s[^<>]{0,500})?>/gi, "\n\n## ")
    .replace(/<li(?:\s[^<>]{0,500})?>/gi, "\n- ")
    .replace(/<\/?(?:b|strong)>/gi, "**")
    .replace(/<img\s[^<>]{0,2000}>/gi, (tag) => {
      const [source = "", alternative = ""] = ["src", "alt"].map((name) => attributeOf(tag, name));
      return source === "" ? "" : `![${alternative.replace(/[[\]]/g, "")}](<${source}>)`;
    })
    .replace(/<a\s[^<>]{0,2000}>([^<>]{1,1000})<\/a>/gi, (tag, inside: string) => {
      const target = attributeOf(tag, "href");
      return target === "" ? inside : `[${inside}](<${target}>)`;
    });

const attributeOf = (tag: string, name: string): string =>
  new RegExp(String.raw`\s${name}\s*=\s*(?:"([^"<>\n]*)"|'([^'<>\n]*)')`, "i")
    .exec(tag)
    ?.slice(1)
    .find((value) => value !== undefined) ?? "";

/** What one text may still become, and how. */
class Budget {
  #left = MAX_TOKENS;
  constructor(
    readonly crate: string | null,
    readonly headings: boolean,
  ) {}
  take(): boolean {
    return this.#left-- > 0;
  }
  get isSpent(): boolean {
    return this.#left < 0;
  }
}

const decoded = (text: string): string => decodeHTMLStrict(text).toWellFormed();

const blocks = (tokens: readonly Token[], budget: Budget, depth = 0): ComponentChildren[] =>
  tokens.map((token) => block(token, budget, depth));

function block(token: Token, budget: Budget, depth: number): ComponentChildren {
  if (!budget.take()) return null;
  if (depth > DEEPEST) return <p dir="auto">{plainText(token.raw)}</p>;
  switch (token.type) {
    case "space":
    case "def":
    case "hr":
      return null;
    case "heading":
      if (budget.headings) return <h3 dir="auto">{inline(childrenOf(token), budget, depth)}</h3>;
      // The page has its own outline.
      return (
        <p dir="auto" class="summary">
          <strong>{inline(childrenOf(token), budget, depth)}</strong>
        </p>
      );
    case "code":
      return (
        <pre tabIndex={0} aria-label="Code">
          {(token as Tokens.Code).text}
        </pre>
      );
    case "blockquote":
      return <blockquote>{blocks(childrenOf(token), budget, depth + 1)}</blockquote>;
    case "list": {
      const { ordered, items } = token as Tokens.List;
      const entries = items.map((item) => <li>{blocks(item.tokens, budget, depth + 1)}</li>);
      return ordered ? <ol>{entries}</ol> : <ul>{entries}</ul>;
    }
    case "table":
      return table(token as Tokens.Table, budget, depth);
    case "text":
      return inline(childrenOf(token), budget, depth);
    default:
      return (
        <p dir="auto" class="summary">
          {inline("tokens" in token ? childrenOf(token) : [token], budget, depth)}
        </p>
      );
  }
}

const table = ({ header, rows }: Tokens.Table, budget: Budget, depth: number) => (
  <div class="scroll" tabIndex={0} role="region" aria-label="Table of the text">
    <table>
      <thead>
        <tr>
          {header.map(({ tokens }) => (
            <th scope="col">{inline(tokens, budget, depth)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, 100).map((row) => (
          <tr>
            {row.map(({ tokens }) => (
              <td>{inline(tokens, budget, depth)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const childrenOf = (token: Token): Token[] =>
  ("tokens" in token ? token.tokens : undefined) ?? [
    { type: "text", raw: token.raw, text: token.raw },
  ];

const inline = (tokens: readonly Token[], budget: Budget, depth: number): ComponentChildren[] =>
  tokens.map((token) => span(token, budget, depth));

function span(token: Token, budget: Budget, depth: number): ComponentChildren {
  if (!budget.take()) return null;
  if (depth > DEEPEST) return decoded(token.raw);
  const inside = () => inline(childrenOf(token), budget, depth + 1);
  switch (token.type) {
    case "strong":
      return <strong>{inside()}</strong>;
    case "em":
      return <em>{inside()}</em>;
    case "del":
      return <del>{inside()}</del>;
    case "codespan":
      return <code>{decoded((token as Tokens.Codespan).text)}</code>;
    case "br":
      return <br />;
    case "image":
      return <Picture image={token as Tokens.Image} crate={budget.crate} />;
    case "link":
      return (
        <Link href={(token as Tokens.Link).href} crate={budget.crate}>
          {inline(childrenOf(token).map(withoutImage), budget, depth + 1)}
        </Link>
      );
    case "text":
      return "tokens" in token && Array.isArray(token.tokens)
        ? inside()
        : decoded((token as Tokens.Text).text);
    case "escape":
      return decoded((token as Tokens.Escape).text);
    default:
      return decoded(token.raw);
  }
}

/** In a link, an image is its alternative text: badges are links to what they say. */
const withoutImage = (token: Token): Token => {
  if (token.type !== "image") return token;
  const text = alternativeOf(token as Tokens.Image);
  return { type: "text", raw: text, text };
};

/** What an image shows; of one that does not say so the name of its file. */
const alternativeOf = ({ text, href }: Tokens.Image): string =>
  text.trim() || (/([^/?#]+)(?:[?#].*)?$/.exec(href)?.[1] ?? "Image");

/** An image of the same crate; one from elsewhere is a link, so that nobody's browser asks for it. */
function Picture({ image, crate }: { image: Tokens.Image; crate: string | null }) {
  const shown = decoded(alternativeOf(image));
  const file = fileAt(image.href, crate);
  if (file !== undefined) return <img src={recordPath(file, "view")} alt={shown} loading="lazy" />;
  return isWebAddress(decoded(image.href)) ? (
    <Link href={image.href} crate={null}>
      Image: {shown}
    </Link>
  ) : (
    <>{shown}</>
  );
}

/** A link to the web, to a file of the crate or an e-mail address; anything else is text. */
function Link({ href, crate, children }: LinkProps) {
  const address = decoded(href).trim();
  const file = fileAt(href, crate);
  if (file !== undefined)
    return <a href={withQuery(recordPath(file, "preview"), { crate })}>{children}</a>;
  if (!isWebAddress(address) && !/^mailto:[^\s<>"]+$/i.test(address)) return <>{children}</>;
  return (
    <a href={address} rel="nofollow noopener">
      {children}
    </a>
  );
}

interface LinkProps {
  href: string;
  crate: string | null;
  children: ComponentChildren;
}

/** The file of the crate that a relative address leads to. */
function fileAt(href: string, crate: string | null): string | undefined {
  const [path = ""] = decoded(href).trim().split(/[?#]/, 1);
  if (crate === null || path === "" || !isPathId(path)) return undefined;
  const id = new EntityIds(crate).of(path, "");
  return id.rule === "path" && id.ark !== crate ? id.ark : undefined;
}
