import { existsSync } from "node:fs";
import { join } from "node:path";
import { assetUrl, VENDOR_FOLDER } from "./assets.js";
import { escapeHtml, htmlPage } from "./html.js";

/** A text page: title and HTML body, for an address. */
interface TextPage {
  title: string;
  body(baseUrl: string): string;
}

/** The pages under `/page/{page_name}`. */
const PAGES: Readonly<Record<string, TextPage>> = {
  about: {
    title: "About this registry",
    body: () =>
      "<p>Arkgraph registers research objects: datasets, software, computations, the " +
      "files behind them and the crates that bundle them. Every record has an ARK, an " +
      "identifier that is never given to another object; every earlier state of a record " +
      `is preserved.</p>
<p>What sets it apart is the question it answers: which result came from what, ` +
      `with which software, by whom; and which results depend on a given input.</p>
<p>Metadata is open to everyone. Files are open once their record is ` +
      "published.</p>",
  },
  help: {
    title: "Help",
    body: (base) =>
      `<h2>Register a crate</h2>
<ol><li>Create an account: <code>POST /user</code> with name, email and ` +
      `password.</li>
<li>Get a token: <code>POST /token</code> with username and password as a ` +
      `form.</li>
<li>Upload: <code>curl -F file=@crate.zip -H "Authorization: Bearer $TOKEN" ` +
      `${escapeHtml(base)}/rocrate/upload-async</code></li>
<li>Poll <code>/rocrate/upload/status/…</code> until <code>completed</code> is ` +
      "true. When <code>success</code> is false, <code>error</code> lists the " +
      `findings, with file, place and fix.</li></ol>
<h2>Find things again</h2>
<p>Every identifier is its own address: <code>${escapeHtml(base)}/ark:…</code>. ` +
      "Browsers get a page, programs JSON-LD; <code>?format=turtle</code> and " +
      "<code>?format=nquads</code> give the statements, <code>?info</code> a short " +
      "description.</p>",
  },
  api: {
    title: "Interfaces",
    body: () =>
      '<ul><li><a href="/graphql">GraphQL</a>: the whole object model, linked, with ' +
      `paging and history.</li>
<li><a href="/docs">REST</a>: every operation with examples; the contract as <a ` +
      `href="/openapi.yaml">YAML</a> and <a href="/openapi.json">JSON</a>.</li>
<li><a href="/sparql">SPARQL</a>: queries over everything that is public, and a ` +
      `page to write them in.</li>
<li>The resolver: <code>/ark:…</code> for any record of any kind.</li></ul>
<p>Each refusal has one sentence and a stable code; the errors of a body are all ` +
      "reported at once, each with its place.</p>",
  },
  provenance: {
    title: "Provenance",
    body: () =>
      "<p>An evidence graph names everything that supports a record: the activities that " +
      `generated it, what those used, and so on, across crates and however deep.</p>
<p><code>/evidencegraph/query/ark:…</code> builds it when asked, never older than ` +
      "the question; <code>direction=downstream</code> turns it round; " +
      "<code>depth</code> and <code>limit</code> bound it. References to what is not " +
      `stored here are listed under <code>dangling</code>.</p>
<p><code>collapse=true</code> groups like siblings into one node; ` +
      "<code>format=</code> gives PROV-JSON, Turtle, DOT or Mermaid; " +
      "<code>/evidencegraph/impact/ark:…</code> counts what a record supports, and " +
      "<code>/evidencegraph/path/ark:…?to=ark:…</code> returns the shortest path between " +
      `two.</p>
<p>However a crate writes its provenance (EVI, PROV-O, schema.org actions), the ` +
      "graph holds the same EVI and PROV-O statements.</p>",
  },
};

/** HTML of a page, or `undefined` for an unknown name. */
export function textPage(name: string, baseUrl: string): string | undefined {
  const page = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined;
  return page && wrapped(page.title, page.body(baseUrl));
}

/** The page for an unknown name. */
export function missingPage(name: string): string {
  return wrapped(
    "No such page",
    `<p>There is no page ${escapeHtml(name.slice(0, 100))}. There are:</p><ul>${Object.entries(
      PAGES,
    )
      .map(([known, { title }]) => `<li><a href="/page/${known}">${escapeHtml(title)}</a></li>`)
      .join("")}</ul>`,
  );
}

function wrapped(title: string, body: string): string {
  return htmlPage(
    `${title} · Arkgraph`,
    `<main><p class="crumb"><a ` +
      `href="/">Arkgraph</a></p><h1>${escapeHtml(title)}</h1>${body}</main>`,
  );
}

/** The registry's front page: what the registry is, and its four APIs. */
export function rootPage(baseUrl: string): string {
  const address = escapeHtml(baseUrl);
  return htmlPage(
    "Arkgraph",
    `<main>
<header>
<img src="${assetUrl("arkgraph.svg")}" alt="" width="56" height="56">
<div><h1>Arkgraph</h1>
<p>A registry of research objects: what they are, where their files are, and which result came ` +
      `from what.</p></div>
</header>
<form id="resolve">
<label for="id">Look up an identifier</label>
<div class="row"><input id="id" name="id" placeholder="ark:99999/dataset-…" autocomplete="off" ` +
      `spellcheck="false" required><button>Resolve</button></div>
</form>
<section class="cards">
<a href="/docs"><h2>REST</h2><p>Every operation, with examples to try.</p></a>
<a href="/graphql"><h2>GraphQL</h2><p>The object model, linked. Send queries to this ` +
      `address.</p></a>
<a href="/sparql"><h2>SPARQL</h2><p>Any question about what came from what.</p></a>
<a href="/rocrate"><h2>Crates</h2><p>The research-object crates registered here.</p></a>
<a href="/dataset"><h2>Datasets</h2><p>All datasets, as JSON.</p></a>
<a href="/healthz"><h2>Health</h2><p>State of the stores behind the service.</p></a>
<a href="/openapi.yaml"><h2>Contract</h2><p>The OpenAPI document.</p></a>
</section>
<section>
<h2>Register a crate</h2>
<pre>curl -F file=@crate.zip -H "Authorization: Bearer $TOKEN" ` +
      `${address}/rocrate/upload-async</pre>
<p>Poll <code>${address}/rocrate/upload/status/&lt;submissionUUID&gt;</code> until it is ` +
      `completed; then every identifier resolves at <code>${address}/ark:…</code>.</p>
</section>
</main>
<script src="${assetUrl("resolve.js")}"></script>`,
  );
}

