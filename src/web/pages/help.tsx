/** Pages of text: the documentation, and what an address of the API is when a browser opens it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import type { ComponentChildren } from "preact";
import { ServiceError } from "../../errors.js";
import { packageRoot } from "../../package-root.js";
import { asksForPage } from "../frame.js";
import { shortened } from "../words.js";
import type { Page, PageRequest, Redirect, Route } from "../page.js";

/** A page of the documentation. */
interface HelpPage {
  title: string;
  /** Made by the build from our own Markdown; raw HTML in it is text. */
  html: string;
  /** Headings of the second level; titles are plain text. */
  sections: readonly { id: string; title: string }[];
}

/** A query, by the question that it answers. */
export interface Example {
  title: string;
  query: string;
}

interface Help {
  pages: Readonly<Record<string, HelpPage>>;
  navigation: readonly { title: string; pages: readonly string[] }[];
  questions: readonly Example[];
  cookbook: readonly Example[];
}

let known: Help | undefined;

/** The documentation as the build made it of `docs/` (`scripts/help-pages.mjs`); read once. */
export function help(): Help {
  known ??= JSON.parse(
    brotliDecompressSync(readFileSync(join(packageRoot, "dist", "web", "help.json.br"))).toString(),
  ) as Help;
  return known;
}

const addressOf = (name: string): string => (name === "" ? "/help" : `/help/${name}`);

/** Every page of the documentation, in the order of its index. */
function Contents({ current }: { current: string }) {
  const { navigation, pages } = help();
  return (
    <nav class="contents" aria-label="Help">
      <details class="more" open>
        <summary>All help pages</summary>
        {navigation.map((group) => (
          <>
            <h2>{group.title}</h2>
            <ul>
              {group.pages.map((name) => (
                <li>
                  <a
                    href={addressOf(name)}
                    aria-current={
                      name === current || current.startsWith(`${name}/`) ? "page" : undefined
                    }
                  >
                    {pages[name]!.title}
                  </a>
                </li>
              ))}
            </ul>
          </>
        ))}
      </details>
    </nav>
  );
}

