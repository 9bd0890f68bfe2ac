import { assetUrl } from "./assets.js";
import { escapeHtml, htmlPage } from "./html.js";

/** The registry's front page: what it is, and its four doors. */
export function rootPage(baseUrl: string): string {
  const address = escapeHtml(baseUrl);
  return htmlPage("Arkgraph", `<main>
<header>
<img src="${assetUrl("arkgraph.svg")}" alt="" width="56" height="56">
<div><h1>Arkgraph</h1>
<p>A registry of research objects: what they are, where their files are, and which result came from what.</p></div>
</header>
<form id="resolve">
<label for="id">Look up an identifier</label>
<div class="row"><input id="id" name="id" placeholder="ark:99999/dataset-…" autocomplete="off" spellcheck="false" required><button>Resolve</button></div>
</form>
<section class="cards">
<a href="/docs"><h2>REST</h2><p>Every operation, with examples to try.</p></a>
<a href="/graphql"><h2>GraphQL</h2><p>The object model, linked. Send queries to this address.</p></a>
<a href="/sparql"><h2>SPARQL</h2><p>Any question about what came from what.</p></a>
<a href="/rocrate"><h2>Crates</h2><p>The research-object crates registered here.</p></a>
<a href="/dataset"><h2>Datasets</h2><p>All datasets, as JSON.</p></a>
<a href="/healthz"><h2>Health</h2><p>State of the stores behind the service.</p></a>
<a href="/openapi.yaml"><h2>Contract</h2><p>The OpenAPI document.</p></a>
</section>
<section>
<h2>Register a crate</h2>
<pre>curl -F file=@crate.zip -H "Authorization: Bearer $TOKEN" ${address}/rocrate/upload-async</pre>
<p>Poll <code>${address}/rocrate/upload/status/&lt;submissionUUID&gt;</code> until it is completed; then every identifier resolves at <code>${address}/ark:…</code>.</p>
</section>
</main>
<script src="${assetUrl("resolve.js")}"></script>`);
}
