/** The OpenAPI document, as handlers and pages read it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BodyLimit } from "../http/body.js";
import type { JsonObject } from "../model/field.js";
import { packageRoot } from "../package-root.js";

/**
 * The published document. The build makes JSON of `openapi/openapi.yaml`: reading YAML of this size
 * would take a fifth of the start.
 */
export const openApiDocument = (): JsonObject =>
  JSON.parse(readFileSync(join(packageRoot, "dist", "openapi.json"), "utf8")) as JsonObject;

/** The part of an operation that the code reads. */
export interface DescribedOperation {
  path: string;
  method: string;
  operationId: string;
  tags: readonly string[];
  summary: string;
  description?: string;
  parameters?: readonly JsonObject[];
  /** `x-limit` names the setting that bounds a JSON body, when it is not MAX_BODY_BYTES. */
  requestBody?: { content: Readonly<Record<string, JsonObject>>; "x-limit"?: BodyLimit };
  responses: Readonly<Record<string, { content?: object; headers?: object }>>;
}

/** Every operation of the document. */
export const operationsIn = ({ paths }: JsonObject): DescribedOperation[] =>
  Object.entries(paths as Record<string, JsonObject>).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, operation]) =>
        ({ path, method, ...(operation as object) }) as unknown as DescribedOperation,
    ),
  );
