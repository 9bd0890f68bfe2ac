import type { ComponentChildren } from "preact";
import { asksForPage } from "../errors.js";
import type { Page, PageRequest, Redirect, Route } from "../page.js";
import { helpPage } from "./help.js";

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
        <p>Metadata is open to everyone. Files are open once their record is published.</p>
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

async function textPage({ req, params }: PageRequest): Promise<Page | Redirect> {
  const name = params["name"]!;
  // Help is the documentation. The contract promises HTML at this address to programs too.
  if (name === "help") return asksForPage(req) ? { redirect: "/help" } : helpPage({ params: {} });
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

export const textRoutes: readonly Route[] = [{ path: "/page/{name}", get: textPage }];
