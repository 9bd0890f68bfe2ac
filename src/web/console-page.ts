import { assetUrl } from "./assets.js";
import { htmlPage } from "./html.js";

const EXAMPLE = `# The newest crates, and what is in them.
{
  roCrates(first: 5, filter: { order: "-created" }) {
    nodes { id name modifiedAt ... on ROCrate { hasPart(first: 10) { nodes { id kind name } } } }
  }
}
`;

/** A small console for GraphQL queries; it loads nothing from elsewhere. */
export function consolePage(): string {
  return htmlPage("Arkgraph GraphQL", `<main class="console">
<h1>GraphQL</h1>
<p>Queries, mutations and the schema itself are served at this address. Control + Enter runs the query.</p>
<label for="token">Token (for mutations)</label>
<div class="row"><input id="token" type="password" autocomplete="off" placeholder="from POST /token"></div>
<label for="query">Query</label>
<textarea id="query" rows="14" spellcheck="false">${EXAMPLE}</textarea>
<p><button id="run">Run</button></p>
<pre id="answer" aria-live="polite"></pre>
</main>
<script src="${assetUrl("console.js")}"></script>`);
}
