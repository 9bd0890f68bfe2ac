import { assetUrl } from "./assets.js";

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text as HTML shows it. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);

/** A whole page with the product's style. `body` is HTML. */
export function htmlPage(title: string, body: string, head = ""): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${assetUrl("arkgraph.svg")}">
<link rel="stylesheet" href="${assetUrl("arkgraph.css")}">
${head}</head>
<body>
${body}
</body>
</html>
`;
}
