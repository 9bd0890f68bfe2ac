/** The picture that a link to a record shows elsewhere. */
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildDemoCrate } from "../../../cli/demo/crate.js";
import { LiveRegistry } from "../../support/live-registry.js";

let registry: LiveRegistry;
let crate: string;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  const ada = await registry.user("Ada");
  crate = (await registry.take(await buildDemoCrate(), ada.token))["rocrateIdentifier"] as string;
});
afterAll(() => registry?.stop());

it("is named by the page of the record, and is a PNG of 1200 × 630 pixels", async () => {
  const id = `${crate}/results/clusters.csv`;
  const page = await registry.ask(`/${id}`, { headers: { Accept: "text/html" } });
  const [, address] = /<meta property="og:image" content="([^"]*)"/.exec(page.text)!;
  expect(address).toMatch(/^http/);
  const picture = await fetch(address!.replaceAll("&amp;", "&"));
  expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"]);
  const bytes = Buffer.from(await picture.arrayBuffer());
  expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1200, 630]);
  // A blank picture would take less than 5 KB.
  expect(bytes.length).toBeGreaterThan(20_000);
  if (process.env["CARD"]) writeFileSync(process.env["CARD"], bytes);
});

it("is there for a record without evidence, and not for one that does not exist", async () => {
  const card = "format=png&direction=both";
  const { status } = await fetch(`${registry.url}/evidencegraph/query/${crate}?${card}`);
  expect(status).toBe(200);
  const none = await registry.ask(`/evidencegraph/query/ark:99999/none?${card}`);
  expect(none.status).toBe(404);
});
