import { stringify } from "yaml";
import { jsonLdContext } from "../model/context.js";
import { shaclShapes } from "../model/shapes.js";
import { evidenceOntology } from "../model/vocabulary/ontology.js";
import { openApiDocument } from "../rest/openapi/document.js";
import { schemaText } from "../graphql/schema.js";
import { cliPage } from "./cli-page.js";
import { cratesPage } from "./crates-page.js";
import { errorsPage } from "./errors-page.js";
import { operationNamesModule } from "./operation-names.js";
import { scoringPage } from "./scoring-page.js";
import { settingsPage } from "./settings-page.js";

/** A file of the repository that is printed from the code. */
export interface Output {
  /** Path below the package root. */
  readonly file: string;
  /** The whole text of the file; the same for the same code. */
  render(): string | Promise<string>;
}

/** Every printed file. */
export const OUTPUTS: readonly Output[] = [
  { file: "ontology/context.jsonld", render: () => `${JSON.stringify(jsonLdContext(), null, 2)}\n` },
  { file: "ontology/evi.ttl", render: evidenceOntology },
  { file: "ontology/shapes.ttl", render: shaclShapes },
  // Without anchors: not every reader of OpenAPI documents follows them. Long lines stay lines.
  { file: "openapi/openapi.yaml", render: () => stringify(openApiDocument(), { aliasDuplicateObjects: false, lineWidth: 0 }) },
  { file: "graphql/schema.graphql", render: schemaText },
  { file: "src/identifiers/operation-names.ts", render: operationNamesModule },
  { file: "docs/settings.md", render: settingsPage },
  { file: "docs/errors.md", render: errorsPage },
  { file: "docs/scoring.md", render: scoringPage },
  { file: "docs/cli.md", render: cliPage },
  { file: "docs/crates.md", render: cratesPage },
];
