import { afterAll, beforeAll, expect, it } from "vitest";
import { LiveRegistry } from "../support/live-registry.js";
import { runCrate } from "../support/profiled-crates.js";

/** No endpoint answers there: port 9 discards. */
const AWAY = "http://127.0.0.1:9/query";

let registry: LiveRegistry;
let ark: string;
beforeAll(async () => {
  registry = await LiveRegistry.start({
    SPARQL_QUERY_URL: AWAY,
    SPARQL_UPDATE_URL: AWAY,
    INDEX_WAIT: "50ms",
  });
  const ada = await registry.user("Ada");
  ark = (await registry.take(await runCrate(), ada.token))["rocrateIdentifier"] as string;
  await registry.publish(ark, ada.token);
});
afterAll(() => registry?.stop());

it.each([
  ["the front page", () => "/"],
  ["the page of a crate", () => `/${ark}`],
])("%s is served while the graph cannot be asked, without its picture", async (_, path) => {
  const { status, text } = await registry.ask(path(), { headers: { Accept: "text/html" } });
  expect([status, text.slice(0, 1000)]).toEqual([200, expect.any(String)]);
  expect(text).toContain("A run of the workflow");
  expect(text).not.toContain('class="ev"');
  if (path() !== "/") expect(text).toContain("The graph is not available now");
});

it("so are the pages that say nothing of the graph", async () => {
  const paths = [
    ...["history", "files", "references", "score", "share"].map((page) => `/${page}/${ark}`),
    "/browse",
    "/browse/rocrate",
    "/search?q=workflow",
    "/help",
    "/status",
    "/signin",
    "/person/0000-0002-1825-0097",
  ];
  const statuses = await Promise.all(
    paths.map(async (path) => {
      const { status } = await registry.ask(path, { headers: { Accept: "text/html" } });
      return [path, status];
    }),
  );
  expect(statuses).toEqual(paths.map((path) => [path, 200]));
});
