import type { Page, PageRequest } from "../page.js";
import { shortened } from "../format.js";

/** What the contract says of an operation. */
export interface OperationText {
  summary: string;
  description?: string | undefined;
}

/** What a browser gets at an address of the REST API that answers programs with JSON. */
export function operationPage(
  { req, base }: PageRequest,
  { summary, description }: OperationText,
): Page {
  const target = shortened(req.url ?? "/", 500);
  return {
    title: summary,
    section: "explorers",
    body: (
      <>
        <h1>{summary}</h1>
        <p>This address answers programs, with JSON.</p>
        {description !== undefined && <p>{description.split("\n\n", 1)[0]!.replaceAll("`", "")}</p>}
        <pre>
          curl -H "Accept: application/json" "{base}
          {target}"
        </pre>
        <p class="actions">
          <a class="button" href="/docs">
            Try it in the REST explorer
          </a>
          <a class="button secondary" href="/browse">
            Browse the records
          </a>
        </p>
      </>
    ),
  };
}
