/** Markdown of records as safe elements: nothing of it is HTML, and nothing is loaded from elsewhere. */
import { decodeHTMLStrict } from "entities";
import { lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { plainText, withoutTags } from "../model/texts.js";
import { isWebAddress } from "./components.js";

/** Deeper nesting is shown as text. */
const DEEPEST = 12;
/** Elements of one text. */
const MAX_TOKENS = 2000;

/** A description with its paragraphs, lists, tables, code and links. */
export function Markdown({ text }: { text: string }) {
  return <div class="markdown">{blocks(tokensOf(text), new Budget())}</div>;
}

function tokensOf(text: string): Token[] {
  // Quotes and lists within each other would overflow the stack of the parser.
  const flat = withoutTags(text).replace(
    /^((?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])[ \t]*){12})[^\n]*$/gm,
    "",
  );
  return lexer(flat, { gfm: true, breaks: false });
}

class Budget {
  #left = MAX_TOKENS;
  take(): boolean {
    return this.#left-- > 0;
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
    // The page has its own outline.
    case "heading":
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
      return <Table table={token as Tokens.Table} budget={budget} depth={depth} />;
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

interface TableProps {
  table: Tokens.Table;
  budget: Budget;
  depth: number;
}

const Table = ({ table: { header, rows }, budget, depth }: TableProps) => (
  <div class="scroll" tabIndex={0} role="region" aria-label="Table of the description">
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
    // An image would be loaded from where it is; a badge says nothing that lasts.
    case "image":
      return null;
    case "link":
      return <Link href={(token as Tokens.Link).href}>{inside()}</Link>;
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

/** A link to the web or an e-mail address; anything else is text. */
function Link({ href, children }: { href: string; children: ComponentChildren }) {
  const address = decoded(href).trim();
  if (!isWebAddress(address) && !/^mailto:[^\s<>"]+$/i.test(address)) return <>{children}</>;
  return (
    <a href={address} rel="nofollow noopener">
      {children}
    </a>
  );
}
