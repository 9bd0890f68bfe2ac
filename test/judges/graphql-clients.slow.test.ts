import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import {
  QUESTIONS,
  type QuestionsWorld,
  startQuestionsWorld,
} from "../support/graphql-questions.js";
import type { Json } from "../support/registry-client.js";
import { maySkip } from "../support/servers/judges.js";
import { findProgram } from "../support/servers/programs.js";

const INSTALLED = process.env["TEST_SERVERS"] ?? "";
const NPM = join(INSTALLED, "graphql-clients", "node_modules");
const PYTHON = join(INSTALLED, "gql");
const python = findProgram("python3");
const missing = !existsSync(NPM) || !existsSync(join(PYTHON, "gql")) || !python;
if (missing)
  process.stderr.write(
    "\n!! SKIPPED: the questions of docs/graphql.md with the GraphQL clients of others, which are " +
      "not installed (install_graphql_clients and install_gql in .ci/run).\n\n",
  );

let world: QuestionsWorld;
let folder: string;
let index: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arkgraph-graphql-clients-"));
  world = await startQuestionsWorld();
  index = join(folder, "index.json");
  const { registry, token, variables } = world;
  const schema = await readFile(join(packageRoot, "graphql/schema.graphql"), "utf8");
  const questions = QUESTIONS.map(({ name, document }) => ({
    name,
    document: world.ownDocument(document),
    variables: Object.fromEntries(
      Object.entries(variables).filter(([variable]) => document.includes(`$${variable}`)),
    ),
  }));
  const url = `${registry.url}/graphql`;
  await writeFile(index, JSON.stringify({ url, token, schema, questions }));
});
afterAll(async () => {
  await world?.registry.stop();
  await rm(folder, { recursive: true, force: true });
});

const run = async (program: string, script: string, env: Record<string, string>): Promise<Json> => {
  const answer = join(folder, `${script}.json`);
  await promisify(execFile)(program, [join(packageRoot, "test/judges", script), index, answer], {
    cwd: folder,
    env: { ...process.env, ...env },
  });
  return JSON.parse(await readFile(answer, "utf8")) as Json;
};
const asPrinted = (answers: Json): unknown[] =>
  QUESTIONS.map(({ name }) => world.printed(answers[name] as Json));

describe("the questions of docs/graphql.md are answered as printed", () => {
  test.skipIf(missing && maySkip)(
    "to Apollo Client, urql, Relay and graphql-request",
    async () => {
      await symlink(NPM, join(folder, "node_modules"));
      const answers = await run(process.execPath, "ask-with-clients.mjs", {});
      const expected = QUESTIONS.map(({ answer }) => answer);
      for (const client of ["apollo", "urql", "relay", "request"])
        expect(asPrinted(answers[client] as Json), client).toEqual(expected);
    },
    60_000,
  );

  test.skipIf(missing && maySkip)("to gql for Python", async () => {
    const env = { PYTHONPATH: PYTHON, PYTHONDONTWRITEBYTECODE: "1" };
    const answers = await run(python!, "ask-with-gql.py", env);
    expect(asPrinted(answers)).toEqual(QUESTIONS.map(({ answer }) => answer));
  });
});
