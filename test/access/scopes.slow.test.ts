/** Holds each scope to each operation: of REST, of GraphQL and of pages. */
import {
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  printSchema,
} from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { graphqlSchema } from "../../src/graphql/schema.js";
import { neededScope, type Scope, SCOPES } from "../../src/services/access/scopes.js";
import { SERVED } from "../support/contract.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let root: Person;
const tokens = new Map<Scope, string>();
beforeAll(async () => {
  server = await startServer({ WRITE_RATE: "off", SPARQL_TIMEOUT: "2s" });
  root = await server.person("root", { admin: true });
  for (const scope of SCOPES) tokens.set(scope, await tokenOf(root, { scopes: [scope] }));
});
afterAll(() => server.stop());

async function tokenOf(person: Person, asked: object): Promise<string> {
  const { status, body, text } = await server.request<{ secret: string }>("POST", "/me/tokens", {
    token: person.token,
    json: { name: "t", ...asked },
  });
  if (status !== 200) throw new Error(text);
  return body.secret;
}

const SOFTWARE = { author: "A", dateModified: "2026-01-01", version: "1", format: "x" };
const NOTHING = "ark:99999/nothing-here";
/** Which scopes let a token use the operation: the needed one, and every one where it is `read`. */
const mayUse = (scope: Scope, needed: Scope) => needed === "read" || scope === needed;

describe("a token with one scope", () => {
  it.each(SERVED.map((operation) => [operation.operationId, operation] as const))(
    "over REST: %s needs the scope of the table",
    async (operationId, { method, path, body }) => {
      const address = path
        .replace("ark:{NAAN}/{postfix}", NOTHING)
        .replaceAll(/\{[^}]+\}/g, "nothing");
      const type = Object.keys(body ?? {})[0];
      for (const [scope, token] of tokens) {
        const answer = await server.request(method.toUpperCase(), address, {
          token,
          ...(type === undefined ? {} : { headers: { "Content-Type": type }, body: "{}" }),
        });
        const isRefused = answer.body?.["code"] === "INSUFFICIENT_SCOPE";
        expect(isRefused, `${scope}: ${answer.status} ${answer.text.slice(0, 300)}`).toBe(
          !mayUse(scope, neededScope(operationId)),
        );
        if (isRefused)
          expect(answer.headers.get("www-authenticate")).toContain("insufficient_scope");
      }
    },
  );

  it("over GraphQL: each field needs the scope of the table", async () => {
    const schema = await graphqlSchema();
    expect(printSchema(schema)).toContain("type Subscription");
    for (const [word, type] of [
      ["query", schema.getQueryType()!],
      ["mutation", schema.getMutationType()!],
    ] as const)
      for (const [name, field] of Object.entries(type.getFields())) {
        const document = `${word} { ${name}${argumentsOf(field)} ${selectionOf(field)} }`;
        for (const [scope, token] of tokens) {
          const may = mayUse(scope, neededScope(name));
          if (takesFile(field)) {
            // A file comes in a form of its own, which the field never sees.
            const call = async () =>
              field.resolve!({}, {}, { caller: { scopes: [scope] } }, {} as never);
            const code = await call().catch((error: { code?: string }) => error.code);
            expect(code === "INSUFFICIENT_SCOPE", `${scope} ${name}`).toBe(!may);
            continue;
          }
          const { body, text } = await server.graphql(document, {}, token);
          const isRefused = body.errors?.some(
            ({ extensions }) => extensions.code === "INSUFFICIENT_SCOPE",
          );
          expect(isRefused === true, `${scope} ${document}: ${text.slice(0, 300)}`).toBe(!may);
        }
      }
    // Nothing writes by a subscription.
    for (const name of Object.keys(schema.getSubscriptionType()!.getFields()))
      expect(neededScope(name)).toBe("read");
  });

  it("over pages: a form needs the scope of the field that it asks", async () => {
    const { body } = await server.request("POST", "/software", {
      token: root.token,
      json: { name: "N", description: "A description.", owner: root.id, ...SOFTWARE },
    });
    const ark = body["@id"] as string;
    const forms = [
      ["write", "/new/dataset", { name: "N", description: "A description of it." }],
      ["write", `/edit/${ark}`, { name: "Another", expected: "1" }],
      ["write", `/history/${ark}`, { revision: "1", expected: "1" }],
      ["publish", `/reserve/${ark}`, {}],
    ] as const;
    for (const [needed, path, fields] of forms)
      // The one that changes the record comes last.
      for (const scope of [...SCOPES.filter((each) => each !== needed), needed]) {
        const { text } = await server.request("POST", path, {
          token: tokens.get(scope)!,
          headers: { "Content-Type": "application/x-www-form-urlencoded", Accept: "text/html" },
          body: new URLSearchParams(fields).toString(),
        });
        expect(text.includes("this operation needs"), `${scope} ${path}`).toBe(scope !== needed);
      }
  });

  it("over pages: an archive needs the scope write", async () => {
    const form = new FormData();
    form.set("csrf", "");
    form.set("file", new Blob(["{}"]), "ro-crate-metadata.json");
    const { text } = await server.request("POST", "/upload", {
      token: tokens.get("publish")!,
      headers: { Accept: "text/html" },
      body: form,
    });
    expect(text).toContain("this operation needs write");
  });
});

const takesFile = ({ args }: GraphQLField<unknown, unknown>): boolean => {
  const seen = new Set<unknown>();
  const holds = (type: GraphQLInputType): boolean => {
    const named = getNamedType(type);
    if (seen.has(named)) return false;
    seen.add(named);
    return isInputObjectType(named)
      ? Object.values(named.getFields()).some((field) => holds(field.type))
      : named.name === "Upload";
  };
  return args.some(({ type }) => holds(type));
};

function valueOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return valueOf(type.ofType);
  if (isListType(type)) return `[${valueOf(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]!.name;
  if (isInputObjectType(type)) {
    const all = Object.values(type.getFields());
    const fields = type.isOneOf ? all.slice(0, 1) : all.filter(isRequiredInputField);
    return `{ ${fields.map((field) => `${field.name}: ${valueOf(field.type)}`).join(", ")} }`;
  }
  return (
    { Int: "1", Float: "1", Boolean: "false", DateTime: '"2030-01-01T00:00:00Z"', JSON: "{}" }[
      type.name
    ] ?? JSON.stringify(NOTHING)
  );
}
function argumentsOf({ args }: GraphQLField<unknown, unknown>): string {
  const needed = args.filter(({ type }) => isNonNullType(type));
  if (needed.length === 0) return "";
  return `(${needed.map(({ name, type }) => `${name}: ${valueOf(type)}`).join(", ")})`;
}
const selectionOf = ({ type }: GraphQLField<unknown, unknown>) =>
  isCompositeType(getNamedType(type)) ? "{ __typename }" : "";