/** Links to the sections of a page. */
export function Sections({ page }: { page: HelpPage }) {
  if (page.sections.length < 3) return null;
  return (
    <nav class="sections" aria-label="On this page">
      <ul>
        {page.sections.map(({ id, title }) => (
          <li>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** A page of the documentation; without a name its index. @throws ServiceError `NOT_FOUND` */
function helpPage(name: string): Page {
  const { pages } = help();
  const page = Object.hasOwn(pages, name) ? pages[name] : undefined;
  if (!page)
    throw new ServiceError(
      "NOT_FOUND",
      `There is no help page ${name.slice(0, 100)}; /help lists all of them.`,
    );
  // The heading of the page, then where its sections are, then the rest.
  const end = page.html.indexOf("</h1>") + "</h1>".length;
  return {
    title: name === "" ? "Help" : page.title,
    description: `Help of this registry: ${page.title}.`,
    section: "help",
    body: (
      <div class="help">
        <Contents current={name} />
        <article>
          <div dangerouslySetInnerHTML={{ __html: page.html.slice(0, end) }} />
          <Sections page={page} />
          <div dangerouslySetInnerHTML={{ __html: page.html.slice(end) }} />
        </article>
      </div>
    ),
  };
}

export const helpRoutes: readonly Route[] = [
  { path: "/help", get: async () => helpPage("") },
  { path: "/help/:page", get: async ({ param }) => helpPage(param("page")) },
  {
    path: "/help/:folder/:page",
    get: async ({ param }) => helpPage(`${param("folder")}/${param("page")}`),
  },
];

interface Text {
  title: string;
  body: () => ComponentChildren;
}

/** The pages under `/page/{page_name}`, beside `help`. */
const PAGES: Readonly<Record<string, Text>> = {
  about: {
    title: "About this registry",
    body: () => (
      <>
        <p>
          Arkgraph registers research objects: datasets, software, computations, the files behind
          them and the crates that bundle them. Every record has an ARK, an identifier that is never
          given to another object; every earlier state of a record is preserved.
        </p>
        <p>
          What sets it apart is the question it answers: which result came from what, with which
          software, by whom; and which results depend on a given input.
        </p>
        <p>
          Metadata is open to everyone, unless its owner has it private until it is published. Files
          are open once their record is published.
        </p>
      </>
    ),
  },
  api: {
    title: "Interfaces",
    body: () => (
      <>
        <ul>
          <li>
            <a href="/graphql">GraphQL</a>: the whole object model, linked, with paging and history.
          </li>
          <li>
            <a href="/docs">REST</a>: every operation with examples; the contract as{" "}
            <a href="/openapi.yaml">YAML</a>.
          </li>
          <li>
            <a href="/sparql">SPARQL</a>: queries over everything that is public, and a page to
            write them in.
          </li>
          <li>
            The resolver: <code>/ark:…</code> for any record of any kind.
          </li>
        </ul>
        <p>
          Each refusal has one sentence and a stable code; the errors of a body are all reported at
          once, each with its place.
        </p>
      </>
    ),
  },
  provenance: {
    title: "Provenance",
    body: () => (
      <>
        <p>
          An evidence graph names everything that supports a record: the activities that generated
          it, what those used, and so on, across crates and however deep.
        </p>
        <p>
          <code>/evidencegraph/query/ark:…</code> builds it when asked, never older than the
          question; <code>direction=downstream</code> turns it round; <code>depth</code> and{" "}
          <code>limit</code> bound it. References to what is not stored here are listed under{" "}
          <code>dangling</code>.
        </p>
        <p>
          <code>collapse=true</code> groups like siblings into one node; <code>format=</code> gives
          PROV-JSON, Turtle, DOT or Mermaid; <code>/evidencegraph/impact/ark:…</code> counts what a
          record supports, and <code>/evidencegraph/path/ark:…?to=ark:…</code> returns the shortest
          path between two.
        </p>
        <p>
          However a crate writes its provenance (EVI, PROV-O, schema.org actions), the graph holds
          the same EVI and PROV-O statements.
        </p>
      </>
    ),
  },
};

export async function textPage({ req, param }: PageRequest): Promise<Page | Redirect> {
  const name = param("page_name");
  // Help is the documentation. The contract promises HTML at this address to programs too.
  if (name === "help") return asksForPage(req) ? { redirect: "/help" } : helpPage("");
  const known = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined;
  if (known)
    return {
      title: known.title,
      section: "help",
      body: (
        <>
          <h1>{known.title}</h1>
          {known.body()}
        </>
      ),
    };
  return {
    status: 404,
    title: "No such page",
    body: (
      <>
        <h1>No such page</h1>
        <p>There is no page {name.slice(0, 100)}. There are:</p>
        <ul>
          {Object.entries(PAGES).map(([key, { title }]) => (
            <li>
              <a href={`/page/${key}`}>{title}</a>
            </li>
          ))}
          <li>
            <a href="/help">Help</a>
          </li>
        </ul>
      </>
    ),
  };
}

export const textRoutes: readonly Route[] = [{ path: "/page/:page_name", get: textPage }];

/** What the contract says of an operation. */
export interface OperationText {
  summary: string;
  description?: string | undefined;
}

/** What a browser gets at an address of the REST API that answers programs with JSON. */
export function operationPage(
  { req, base }: PageRequest,
  { summary, description }: OperationText,
): Page {
  const target = shortened(req.url ?? "/", 500);
  return {
    title: summary,
    section: "explorers",
    body: (
      <>
        <h1>{summary}</h1>
        <p>This address answers programs, with JSON.</p>
        {description !== undefined && <p>{description.split("\n\n", 1)[0]!.replaceAll("`", "")}</p>}
        <pre>
          curl -H "Accept: application/json" "{base}
          {target}"
        </pre>
        <p class="actions">
          <a class="button" href="/docs">
            Try it in the REST explorer
          </a>
          <a class="button secondary" href="/browse">
            Browse the records
          </a>
        </p>
      </>
    ),
  };
}