/** The API explorer: Swagger UI from this server's own files, for this server's contract. */
export function docsPage(): string {
  return htmlPage(
    "Arkgraph API",
    `<div id="swagger-ui"></div>
<script src="${assetUrl("swagger-ui/swagger-ui-bundle.js")}"></script>
<script src="${assetUrl("docs.js")}"></script>`,
    `<link rel="stylesheet" href="${assetUrl("swagger-ui/swagger-ui.css")}">\n`,
  );
}

const EXAMPLE = `# The newest crates, and what is in them.
{
  roCrates(first: 5, filter: { order: "-created" }) {
    nodes { id name modifiedAt ... on ROCrate { hasPart(first: 10) { nodes { id kind name } } } }
  }
}
`;

/** A small console for GraphQL queries; it loads nothing from elsewhere. */
function consolePage(): string {
  return htmlPage(
    "Arkgraph GraphQL",
    `<main class="console">
<h1>GraphQL</h1>
<p>Queries, mutations and the schema itself are served at this address. Control + Enter runs ` +
      `the query.</p>
<label for="token">Token (for mutations)</label>
<div class="row"><input id="token" type="password" autocomplete="off" placeholder="from POST ` +
      `/token"></div>
<label for="query">Query</label>
<textarea id="query" rows="14" spellcheck="false">${EXAMPLE}</textarea>
<p><button id="run">Run</button></p>
<pre id="answer" aria-live="polite"></pre>
</main>
<script src="${assetUrl("console.js")}"></script>`,
  );
}

/** A page and its permissions to run and load. */
interface Page {
  html: string;
  policy: string;
}

/**
 * The page at `/graphql`: GraphiQL where the build includes it, else a simple form. Neither
 * contacts another site.
 * @param policy the content security policy of pages; GraphiQL's style sheet embeds its fonts, so
 * fonts are allowed
 */
export function graphqlPage(policy: string, folder = VENDOR_FOLDER): Page {
  if (!existsSync(join(folder, "graphiql", "graphiql.min.js.br")))
    return { html: consolePage(), policy };
  return { html: explorer(), policy: policy.replace("font-src 'self'", "font-src 'self' data:") };
}

const explorer = (): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Arkgraph GraphQL</title>
<link rel="icon" href="${assetUrl("arkgraph.svg")}">
<link rel="stylesheet" href="${assetUrl("graphiql/graphiql.min.css")}">
<link rel="stylesheet" href="${assetUrl("graphql-page.css")}">
</head>
<body>
<header>
<a href="/">Arkgraph</a>
<label for="token">Token</label>
<input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="from POST ` +
  `/token, for what needs one">
</header>
<div id="explorer"></div>
<script src="${assetUrl("graphiql/react.production.min.js")}"></script>
<script src="${assetUrl("graphiql/react-dom.production.min.js")}"></script>
<script src="${assetUrl("graphiql/graphiql.min.js")}"></script>
<script src="${assetUrl("graphql-page.js")}"></script>
</body>
</html>
`;

/** Example queries, by the question they answer. */
export const EXAMPLES: Readonly<Record<string, string>> = {
  "Records by kind":
    "SELECT ?kind (COUNT(DISTINCT ?record) AS ?records)\nWHERE { GRAPH ?record { ?record a " +
    "?kind } }\nGROUP BY ?kind ORDER BY DESC(?records)",
  Names:
    "PREFIX schema: <https://schema.org/>\nSELECT ?record ?name\nWHERE { GRAPH ?record { " +
    "?record schema:name ?name } }\nORDER BY ?name LIMIT 100",
  "Which record supports which":
    "PREFIX evi: <https://w3id.org/EVI#>\nSELECT DISTINCT ?result ?source\nWHERE { ?result " +
    "evi:directlySupportedBy ?source }\nLIMIT 100",
};

/** A page to write queries in; it loads nothing from elsewhere. */
export function sparqlPage(): string {
  const [first] = Object.values(EXAMPLES);
  return htmlPage(
    "Arkgraph SPARQL",
    `<main class="console">
<p class="crumb"><a href="/">Arkgraph</a></p>
<h1>SPARQL</h1>
<p>Queries over everything that is public. The default graph is the union of all records; the ` +
      `graph of a record is named by its ARK. Control + Enter runs the query.</p>
<label for="example">Examples</label>
<div class="row"><select id="example">${Object.entries(EXAMPLES)
        .map(([name, query]) => `<option value="${escapeHtml(query)}">${escapeHtml(name)}</option>`)
        .join("")}</select></div>
<label for="query">Query</label>
<textarea id="query" rows="12" spellcheck="false">${escapeHtml(first!)}</textarea>
<p><button id="run">Run</button> <span id="state" role="status"></span></p>
<div id="answer" class="results"></div>
</main>
<script src="${assetUrl("sparql.js")}"></script>`,
  );
}
