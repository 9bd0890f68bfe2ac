/** The questions of docs/graphql.md, and the registry for which their answers are printed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PATHS } from "../../cli/demo/crate-files.js";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { packageRoot } from "../../src/package-root.js";
import { bodyOf } from "./bodies.js";
import { LiveRegistry } from "./live-registry.js";
import type { Json } from "./registry-client.js";

export const GRAPHQL_PAGE = readFileSync(join(packageRoot, "docs/graphql.md"), "utf8");

/** Each question: its heading, its document, and the answer printed below it. */
export const QUESTIONS = GRAPHQL_PAGE.split(/^### (?=\d)/m)
  .slice(1)
  .map((section) => {
    const document = /^```graphql\n([\s\S]*?)^```/m.exec(section)![1]!;
    return {
      title: section.slice(0, section.indexOf("\n")),
      name: /^query (\w+)/.exec(document)![1]!,
      document,
      answer: JSON.parse(/^```json\n([\s\S]*?)^```/m.exec(section)![1]!) as Json,
    };
  });

const [CRATE, EXPERIMENT, GROUP, PROJECT, USER] = [
  "ark:99999/rocrate-example",
  "ark:99999/experiment-example",
  "ark:99999/group-example",
  "ark:99999/project-example",
  "ark:99999/user-ada",
] as const;

const replaceAll = (text: string, pairs: readonly (readonly [string, string])[]): string =>
  pairs.reduce((replaced, [from, to]) => replaced.replaceAll(from, to), text);

/** A registry with the records of the page. */
export interface QuestionsWorld {
  readonly registry: LiveRegistry;
  readonly token: string;
  /** Variables of the documents that have some. */
  readonly variables: Readonly<Record<"minSize" | "since", unknown>>;
  /** A document of the page with the identifiers of this registry. */
  ownDocument(document: string): string;
  /** Data as the page prints it: with its identifiers, and the month in which it was written. */
  printed(data: Json): Json;
}

export async function startQuestionsWorld(): Promise<QuestionsWorld> {
  const registry = await LiveRegistry.start();
  const ada = await registry.user("Ada");
  const { rocrateIdentifier } = await registry.take(await buildDemoCrate(), ada.token);
  const crate = rocrateIdentifier as string;
  const stored = await registry.graphql(
    "query ($id: ID!) { record(id: $id) { modifiedAt } experiments { nodes { id } } }",
    { id: crate },
  );
  const { record, experiments } = stored.body["data"] as Json;
  const experiment = experiments.nodes[0].id as string;
  const create = async (kind: "group" | "project", more: Json): Promise<string> => {
    const { body, text } = await registry.ask(`/${kind}`, {
      token: ada.token,
      body: bodyOf(kind, ada.ark, more),
    });
    if (typeof body["@id"] !== "string") throw new Error(text);
    return body["@id"];
  };
  const group = await create("group", { name: "Cell laboratory", members: [ada.ark] });
  const project = await create("project", {
    name: "Cell images",
    datasets: [`${crate}/${PATHS.embeddings}`, `${crate}/${PATHS.clusters}`],
  });
  for (const protocol of ["One field.", "Two fields.", "Three.", "Three fields each."]) {
    const changed = await registry.ask(`/${experiment}`, {
      method: "PATCH",
      token: ada.token,
      body: { protocol },
    });
    if (changed.status !== 200) throw new Error(changed.text);
  }
  await registry.graphql(`{ aiReadyScore(id: "${crate}") { name } }`, {}, ada.token);
  const own = [
    [CRATE, crate],
    [EXPERIMENT, experiment],
    [GROUP, group],
    [PROJECT, project],
    [USER, ada.ark],
  ] as const;
  return {
    registry,
    token: ada.token,
    variables: {
      minSize: 7500,
      since: new Date(Date.parse(record.modifiedAt as string) + 1).toISOString(),
    },
    ownDocument: (document) => replaceAll(document, own),
    printed: (data) =>
      JSON.parse(
        replaceAll(JSON.stringify(data), [
          ...own.map(([shown, stored]) => [stored, shown] as const),
          [`"${new Date().toISOString().slice(0, 7)}"`, '"2026-01"'],
        ]),
      ) as Json,
  };
}
