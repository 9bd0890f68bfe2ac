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
