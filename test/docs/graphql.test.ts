import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

const page = readFileSync(join(packageRoot, "docs/graphql.md"), "utf8");
const documents = [...page.matchAll(/^```graphql\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

describe("docs/graphql.md", () => {
  it("shows documents", () => expect(documents.length).toBeGreaterThan(3));

  it.each(documents)("is answered without an error: %s", async (document) => {
    const { body } = await server.graphql(
      document.replaceAll("ark:99999/user-ada", ada.id),
      {},
      ada.token,
    );
    expect(body.errors).toBeUndefined();
  });

  it("names each condition of a filter", async () => {
    const { body } = await server.graphql<{ __type: { inputFields: { name: string }[] } }>(
      `{ __type(name: "RecordFilter") { inputFields { name } } }`,
    );
    for (const { name } of body.data.__type.inputFields) expect(page).toContain(`\`${name}\``);
  });
});
