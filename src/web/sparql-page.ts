import { assetUrl } from "./assets.js";
import { escapeHtml, htmlPage } from "./html.js";

/** Queries to begin with, by what they ask. */
export const EXAMPLES: Readonly<Record<string, string>> = {
  "Records by kind": "SELECT ?kind (COUNT(DISTINCT ?record) AS ?records)\nWHERE { GRAPH ?record { ?record a ?kind } }\nGROUP BY ?kind ORDER BY DESC(?records)",
  "Names": "PREFIX schema: <https://schema.org/>\nSELECT ?record ?name\nWHERE { GRAPH ?record { ?record schema:name ?name } }\nORDER BY ?name LIMIT 100",
  "What rests on what": "PREFIX evi: <https://w3id.org/EVI#>\nSELECT DISTINCT ?result ?source\nWHERE { ?result evi:directlySupportedBy ?source }\nLIMIT 100",
};

/** A page to write queries in; it loads nothing from elsewhere. */
export function sparqlPage(): string {
  const [first] = Object.values(EXAMPLES);
  return htmlPage("Arkgraph SPARQL", `<main class="console">
<p class="crumb"><a href="/">Arkgraph</a></p>
<h1>SPARQL</h1>
<p>Queries over everything that is public. The default graph is the union of all records; the graph of a record is named by its ARK. Control + Enter runs the query.</p>
<label for="example">Examples</label>
<div class="row"><select id="example">${Object.entries(EXAMPLES).map(([name, query]) => `<option value="${escapeHtml(query)}">${escapeHtml(name)}</option>`).join("")}</select></div>
<label for="query">Query</label>
<textarea id="query" rows="12" spellcheck="false">${escapeHtml(first!)}</textarea>
<p><button id="run">Run</button> <span id="state" role="status"></span></p>
<div id="answer" class="results"></div>
</main>
<script src="${assetUrl("sparql.js")}"></script>`);
}
