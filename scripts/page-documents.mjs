// Makes src/web/documents.ts: the operations of the pages, src/web/queries, typed by graphql/schema.graphql. It comes
// before the compiler, and is not checked in.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { codegen } from "@graphql-codegen/core";
import * as documents from "@graphql-codegen/typed-document-node";
import * as operations from "@graphql-codegen/typescript-operations";
import { buildSchema, parse } from "graphql";

const web = fileURLToPath(new URL("../src/web", import.meta.url));
const queries = join(web, "queries");
const schema = await readFile(new URL("../graphql/schema.graphql", import.meta.url), "utf8");
const names = (await readdir(queries)).filter((name) => name.endsWith(".graphql")).sort();

const text = await codegen({
  filename: "documents.ts",
  schema: parse(schema),
  schemaAst: buildSchema(schema),
  documents: await Promise.all(
    names.map(async (location) => ({
      location,
      document: parse(await readFile(join(queries, location), "utf8")),
    })),
  ),
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
    documentMode: "string",
    mergeFragmentTypes: true,
    dedupeFragments: true,
  },
  plugins: [{ operations: {} }, { documents: {} }],
  pluginMap: { operations, documents },
});
// The class is our own (document.ts): it has a parsed form too.
const own = text
  .replace(/export class TypedDocumentString[\s\S]*?\n}\n/, "")
  .replace(/import type \{ DocumentTypeDecoration \}.*\n/, "");

const file = join(web, "documents.ts");
const made = `import { TypedDocumentString } from "./document.js";\n${own}\n`;
// Written only where it differs: a compiler that watches compiles nothing for the same text.
if (made !== (await readFile(file, "utf8").catch(() => undefined))) await writeFile(file, made);
