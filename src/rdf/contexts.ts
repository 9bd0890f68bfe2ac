import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "../model/field.js";
import { packageRoot } from "../package-root.js";

/** A JSON-LD document names a context that is not bundled; the service opens no connection for it. */
export class UnknownContext extends Error {
  constructor(readonly url: string) {
    super(`The context <${url.slice(0, 200)}> is not known here and is not fetched; write its terms into @context, or use an RO-Crate context (1.0 to 1.3).`);
    this.name = "UnknownContext";
  }
}

/** Which bundled file explains a remote context. Mirrors and drafts of a version count as that version. */
const BUNDLED: readonly [RegExp, string][] = [
  [/^https?:\/\/w3id\.org\/ro\/crate\/(0\.[23]|1\.[0-4])(?:\.\d+)?(?:-DRAFT)?(?:\/context(?:\.jsonld)?)?\/?$/i, "ro-crate"],
  [/^https?:\/\/(?:www\.)?researchobject\.(?:github\.io|org)\/ro-crate\/(?:specification\/)?(0\.[23]|1\.[0-4])(?:\.\d+)?(?:-DRAFT)?\/context(?:\.json(?:ld)?)?\/?$/i, "ro-crate"],
  [/^https?:\/\/raw\.githubusercontent\.com\/ResearchObject\/ro-crate\/.*\/(0\.[23]|1\.[0-4])(?:-DRAFT)?\/context\.json(?:ld)?$/i, "ro-crate"],
  [/^https?:\/\/w3id\.org\/ro\/terms\/workflow-run(?:\/context)?\/?$/, "workflow-run"],
  [/^https?:\/\/w3id\.org\/ro\/terms\/test(?:\/context)?\/?$/, "ro-terms-test"],
  [/^https?:\/\/w3id\.org\/ldac\/context\/?$/, "ldac"],
  [/^https?:\/\/(?:www\.)?schema\.org(?:\/docs\/jsonldcontext\.json(?:ld)?)?\/?$/, "schema-org"],
];
const VERSIONS: Readonly<Record<string, string>> = { "0.2": "1.0", "0.3": "1.0", "1.0": "1.0", "1.1": "1.1", "1.2": "1.2", "1.3": "1.3", "1.4": "1.3" };

const loaded = new Map<string, object>();

/** The bundled copy of a remote context, parsed once. @throws UnknownContext */
export function bundledContext(url: string): object {
  const known = loaded.get(url);
  if (known) return known;
  for (const [pattern, name] of BUNDLED) {
    const match = pattern.exec(url);
    if (!match) continue;
    const document = name === "schema-org" ? { "@context": { "@vocab": "https://schema.org/" } } : readContext(name === "ro-crate" ? `ro-crate-${VERSIONS[match[1]!]}` : name);
    loaded.set(url, document);
    return document;
  }
  throw new UnknownContext(url);
}

/** Whether a remote context is explained by a bundled copy. */
export function isBundled(url: string): boolean {
  return BUNDLED.some(([pattern]) => pattern.test(url));
}

/** The same, empty for a context that is not bundled: it explains nothing here. */
export const bundledTerms = (url: string): JsonValue | undefined =>
  isBundled(url) ? (bundledContext(url) as JsonObject)["@context"] : {};

/**
 * Every remote context that is not bundled and that a document names: at the top, inside, in a definition, or as
 * `@import`.
 * @param tell called with each name and the JSON pointer of the `@context` that names it
 */
export function eachUnknownContext(document: JsonValue, tell: (url: string, pointer: string) => void, pointer = ""): void {
  if (Array.isArray(document)) {
    for (let index = 0; index < document.length; index++)
      if (typeof document[index] === "object") eachUnknownContext(document[index]!, tell, `${pointer}/${index}`);
  } else if (typeof document === "object" && document !== null) {
    for (const key in document) {
      const value = document[key]!;
      const place = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      if (key === "@context") eachUnknownIn(value, (url) => tell(url, place));
      // A value (JSON-LD 1.1, section 9.5) holds no contexts, whatever its keys are called.
      else if (key !== "@value" && typeof value === "object") eachUnknownContext(value, tell, place);
    }
  }
}

function eachUnknownIn(context: JsonValue, tell: (url: string) => void): void {
  if (typeof context === "string") {
    if (!isBundled(context)) tell(context);
  } else if (Array.isArray(context)) {
    for (const part of context) eachUnknownIn(part, tell);
  } else if (context !== null && typeof context === "object") {
    for (const [term, definition] of Object.entries(context)) {
      if (term === "@import" || term === "@context") eachUnknownIn(definition, tell);
      else if (typeof definition === "object" && definition !== null && !Array.isArray(definition) && definition["@context"] !== undefined)
        eachUnknownIn(definition["@context"], tell);
    }
  }
}

const files = new Map<string, object>();
function readContext(name: string): object {
  let document = files.get(name);
  if (!document) {
    document = JSON.parse(readFileSync(join(packageRoot, "ontology", "contexts", `${name}.jsonld`), "utf8")) as object;
    files.set(name, document);
  }
  return document;
}

/** Document loader for jsonld.js that answers from bundled copies only. */
export async function bundledLoader(url: string): Promise<{ contextUrl: undefined; documentUrl: string; document: object }> {
  return { contextUrl: undefined, documentUrl: url, document: bundledContext(url) };
}
