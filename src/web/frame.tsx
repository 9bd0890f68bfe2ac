/** The frame of every page, and the page of an error. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { render } from "preact-render-to-string";
import { ServiceError } from "../errors.js";
import { hasBody } from "../http/body.js";
import { negotiate } from "../http/negotiation.js";
import {
  decodedPath,
  type ErrorAnswer,
  errorAnswer,
  PAGE_POLICY,
  refuseEarly,
  sendBytes,
  sendEarly,
  sendJson,
} from "../http/reply.js";
import { type Log, reportDamage } from "../log.js";
import type { Review } from "../services/access/review.js";
import { oneLine } from "../model/texts.js";
import { assetUrl } from "./assets.js";
import { Facts } from "./components.js";
import { RecordLink } from "./record-components.js";
import { recordPath } from "./paths.js";
import { dateText, shortened } from "./words.js";
import type { Page, Viewer } from "./page.js";

interface FrameProps {
  page: Page;
  viewer: Viewer | null;
  csrf: string | null;
  /** The reviewer's link by which the page is read. */
  review?: Review | undefined;
  base: string;
  /** Path and query of the page: what signing in returns to. */
  here: string;
  /** What stands in the search box. */
  query?: string | undefined;
}

const EXPLORERS: readonly [string, string][] = [
  ["/graphql", "GraphQL"],
  ["/docs", "REST"],
  ["/sparql", "SPARQL"],
];

/** A whole page: head, navigation, body and footer. */
export function Frame({ page, viewer, csrf, review, base, here, query }: FrameProps) {
  const { status = 200, title, description, section, layout = "text" } = page;
  const { scripts = [], styles = [] } = page;
  const name = title === "Arkgraph" ? title : `${title} · Arkgraph`;
  const summary = description ? shortened(oneLine(description).trim(), 300) : null;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{name}</title>
        {review && <meta name="robots" content="noindex, nofollow" />}
        {summary && <meta name="description" content={summary} />}
        <meta property="og:title" content={title} />
        <meta property="og:type" content="website" />
        <meta property="og:site_name" content="Arkgraph" />
        <meta property="og:url" content={base + here.split("?", 1)[0]} />
        {summary && <meta property="og:description" content={summary} />}
        {page.image && (
          <>
            <meta property="og:image" content={base + page.image} />
            <meta property="og:image:width" content="1200" />
            <meta property="og:image:height" content="630" />
            <meta name="twitter:card" content="summary_large_image" />
          </>
        )}
        {csrf && <meta name="csrf" content={csrf} />}
        <link rel="icon" href={assetUrl("arkgraph.svg")} />
        <link rel="apple-touch-icon" href="/apple-touch-icon.png" />
        <link rel="stylesheet" href={assetUrl("arkgraph.css")} />
        {styles.map((href) => (
          <link rel="stylesheet" href={href} />
        ))}
        {page.links?.map((link) => (
          <link {...link} />
        ))}
        {page.data && (
          <script
            type="application/ld+json"
            // A data block, never run; no text of it can end it.
            dangerouslySetInnerHTML={{
              __html: JSON.stringify(page.data).replaceAll("<", "\\u003c"),
            }}
          />
        )}
        <script type="module" src={assetUrl("client/base.js")} />
        <script type="module" src={assetUrl("client/suggest.js")} />
        {scripts.map((script) => (
          <script type="module" src={assetUrl(`client/${script}.js`)} />
        ))}
      </head>
      <body class={layout} data-error={status >= 400 ? status : undefined}>
        <a class="skip" href="#content">
          Skip to content
        </a>
        <header class="top">
          <a class="brand" href="/">
            <img src={assetUrl("arkgraph.svg")} alt="" width="28" height="28" />
            Arkgraph
          </a>
          {!page.hasSearch && (
            <form class="find" action="/search" role="search" aria-label="Search">
              <input
                type="search"
                name="q"
                value={query}
                data-suggest
                aria-label="Search words or an identifier"
                placeholder="Search words or an identifier…"
              />
              <button>Search</button>
            </form>
          )}
          <nav aria-label="Main">
            <Links section={section} />
            {viewer ? (
              <ViewerMenu viewer={viewer} csrf={csrf} section={section} />
            ) : (
              <Tab href={signInPath(here)} current={section === "my"}>
                Sign in
              </Tab>
            )}
          </nav>
        </header>
        {review && <ReviewBanner review={review} />}
        <main id="content" tabIndex={-1}>
          {page.body}
        </main>
        <footer class="bottom">
          <ul>
            <li>
              <a href="/page/about">About</a>
            </li>
            <li>
              <a href="/page/api">Interfaces</a>
            </li>
            <li>
              <a href="/help">Help</a>
            </li>
            <li>
              <a href="/status">Status</a>
            </li>
          </ul>
        </footer>
      </body>
    </html>
  );
}

