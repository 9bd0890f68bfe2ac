import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codegen } from "@graphql-codegen/core";
import * as documents from "@graphql-codegen/typed-document-node";
import * as operations from "@graphql-codegen/typescript-operations";
import { buildSchema, parse } from "graphql";
import { stringify } from "yaml";
import { schemaText } from "../graphql/schema-text.js";
import { graphqlSchema } from "../graphql/schema.js";
import { jsonLdContext, shaclShapes } from "../model/shapes.js";
import { evidenceOntology } from "../model/vocabulary/ontology.js";
import { packageRoot } from "../package-root.js";
import { openApiDocument } from "./openapi/document.js";
import {
  cliPage,
  cratesPage,
  errorsPage,
  formatsPage,
  manPage,
  scoringPage,
  settingsPage,
} from "./pages.js";

/**
 * The operations of the example client as typed documents: graphql-codegen's command line makes the
 * same of these two plugins and this configuration.
 */
async function clientDocuments(): Promise<string> {
  const location = "operations.graphql";
  const text = await readFile(join(packageRoot, "docs/clients", location), "utf8");
  const schema = schemaText(await graphqlSchema());
  const made = await codegen({
    filename: "documents.ts",
    schema: parse(schema),
    schemaAst: buildSchema(schema),
    documents: [{ location, document: parse(text) }],
    config: {
      useTypeImports: true,
      enumsAsTypes: true,
      scalars: {
        BigInt: "number",
        Date: "string",
        DateTime: "string",
        JSON: "unknown",
        Upload: "never",
      },
    },
    plugins: [{ operations: {} }, { documents: {} }],
    pluginMap: { operations, documents },
  });
  return `// Printed by \`npm run generate\` from operations.graphql.\n${made}\n`;
}

/** A file of the repository that is generated from the code. */
interface Output {
  /** Path below the package root. */
  readonly file: string;
  /** The whole text of the file; the same for the same code. */
  render(): string | Promise<string>;
}

/** Every generated file. */
export const OUTPUTS: readonly Output[] = [
  {
    file: "ontology/context.jsonld",
    render: () => `${JSON.stringify(jsonLdContext(), null, 2)}\n`,
  },
  { file: "ontology/evi.ttl", render: evidenceOntology },
  { file: "ontology/shapes.ttl", render: shaclShapes },
  // Without anchors: not every reader of OpenAPI documents follows them. Long lines are not folded.
  {
    file: "openapi/openapi.yaml",
    render: () => stringify(openApiDocument(), { aliasDuplicateObjects: false, lineWidth: 0 }),
  },
  { file: "graphql/schema.graphql", render: async () => schemaText(await graphqlSchema()) },
  { file: "docs/clients/typescript/documents.ts", render: clientDocuments },
  { file: "docs/settings.md", render: settingsPage },
  { file: "docs/errors.md", render: errorsPage },
  { file: "docs/scoring.md", render: scoringPage },
  { file: "docs/cli.md", render: cliPage },
  { file: "man/arkgraph.1", render: manPage },
  { file: "docs/crates.md", render: cratesPage },
  { file: "docs/formats.md", render: formatsPage },
];

/** The outputs whose file is missing or differs from the generated text. */
export async function drifted(
  outputs: readonly Output[] = OUTPUTS,
  root = packageRoot,
): Promise<string[]> {
  const found: string[] = [];
  for (const { file, render } of outputs) {
    const text = await readFile(join(root, file), "utf8").catch(() => undefined);
    if (text !== (await render())) found.push(file);
  }
  return found;
}

/** Writes every output that differs, and returns their names. */
export async function generate(
  outputs: readonly Output[] = OUTPUTS,
  root = packageRoot,
): Promise<string[]> {
  const files = await drifted(outputs, root);
  for (const { file, render } of outputs.filter((output) => files.includes(output.file))) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), await render());
  }
  return files;
}
