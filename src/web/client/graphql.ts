// The GraphQL explorer: GraphiQL with the session of the reader, examples in tabs, and files.
import {
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type TypeNode,
} from "graphql";
import { GraphiQL } from "graphiql";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

interface Request {
  query: string;
  operationName?: string;
  variables?: Record<string, unknown>;
}
interface Options {
  headers?: Record<string, string>;
}
interface Tab {
  query: string;
  variables?: string;
}

const root = document.getElementById("explorer")!;
const csrf = document.querySelector<HTMLMetaElement>("meta[name=csrf]")?.content;
const files = document.getElementById("file") as HTMLInputElement | null;

/** The cookie of the session goes along; the token shows that this page sends it. */
const headersOf = (accept: string, given: Record<string, string> = {}) => ({
  Accept: accept,
  ...(csrf === undefined ? {} : { "X-CSRF-Token": csrf }),
  ...given,
});
const JSON_TYPE = { "Content-Type": "application/json" };
const ANSWER = "application/graphql-response+json, application/json";

/** Operations of a text; none where it cannot be parsed, which the server says better. */
function operationsIn(query: string): readonly OperationDefinitionNode[] {
  try {
    return parse(query).definitions.filter(
      ({ kind }) => kind === Kind.OPERATION_DEFINITION,
    ) as OperationDefinitionNode[];
  } catch {
    return [];
  }
}

function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);
}

/** The request as a form with the chosen file in the place of the variable of type `Upload`. */
function withFile(request: Request, operation?: OperationDefinitionNode): FormData | undefined {
  const file = files?.files?.[0];
  const variable = operation?.variableDefinitions?.find(({ type }) => namedType(type) === "Upload")
    ?.variable.name.value;
  if (!file || variable === undefined) return undefined;
  const form = new FormData();
  const variables = { ...request.variables, [variable]: null };
  form.set("operations", JSON.stringify({ ...request, variables }));
  form.set("map", JSON.stringify({ 0: [`variables.${variable}`] }));
  form.set("0", file, file.name);
  return form;
}

async function ask(
  request: Request,
  operation: OperationDefinitionNode | undefined,
  { headers }: Options,
): Promise<unknown> {
  const form = withFile(request, operation);
  const response = await fetch("/graphql", {
    method: "POST",
    ...(form
      ? {
          headers: headersOf(ANSWER, { "apollo-require-preflight": "true", ...headers }),
          body: form,
        }
      : {
          headers: headersOf(ANSWER, { ...JSON_TYPE, ...headers }),
          body: JSON.stringify(request),
        }),
  });
  return response.json();
}

/** Answers of GraphQL over server-sent events, as they come. */
async function* follow(request: Request, { headers }: Options): AsyncGenerator {
  const leave = new AbortController();
  try {
    const response = await fetch("/graphql/stream", {
      method: "POST",
      signal: leave.signal,
      headers: headersOf("text/event-stream", { ...JSON_TYPE, ...headers }),
      body: JSON.stringify(request),
    });
    if (!response.ok) return yield await response.json();
    let text = "";
    for (const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const lines = text.slice(0, end).split("\n");
        text = text.slice(end + 2);
        if (lines.includes("event: complete")) return;
        const data = lines
          .filter((line) => line.startsWith("data: "))
          .map((line) => line.slice(6))
          .join("\n");
        if (lines.includes("event: next")) yield JSON.parse(data);
      }
    }
  } finally {
    leave.abort();
  }
}

const fetcher = ({ operationName, ...rest }: Request, options: Options = {}) => {
  const operations = operationsIn(rest.query);
  // For a moment after a change of tabs GraphiQL sends the name of an operation of the earlier tab.
  const known = operations.find(({ name }) => name?.value === operationName);
  const request = known && operationName ? { ...rest, operationName } : rest;
  const operation = known ?? operations[0];
  return operation?.operation === OperationTypeNode.SUBSCRIPTION
    ? follow(request, options)
    : ask(request, operation, options);
};

const tabs = JSON.parse(root.dataset["tabs"]!) as Tab[];
createRoot(root).render(
  createElement(GraphiQL, {
    fetcher,
    defaultTabs: tabs,
    defaultQuery: tabs[0]?.query,
    shouldPersistHeaders: false,
  }),
);
