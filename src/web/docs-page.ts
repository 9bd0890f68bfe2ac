import { htmlPage } from "./html.js";

/** The API explorer: Swagger UI from this server's own files, on this server's contract. */
export function docsPage(): string {
  return htmlPage("Arkgraph API", `<div id="swagger-ui"></div>
<script src="/assets/swagger-ui/swagger-ui-bundle.js"></script>
<script src="/assets/docs.js"></script>`, `<link rel="stylesheet" href="/assets/swagger-ui/swagger-ui.css">\n`);
}
