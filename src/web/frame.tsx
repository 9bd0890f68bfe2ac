import { assetUrl } from "./assets.js";
import type { Page, Viewer } from "./page.js";
import { shortened } from "./format.js";

interface FrameProps {
  page: Page;
  viewer: Viewer | null;
  csrf: string | null;
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
export function Frame({ page, viewer, csrf, base, here, query }: FrameProps) {
  const { status = 200, title, description, section, layout = "text" } = page;
  const { scripts = [], styles = [] } = page;
  const name = title === "Arkgraph" ? title : `${title} · Arkgraph`;
  const summary = description ? shortened(description.replace(/\s+/g, " ").trim(), 300) : null;
  const here_ = here.startsWith("/signin") || here.startsWith("/signup") ? "/" : here;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{name}</title>
        {summary && <meta name="description" content={summary} />}
        <meta property="og:title" content={title} />
        <meta property="og:type" content="website" />
        <meta property="og:site_name" content="Arkgraph" />
        <meta property="og:url" content={base + here.split("?", 1)[0]} />
        {summary && <meta property="og:description" content={summary} />}
        {csrf && <meta name="csrf" content={csrf} />}
        <link rel="icon" href={assetUrl("arkgraph.svg")} />
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
          <form class="find" action="/search" role="search" aria-label="Search">
            <input
              type="search"
              name="q"
              value={query}
              aria-label="Search words or an identifier"
              placeholder="Search words or an identifier…"
            />
            <button>Search</button>
          </form>
          <nav aria-label="Main">
            <Tab href="/browse" current={section === "browse"}>
              Browse
            </Tab>
            <Tab href="/upload" current={section === "upload"}>
              Upload
            </Tab>
            <details class="menu" data-menu>
              <summary aria-current={section === "explorers" ? "page" : undefined}>
                Explorers
              </summary>
              <ul>
                {EXPLORERS.map(([href, text]) => (
                  <li>
                    <a href={href}>{text}</a>
                  </li>
                ))}
              </ul>
            </details>
            <Tab href="/help" current={section === "help"}>
              Help
            </Tab>
            {viewer ? (
              <details class="menu" data-menu>
                <summary
                  aria-current={section === "my" || section === "admin" ? "page" : undefined}
                >
                  {shortened(viewer.name ?? "My work", 24)}
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
            ) : (
              <Tab href={`/signin?to=${encodeURIComponent(here_)}`} current={section === "my"}>
                Sign in
              </Tab>
            )}
          </nav>
        </header>
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

function Tab({ href, current, children }: { href: string; current: boolean; children: string }) {
  return (
    <a href={href} aria-current={current ? "page" : undefined}>
      {children}
    </a>
  );
}
