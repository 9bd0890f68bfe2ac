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

/** A section of a page of the documentation, or what stands before the first one. */
interface HelpSection {
  /** With the anchor of the section. */
  address: string;
  title: string;
  text: string;
}

let sections: readonly HelpSection[] | undefined;

/** All sections, in the order of the pages; made once. */
function helpSections(): readonly HelpSection[] {
  const { pages } = help();
  return (sections ??= Object.entries(pages).flatMap(([name, page]) =>
    page.html.split(/(?=<h2 id=")/).map((html) => {
      const [, id, heading] = /^<h2 id="([^"]*)">(.*?)<\/h2>/s.exec(html) ?? [];
      return {
        address: addressOf(name) + (id === undefined ? "" : `#${id}`),
        title: heading === undefined ? page.title : `${page.title}: ${plainText(heading)}`,
        text: plainText(html.replace(/^<h[12][^>]*>.*?<\/h[12]>/s, "")),
      };
    }),
  ));
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };
const plainText = (html: string): string =>
  html
    .replace(/<[^>]*>/g, " ")
    .replace(/&(?:#(\d+)|(\w+));/g, (entity, number?: string, name?: string) =>
      number === undefined ? (ENTITIES[name!] ?? entity) : String.fromCodePoint(Number(number)),
    )
    .replace(/\s+/g, " ")
    .trim();

/** Sections that are listed, and the characters that are shown around the first word. */
const [MAX_FOUND, AROUND] = [30, 120];

/** Sections that have all the words, those with most of them in the title first. */
function findInHelp(words: readonly string[]): readonly HelpSection[] {
  const inTitle = ({ title }: HelpSection) =>
    words.filter((word) => title.toLowerCase().includes(word)).length;
  return helpSections()
    .filter(({ title, text }) => {
      const whole = `${title} ${text}`.toLowerCase();
      return words.every((word) => whole.includes(word));
    })
    .toSorted((a, b) => inTitle(b) - inTitle(a))
    .slice(0, MAX_FOUND);
}

/** The text around the first of the words. */
function around(text: string, words: readonly string[]): string {
  const plain = text.toLowerCase();
  const [first = 0] = words
    .map((word) => plain.indexOf(word))
    .filter((at) => at >= 0)
    .toSorted((a, b) => a - b);
  const start = Math.max(0, first - AROUND);
  const from = start === 0 ? 0 : text.indexOf(" ", start) + 1;
  return (from > 0 ? "… " : "") + shortened(text.slice(from), 2 * AROUND);
}

/** What the documentation says of some words. */
function foundPage(asked: string): Page {
  const words = [...new Set(asked.toLowerCase().slice(0, 200).split(/\s+/))];
  const found = findInHelp(words);
  return {
    title: `Help: ${shortened(asked, 60)}`,
    section: "help",
    body: (
      <div class="help">
        <Contents current="" find={asked} />
        <article>
          <h1>Help on “{shortened(asked, 60)}”</h1>
          {found.length === 0 && (
            <p>No page of the help has {words.length === 1 ? "this word" : "all these words"}.</p>
          )}
          {found.map(({ address, title, text }) => (
            <>
              <h2>
                <a href={address}>{title}</a>
              </h2>
              <p>{around(text, words)}</p>
            </>
          ))}
        </article>
      </div>
    ),
  };
}

/** Every page of the documentation, in the order of its index. */
function Contents({ current, find = "" }: { current: string; find?: string }) {
  const { navigation, pages } = help();
  return (
    <nav class="contents" aria-label="Help">
      <form class="find" action="/help" role="search" aria-label="Search the help">
        <input
          type="search"
          name="find"
          value={find}
          aria-label="Words in the help"
          placeholder="Search the help…"
        />
        <button class="secondary">Find</button>
      </form>
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
  {
    path: "/help",
    get: async ({ query }) => {
      const asked = query.get("find")?.trim() ?? "";
      return asked === "" ? helpPage("") : foundPage(asked);
    },
  },
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
