/**
 * Asks the documents of an index with the GraphQL clients of others, each as its own documentation
 * shows it.
 * Usage: node ask-with-clients.mjs INDEX ANSWER, in a folder whose node_modules has the clients.
 * INDEX: { url, token, schema, questions: [{ name, document, variables }] }; ANSWER: by client and
 * name the data.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [index, answer] = process.argv.slice(2);
const { url, token, schema, questions } = JSON.parse(readFileSync(index, "utf8"));
const headers = { authorization: `Bearer ${token}` };
const require = createRequire(join(process.cwd(), "index.js"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

/** Caches add the type of every object. */
const withoutTypes = (value) =>
  Array.isArray(value)
    ? value.map(withoutTypes)
    : value !== null && typeof value === "object"
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([name]) => name !== "__typename")
            .map(([name, member]) => [name, withoutTypes(member)]),
        )
      : value;

async function apollo() {
  const { ApolloClient, gql, HttpLink, InMemoryCache } = await load("@apollo/client");
  const client = new ApolloClient({
    link: new HttpLink({ uri: url, headers }),
    cache: new InMemoryCache({ possibleTypes: possibleTypes() }),
  });
  return async ({ document, variables }) =>
    (await client.query({ query: gql(document), variables })).data;
}

/** Which types an interface or union has: caches match fragments by it. */
function possibleTypes() {
  const { buildSchema, isAbstractType } = require("graphql");
  const built = buildSchema(schema);
  return Object.fromEntries(
    Object.values(built.getTypeMap())
      .filter(isAbstractType)
      .map((type) => [type.name, built.getPossibleTypes(type).map(({ name }) => name)]),
  );
}

async function urql() {
  const { cacheExchange, Client, fetchExchange } = await load("@urql/core");
  const client = new Client({
    url,
    exchanges: [cacheExchange, fetchExchange],
    fetchOptions: { headers },
    preferGetMethod: false,
  });
  return async ({ document, variables }) => {
    const { data, error } = await client.query(document, variables).toPromise();
    if (error) throw error;
    return data;
  };
}

async function relay() {
  // The compiler makes a module of each document; its name must begin with that of its file.
  const folder = resolve("relay");
  mkdirSync(join(folder, "src"), { recursive: true });
  mkdirSync(join(folder, "artifacts"));
  writeFileSync(join(folder, "schema.graphql"), schema);
  for (const { name, document } of questions)
    writeFileSync(
      join(folder, "src", `${name}.js`),
      `graphql\`${document.replace(`query ${name}`, `query ${name}Query`)}\`;\n`,
    );
  const config = {
    src: "src",
    schema: "schema.graphql",
    language: "javascript",
    artifactDirectory: "artifacts",
    eagerEsModules: false,
  };
  writeFileSync(join(folder, "relay.config.json"), JSON.stringify(config));
  writeFileSync(join(folder, "package.json"), '{ "type": "commonjs" }');
  execFileSync(require.resolve("relay-compiler/cli.js"), ["relay.config.json"], { cwd: folder });
  const { Environment, fetchQuery, Network, RecordSource, Store } = (await load("relay-runtime"))
    .default;
  const environment = new Environment({
    network: Network.create(async ({ text }, variables) => {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ query: text, variables }),
      });
      return await response.json();
    }),
    store: new Store(new RecordSource()),
  });
  return ({ name, variables }) => {
    const compiled = require(join(folder, "artifacts", `${name}Query.graphql.js`));
    return fetchQuery(environment, compiled, variables).toPromise();
  };
}

async function request() {
  const { GraphQLClient } = await load("graphql-request");
  const client = new GraphQLClient(url, { headers });
  return ({ document, variables }) => client.request(document, variables);
}

const answers = {};
for (const [client, start] of Object.entries({ apollo, urql, relay, request })) {
  const ask = await start();
  answers[client] = {};
  for (const question of questions)
    answers[client][question.name] = withoutTypes(await ask(question));
}
writeFileSync(answer, JSON.stringify(answers));
process.exit();