/** By what link one reads, and how one stops. */
function ReviewBanner({ review }: { review: Review }) {
  const until = new Date(review.expiresAt).toISOString();
  return (
    <aside class="review" aria-label="Review link">
      <p>
        You read <a href={recordPath(review.record)}>a record under review</a> by a link that is
        valid until {dateText(until)}. You change nothing with it.
        {review.anonymous && " Names of people are hidden; the contents of files are as they are."}
      </p>
      <form method="post" action="/review/end">
        <button class="link">Stop reading by this link</button>
      </form>
    </aside>
  );
}

/** Where one signs in, and from where one comes back to this page. */
function signInPath(here: string): string {
  const isSignIn = here.startsWith("/signin") || here.startsWith("/signup");
  return `/signin?to=${encodeURIComponent(isSignIn ? "/" : here)}`;
}

/** What the signed-in user can do. */
function ViewerMenu({
  viewer,
  csrf,
  section,
}: {
  viewer: NonNullable<FrameProps["viewer"]>;
  csrf: FrameProps["csrf"];
  section: Page["section"];
}) {
  return (
    <details class="menu" name="menu" data-menu>
      <summary aria-current={section === "my" || section === "admin" ? "page" : undefined}>
        <span class="name">{shortened(viewer.name ?? "My work", 24)}</span>
      </summary>
      <ul>
        <li>
          <a href="/my">My work</a>
        </li>
        <li>
          <a href="/my/profile">Profile and tokens</a>
        </li>
        {viewer.admin && (
          <li>
            <a href="/admin">Administration</a>
          </li>
        )}
        <li>
          <form method="post" action="/signout">
            <input type="hidden" name="csrf" value={csrf ?? ""} />
            <button class="link">Sign out</button>
          </form>
        </li>
      </ul>
    </details>
  );
}

/** The links to all parts of the site: beside each other, and as one menu where the page is narrow. */
function Links({ section }: { section: Page["section"] }) {
  const isHere = (name: Page["section"]): boolean => section === name;
  const explorers = (suffix = "") =>
    EXPLORERS.map(([href, text]) => (
      <li>
        <a href={href}>{text + suffix}</a>
      </li>
    ));
  return (
    <>
      <div class="links">
        <Tab href="/browse" current={isHere("browse")}>
          Browse
        </Tab>
        <Tab href="/upload" current={isHere("upload")}>
          Upload
        </Tab>
        <details class="menu" name="menu" data-menu>
          <summary aria-current={isHere("explorers") ? "page" : undefined}>Explorers</summary>
          <ul>{explorers()}</ul>
        </details>
        <Tab href="/help" current={isHere("help")}>
          Help
        </Tab>
      </div>
      <details class="menu all" name="menu" data-menu>
        <summary>Menu</summary>
        <ul>
          <li>
            <Tab href="/browse" current={isHere("browse")}>
              Browse
            </Tab>
          </li>
          <li>
            <Tab href="/upload" current={isHere("upload")}>
              Upload
            </Tab>
          </li>
          {explorers(" explorer")}
          <li>
            <Tab href="/help" current={isHere("help")}>
              Help
            </Tab>
          </li>
        </ul>
      </details>
    </>
  );
}

function Tab({ href, current, children }: { href: string; current: boolean; children: string }) {
  return (
    <a href={href} aria-current={current ? "page" : undefined}>
      {children}
    </a>
  );
}

interface Known {
  viewer: Viewer | null;
  csrf: string | null;
  review?: Review | undefined;
}
const viewers = new WeakMap<IncomingMessage, Known>();

const forms = new WeakSet<IncomingMessage>();

/** A form of a page was sent: a browser gets its refusal as a page too. */
export function rememberForm(req: IncomingMessage): void {
  if (req.headers.accept?.includes("text/html")) forms.add(req);
}

/** Who asks: an error page then shows the same navigation as other pages. */
export const rememberViewer = (req: IncomingMessage, known: Known): void =>
  void viewers.set(req, known);

