import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { JsonObject, JsonValue } from "../../src/model/field.js";
import { type DescribedOperation, openApiDocument, operationsIn } from "../../src/rest/document.js";
import { LINEAGE_PATHS } from "../../src/rest/runs.js";

const document = openApiDocument();
const components = document["components"] as Record<string, Record<string, JsonObject>>;
const paths = document["paths"] as Record<
  string,
  Record<string, { responses: Record<string, JsonObject> }>
>;
const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
  allErrors: true,
});
(addFormats as unknown as { default: (target: Ajv2020) => void }).default(ajv);
ajv.addKeyword("components");
const checks = new Map<JsonObject, ValidateFunction>();

/** An operation of the contract, its references followed. */
export interface ContractOperation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly JsonObject[];
  /** Media type → content of the request body. */
  readonly body?: Readonly<Record<string, Example>>;
  /** The answer with status 200. */
  readonly answer: {
    readonly content: Readonly<Record<string, Example>>;
    readonly headers: readonly string[];
  };
}
interface Example {
  readonly example?: JsonValue;
}

/** The target of a `$ref` of the document; any other value is returned unchanged. */
export const followed = (node: JsonObject): JsonObject =>
  typeof node["$ref"] === "string"
    ? components[node["$ref"].split("/")[2]!]![node["$ref"].split("/")[3]!]!
    : node;

const exampleIn = ({ example, examples }: JsonObject): Example => {
  const [named] = Object.values((examples ?? {}) as Record<string, JsonObject>);
  const found = named === undefined ? example : followed(named)["value"];
  return found === undefined ? {} : { example: found };
};
const examplesIn = (content: object = {}): Record<string, Example> =>
  Object.fromEntries(
    Object.entries(content).map(([type, each]) => [type, exampleIn(each as JsonObject)]),
  );

/** Every operation of the contract. */
export const OPERATIONS: readonly ContractOperation[] = operationsIn(document).map(followedIn);

/** The same, and those that the registry's document leaves to a page of their own. */
export const SERVED: readonly ContractOperation[] = [
  ...OPERATIONS,
  ...operationsIn({ paths: LINEAGE_PATHS }).map(followedIn),
];

function followedIn({
  parameters = [],
  requestBody,
  responses,
  ...operation
}: DescribedOperation): ContractOperation {
  return {
    ...operation,
    parameters: parameters.map(followed),
    ...(requestBody ? { body: examplesIn(requestBody.content) } : {}),
    answer: {
      content: examplesIn(responses["200"]?.content),
      headers: Object.keys(responses["200"]?.headers ?? {}),
    },
  };
}

/** Why an answer is not a documented one; `undefined` when it is. */
export function misfit(
  operation: ContractOperation,
  answer: { status: number; headers: Headers; text: string },
): string | undefined {
  const declaredResponse =
    paths[operation.path]![operation.method]!.responses[String(answer.status)];
  if (!declaredResponse) return `status ${answer.status} is not documented`;
  const content = followed(declaredResponse)["content"] as
    Record<string, { schema: JsonObject }> | undefined;
  if (!content) return answer.text === "" ? undefined : "a body is not documented";
  const whole = answer.headers.get("content-type") ?? "";
  const type = whole.split(";")[0]!;
  // A profile is a part of the documented type.
  const declared = content[whole] ?? content[type] ?? content["*/*"];
  if (!declared) return `${type} is none of ${Object.keys(content).join(", ")}`;
  if (!type.includes("json")) return undefined;
  let check = checks.get(declared.schema);
  if (!check)
    checks.set(declared.schema, (check = ajv.compile({ ...declared.schema, components })));
  return check(JSON.parse(answer.text)) ? undefined : JSON.stringify(check.errors);
}
