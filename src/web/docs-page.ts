import { assetUrl } from "./assets.js";
import { htmlPage } from "./html.js";

/** The API explorer: Swagger UI from this server's own files, on this server's contract. */
export function docsPage(): string {
  return htmlPage("Arkgraph API", `<div id="swagger-ui"></div>
<script src="${assetUrl("swagger-ui/swagger-ui-bundle.js")}"></script>
<script src="${assetUrl("docs.js")}"></script>`, `<link rel="stylesheet" href="${assetUrl("swagger-ui/swagger-ui.css")}">\n`);
}
