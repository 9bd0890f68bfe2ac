import { escapeHtml, htmlPage } from "./html.js";

/** A page of words: title and HTML body, for an address. */
interface TextPage { title: string; body(baseUrl: string): string }

/** The pages under `/page/{page_name}`. */
const PAGES: Readonly<Record<string, TextPage>> = {
  about: {
    title: "About this registry",
    body: () => `<p>Arkgraph registers research objects: datasets, software, computations, the files behind them and the crates that bundle them. Every record has an ARK, an identifier that is never given to another object; every earlier state of a record is kept.</p>
<p>What sets it apart is the question it answers: which result came from what, with which software, by whom; and what rests on a given input.</p>
<p>Metadata is open to everyone. Files are open once their record is published.</p>`,
  },
  help: {
    title: "Help",
    body: (base) => `<h2>Register a crate</h2>
<ol><li>Create an account: <code>POST /user</code> with name, email and password.</li>
<li>Get a token: <code>POST /token</code> with username and password as a form.</li>
<li>Upload: <code>curl -F file=@crate.zip -H "Authorization: Bearer $TOKEN" ${escapeHtml(base)}/rocrate/upload-async</code></li>
<li>Poll <code>/rocrate/upload/status/…</code> until <code>completed</code> is true. When <code>success</code> is false, <code>error</code> says what to mend, with file, place and fix.</li></ol>
<h2>Find things again</h2>
<p>Every identifier is its own address: <code>${escapeHtml(base)}/ark:…</code>. Browsers get a page, programs JSON-LD; <code>?format=turtle</code> and <code>?format=nquads</code> give the statements, <code>?info</code> a short description.</p>`,
  },
  api: {
    title: "Interfaces",
    body: () => `<ul><li><a href="/graphql">GraphQL</a>: the whole object model, linked, with paging and history.</li>
<li><a href="/docs">REST</a>: every operation with examples; the contract as <a href="/openapi.yaml">YAML</a> and <a href="/openapi.json">JSON</a>.</li>
<li><a href="/sparql">SPARQL</a>: queries over everything that is public, and a page to write them in.</li>
<li>The resolver: <code>/ark:…</code> for any record of any kind.</li></ul>
<p>Refusals carry one sentence and a stable code; broken rules of a body come all at once, each with its place.</p>`,
  },
  provenance: {
    title: "Provenance",
    body: () => `<p>An evidence graph names everything a record rests on: the activities that generated it, what those used, and so on, across crates and however deep.</p>
<p><code>/evidencegraph/query/ark:…</code> builds it when asked, never older than the question; <code>direction=downstream</code> turns it round; <code>depth</code> and <code>limit</code> bound it. References to what is not stored here are listed under <code>dangling</code>.</p>
<p>However a crate writes its provenance (EVI, PROV-O, schema.org actions), the graph holds the same EVI and PROV-O statements.</p>`,
  },
};

/** HTML of a page, or `undefined` when there is none of that name. */
export function textPage(name: string, baseUrl: string): string | undefined {
  const page = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined;
  return page && wrapped(page.title, page.body(baseUrl));
}

/** The page for a name that no page has. */
export function missingPage(name: string): string {
  return wrapped("No such page", `<p>There is no page ${escapeHtml(name.slice(0, 100))}. There are:</p><ul>${Object.entries(PAGES).map(([known, { title }]) => `<li><a href="/page/${known}">${escapeHtml(title)}</a></li>`).join("")}</ul>`);
}

function wrapped(title: string, body: string): string {
  return htmlPage(`${title} · Arkgraph`, `<main><p class="crumb"><a href="/">Arkgraph</a></p><h1>${escapeHtml(title)}</h1>${body}</main>`);
}
