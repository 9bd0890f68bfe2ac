import { existsSync } from "node:fs";
import { join } from "node:path";
import { assetUrl } from "./assets.js";
import { consolePage } from "./console-page.js";
import { EXPLORER_FOLDER } from "./explorer-files.js";

/** A page and what it may load and run. */
export interface Page { html: string; policy: string }

/**
 * What browsers see at `/graphql`: GraphiQL where the build brought it along, else a simple form. Neither asks another site.
 * @param policy the content security policy of pages; GraphiQL's style sheet holds its fonts, which is let through
 */
export function graphqlPage(policy: string, folder = EXPLORER_FOLDER): Page {
  if (!existsSync(join(folder, "graphiql.min.js"))) return { html: consolePage(), policy };
  return { html: explorer(), policy: policy.replace("font-src 'self'", "font-src 'self' data:") };
}

const explorer = (): string => `<!doctype html>
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
<input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="from POST /token, for what needs one">
</header>
<div id="explorer"></div>
<script src="${assetUrl("graphiql/react.production.min.js")}"></script>
<script src="${assetUrl("graphiql/react-dom.production.min.js")}"></script>
<script src="${assetUrl("graphiql/graphiql.min.js")}"></script>
<script src="${assetUrl("graphql-page.js")}"></script>
</body>
</html>
`;
