import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../package-root.js";
import { consolePage } from "./console-page.js";

/** Where the build puts the explorer's files. */
export const EXPLORER_FOLDER = join(packageRoot, "dist", "web", "graphiql");

/** A page and what it may load and run. */
export interface Page { html: string; policy: string }

/**
 * What browsers see at `/graphql`: GraphiQL where the build brought it along, else a simple form. Neither asks another site.
 * @param policy the content security policy of pages; GraphiQL's style sheet holds its fonts, which is let through
 */
export function graphqlPage(policy: string, folder = EXPLORER_FOLDER): Page {
  if (!existsSync(join(folder, "graphiql.min.js"))) return { html: consolePage(), policy };
  return { html: EXPLORER, policy: policy.replace("font-src 'self'", "font-src 'self' data:") };
}

const EXPLORER = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Arkgraph GraphQL</title>
<link rel="icon" href="/assets/arkgraph.svg">
<link rel="stylesheet" href="/assets/graphiql/graphiql.min.css">
<link rel="stylesheet" href="/assets/graphql-page.css">
</head>
<body>
<header>
<a href="/">Arkgraph</a>
<label for="token">Token</label>
<input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="from POST /token, for what needs one">
</header>
<div id="explorer"></div>
<script src="/assets/graphiql/react.production.min.js"></script>
<script src="/assets/graphiql/react-dom.production.min.js"></script>
<script src="/assets/graphiql/graphiql.min.js"></script>
<script src="/assets/graphql-page.js"></script>
</body>
</html>
`;