const TITLES: Readonly<Record<number, string>> = {
  400: "The address is malformed",
  401: "Sign in to see this",
  403: "Not allowed",
  404: "Not found",
  405: "Not a page",
  406: "Not available in this form",
  409: "Not possible in the current state",
  410: "Withdrawn",
  412: "Changed since",
  413: "Too large",
  415: "Not a form this page reads",
  416: "Outside the content",
  422: "Something in the address is wrong",
  429: "Too many requests",
  500: "Something went wrong here",
  503: "Not available at the moment",
};

const TITLES_BY_CODE: Readonly<Record<string, string>> = {
  AMBIGUOUS: "Which one is meant?",
  CONTENT_DELETED: "The content was deleted",
};

/**
 * The page a browser gets for an error: the sentence that other clients get as JSON, and its
 * details.
 */
export function errorPage(
  req: IncomingMessage,
  { status, body }: Pick<ErrorAnswer, "status" | "body">,
): string {
  const target = req.url ?? "/";
  const path = decodedPath(target.split("?", 1)[0]!);
  const title = TITLES_BY_CODE[String(body["code"])] ?? TITLES[status] ?? "Refused";
  const { viewer, csrf, review } = viewers.get(req) ?? { viewer: null, csrf: null };
  const content = (
    <>
      <h1>{title}</h1>
      {sentences(body["detail"]).map((sentence) => (
        <p dir="auto">{sentence}</p>
      ))}
      <Candidates ids={body["candidates"]} />
      <NextStep status={status} path={path} target={target} signedIn={viewer !== null} />
    </>
  );
  return `<!doctype html>${render(
    <Frame
      page={{ status, title, body: content }}
      base=""
      here={target}
      viewer={viewer}
      csrf={csrf}
      review={review}
    />,
  )}`;
}

/** The records that an identifier may mean. */
function Candidates({ ids }: { ids: unknown }) {
  if (!Array.isArray(ids)) return null;
  const links = (ids as string[]).map((id) => (
    <li>
      <RecordLink record={{ id, name: id }} />
    </li>
  ));
  return <Facts rows={[["Stored here", <ul>{links}</ul>]]} />;
}

/** What somebody who came here can do next. */
function NextStep(props: { status: number; path: string; target: string; signedIn: boolean }) {
  const { status, path, target, signedIn } = props;
  const words = path
    // Of an ARK its name, without the page that was asked for.
    .replace(/^.*\bark:\/?\d+\//, "/")
    .slice(1)
    .replace(/[/_-]+/g, " ")
    .trim();
  if ((status === 401 || status === 403) && !signedIn)
    return (
      <p>
        <a class="button" href={`/signin?to=${encodeURIComponent(target)}`}>
          Sign in
        </a>
      </p>
    );
  if (status === 404 && words !== "" && words.length <= 200)
    return (
      <p class="actions">
        <a class="button" href={`/search?q=${encodeURIComponent(words)}`}>
          Search for “{words}”
        </a>{" "}
        <a href="/browse">Browse the registry</a>
      </p>
    );
  return (
    <p>
      <a href="/">Go to the front page</a> · <a href="/help">Help</a>
    </p>
  );
}

/** The sentence of a refusal; for a 422 one sentence for each broken rule. */
function sentences(detail: unknown): string[] {
  if (!Array.isArray(detail)) return [String(detail)];
  return (detail as { loc: (string | number)[]; msg: string }[])
    .slice(0, 20)
    .map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`);
}

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
  const answer = errorAnswer(error, log, req);
  const { status, headers } = answer;
  // The answer to a browser depends on Accept; so caches must vary on it.
  headers["Vary"] ??= "Accept, Authorization, Cookie";
  if (asksForPage(req) || forms.has(req)) {
    const page = Buffer.from(errorPage(req, answer));
    const type = "text/html; charset=utf-8";
    const sent = {
      ...headers,
      "Cache-Control": "no-cache",
      "Content-Security-Policy": PAGE_POLICY,
    };
    if (req.complete || req.destroyed || !hasBody(req))
      sendBytes(req, res, page, { status, type, headers: sent });
    else sendEarly(req, res, status, page, { "Content-Type": type, ...sent });
  } else if (req.complete || req.destroyed || !hasBody(req))
    sendJson(req, res, answer.body, answer);
  else refuseEarly(req, res, answer);
}

/** Whether a browser asks for a page: no answer to such a request is JSON, at any address. */
export function asksForPage({ method, url = "/", headers: { accept } }: IncomingMessage): boolean {
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
