import { openRegistry, givenArk, arkPath, type ServerOption } from "../../registry/registry.js";
import { Refusal } from "../../registry/refusal.js";
import { Failure } from "../../failure.js";
import { readSchema } from "../../../src/tabular/schema/table-schema.js";
import { whoIs } from "../registry/login.js";
import { inFile, readSchemaFile } from "./schema-file.js";
import { writeResult, type ResultOptions } from "./write-result.js";

/** `schema push`: registers a schema file as a record. @throws Failure */
export async function pushSchema(path: string, { update, ...options }: ServerOption & { update?: true }): Promise<void> {
  const { document } = await readSchemaFile(path);
  const registry = await openRegistry(options, { token: true });
  let { owner } = document;
  if (typeof owner !== "string") owner = (await whoIs(registry)).me?.id;
  if (typeof owner !== "string") throw new Failure(`${registry.address} does not take the token: run arkgraph login`);
  try {
    const made = await registry.send<{ "@id": string }>(update === true ? "PUT" : "POST", "/schema", { ...document, owner });
    process.stdout.write(`Pushed Schema: ${made["@id"]}\n`);
  } catch (error) {
    if (error instanceof Refusal && error.code === "DUPLICATE") throw new Failure(`${path}: ${error.message} Give --update to replace it.`, { cause: error });
    throw error instanceof Refusal && error.status === 422 ? new Failure(`${path}: ${error.message}`, { cause: error }) : error;
  }
}

/** `schema pull`: a registered schema as a file, or on standard output. @throws Failure */
export async function pullSchema(id: string, { output, force, ...options }: ServerOption & ResultOptions): Promise<void> {
  const ark = givenArk(id);
  const registry = await openRegistry(options);
  const document = await registry.json<unknown>(`/schema/${arkPath(ark)}`);
  // What cannot be applied must not look like a schema on the disk.
  await inFile(ark, async () => readSchema(document));
  await writeResult(document, { ...(output === undefined ? {} : { output }), ...(force === undefined ? {} : { force }) }, "Schema");
}
