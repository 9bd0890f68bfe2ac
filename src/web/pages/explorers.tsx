import { assetUrl } from "../assets.js";
import { EXPLORER_POLICY } from "../../http/reply.js";
import type { Page, Route } from "../page.js";

/** The API explorer: Swagger UI from this server's own files, for this server's contract. */
const docsPage = async (): Promise<Page> => ({
  title: "REST API",
  section: "explorers",
  layout: "wide",
  policy: EXPLORER_POLICY,
  styles: [assetUrl("swagger-ui/swagger-ui.css")],
  body: (
    <>
      <div id="swagger-ui" />
      <script src={assetUrl("swagger-ui/swagger-ui-bundle.js")} />
      <script src={assetUrl("docs.js")} />
    </>
  ),
});

/** GraphiQL, from this server's own files. Its style sheet embeds its fonts. */
const graphqlPage = async (): Promise<Page> => ({
  title: "GraphQL API",
  section: "explorers",
  layout: "wide",
  styles: [assetUrl("graphiql/graphiql.min.css"), assetUrl("graphql-page.css")],
  policy: EXPLORER_POLICY,
  body: (
    <>
      <p class="row">
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder="from POST /token, for what needs one"
        />
      </p>
      <div id="explorer" />
      <script src={assetUrl("graphiql/react.production.min.js")} />
      <script src={assetUrl("graphiql/react-dom.production.min.js")} />
      <script src={assetUrl("graphiql/graphiql.min.js")} />
      <script src={assetUrl("graphql-page.js")} />
    </>
  ),
});

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
const sparqlPage = async (): Promise<Page> => ({
  title: "SPARQL",
  section: "explorers",
  body: (
    <div class="console">
      <h1>SPARQL</h1>
      <p>
        Queries over everything that is public. The default graph is the union of all records; the
        graph of a record is named by its ARK. Control + Enter runs the query.
      </p>
      <label for="example">Examples</label>
      <div class="row">
        <select id="example">
          {Object.entries(EXAMPLES).map(([name, query]) => (
            <option value={query}>{name}</option>
          ))}
        </select>
      </div>
      <label for="query">Query</label>
      <textarea id="query" rows={12} spellcheck={false}>
        {Object.values(EXAMPLES)[0]}
      </textarea>
      <p>
        <button id="run">Run</button> <span id="state" role="status" />
      </p>
      <div id="answer" class="results" />
      <script src={assetUrl("sparql.js")} />
    </div>
  ),
});

export const explorerRoutes: readonly Route[] = [
  { path: "/docs", get: docsPage },
  { path: "/graphql", get: graphqlPage },
  { path: "/sparql", when: (query) => !query.has("query"), get: sparqlPage },
];
