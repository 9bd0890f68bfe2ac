import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { render } from "preact-render-to-string";
import { walkThrough } from "../../cli/demo/demo.js";
import { Sections } from "../../src/web/pages/help.js";
import { rendered } from "../../scripts/help-pages.mjs";
import { startServer, type TestServer } from "../support/server.js";

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ SPARQL_MAX_ROWS: "1500" });
});
afterAll(() => server.stop());

test.each(["/docs", "/graphql", "/sparql", "/"])(
  "the page %s runs and loads files of this registry only",
  async (path) => {
    const { status, text, headers } = await server.request("GET", path, {
      headers: { Accept: "text/html" },
    });
    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).toContain("script-src 'self';");
    const loaded = [...text.matchAll(/<(?:script|link|img)\b[^>]*\b(?:src|href)="([^"]+)"/g)];
    expect(loaded.length).toBeGreaterThan(2);
    for (const [, target] of loaded) expect(target).toMatch(/^\//);
    expect(text).not.toMatch(/<script>|<script [^>]*>[^<]|\son\w+=|<style|\sstyle="/);
  },
);

/** Whether an answer holds anything: no list without entries, no null, no number of nothing. */
const holdsSomething = (value: unknown): boolean =>
  typeof value === "object" && value !== null
    ? Object.values(value).some(holdsSomething)
    : Boolean(value);

test("every tab of the GraphQL explorer answers something on the registry of the demo", async () => {
  await walkThrough(server.url, new AbortController().signal);
  const { text } = await server.request("GET", "/graphql", { headers: { Accept: "text/html" } });
  const [, attribute] = /data-tabs="([^"]*)"/.exec(text)!;
  const json = attribute!
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");
  const tabs = JSON.parse(json) as { query: string; variables?: string }[];
  expect(tabs.length).toBeGreaterThan(14);
  for (const { query, variables = "{}" } of tabs) {
    const { body } = await server.request("POST", "/graphql", {
      json: { query, variables: JSON.parse(variables) as unknown },
    });
    expect(body["errors"], query).toBeUndefined();
    for (const [field, answer] of Object.entries(body["data"] as object))
      expect(holdsSomething(answer), `${field}\n${query}`).toBe(true);
  }
});

test("help pages are the documentation: every link leads somewhere, every picture is there", async () => {
  const seen = new Set<string>();
  const waiting = ["/help"];
  const pages = new Map<string, string>();
  const links: string[] = [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const { status, text } = await server.request("GET", path, {
      headers: { Accept: "text/html" },
    });
    expect([path, status]).toEqual([path, 200]);
    pages.set(path, text);
    for (const [, target] of text.matchAll(/(?:href|src)="((?:\/help|#|\/assets\/help)[^"]*)"/g)) {
      const [address = "", anchor] = target!.split("#", 2);
      const page = address === "" ? path : address;
      if (page.startsWith("/help")) waiting.push(page);
      links.push(`${page}#${anchor ?? ""}`);
    }
  }
  expect(pages.size).toBeGreaterThan(25);
  for (const link of new Set(links)) {
    const [page = "", anchor = ""] = link.split("#", 2);
    if (page.startsWith("/assets"))
      expect((await server.request("GET", page)).headers.get("content-type")).toBe("image/png");
    else if (anchor !== "")
      expect([link, pages.get(page)!.includes(`id="${anchor}"`)]).toEqual([link, true]);
  }
  expect(pages.get("/help/tutorials/researcher")).toContain("Bring a crate and share a result");
});

test("the help is searched by section: each result leads to what has all the words", async () => {
  const get = async (path: string) =>
    (await server.request("GET", path, { headers: { Accept: "text/html" } })).text;
  const found = async (words: string) => {
    const text = await get(`/help?find=${encodeURIComponent(words)}`);
    const article = text.slice(text.indexOf("<article>"), text.indexOf("</article>"));
    return [...article.matchAll(/<h2><a href="([^"]*)">/g)].map(([, address]) => address!);
  };
  const anonymous = await found("anonymous LINKS");
  expect(anonymous.length).toBeGreaterThan(0);
  expect(anonymous[0]).toMatch(/^\/help\/access#/);
  for (const address of anonymous.slice(0, 5)) {
    const [path, anchor] = address.split("#") as [string, string | undefined];
    const text = await get(path);
    if (anchor !== undefined) expect(text).toContain(`id="${anchor}"`);
    expect(text.toLowerCase()).toMatch(/anonymous[^]*links|links[^]*anonymous/);
  }
  expect(await found("zzqqxx")).toEqual([]);
  const hostile = await get(`/help?find=${encodeURIComponent('<img src=x> "')}`);
  expect(hostile).not.toContain("<img src=x>");
  expect(hostile).toContain("No page of the help has all these words.");
  expect(await get("/help?find=+")).toContain(`<h1 id="documentation">`);
});

describe("the SPARQL page", () => {
  const sparql = (parameters: Record<string, string>) =>
    server.request("GET", `/sparql?${new URLSearchParams(parameters).toString()}`, {
      headers: { Accept: "text/html" },
    });
  const forty = Array.from({ length: 40 }, (_, at) => at).join(" ");
  const MANY = `SELECT * { VALUES ?a { ${forty} } VALUES ?b { ${forty} } }`;

  test("says how long an answer took, and shows the line of an error", async () => {
    const { text } = await sparql({ query: "ASK {}" });
    expect(text).toMatch(/Answer <span class="count">in (?:\d+ ms|[\d.]+ s)</);
    const wrong = await sparql({ query: "SELECT ?s\nWHERE {\n  ?s <b> FILTER(1)\n}" });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toMatch(/aria-label="Line 3 of the query"/);
    expect(wrong.text).toMatch(/\?s &lt;b> ?<mark>FILTER/);
  });

  test("shows the first 1,000 rows, and the download says where it was cut", async () => {
    const { text } = await sparql({ query: MANY });
    expect(text).toContain("The first 1,000 rows");
    expect(text).not.toContain("The answer was cut");
    expect(text.match(/<tr>/g)).toHaveLength(1_001);
    const csv = await sparql({ query: MANY, as: "csv" });
    expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(csv.headers.get("x-truncated")).toBe("SPARQL_MAX_ROWS=1500");
    expect(csv.text.trim().split("\n")).toHaveLength(1_501);
  });

  test("does not read rows that are too long for a page", async () => {
    const long = MANY.replace("}", `} BIND("${"x".repeat(5_000)}" AS ?long)`);
    const { status, text } = await sparql({ query: long });
    expect(status).toBe(200);
    expect(text).toContain("rows are too long for a page");
    expect(text.length).toBeLessThan(100_000);
  });

  test("keeps the graphs of the address in the download and in the address to share", async () => {
    const graph = "ark:99999/some-graph";
    const { text } = await sparql({
      query: "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
      "default-graph-uri": graph,
      "named-graph-uri": graph,
    });
    for (const link of [/<a href="([^"]*)" download="answer.csv"/, /data-copy="([^"]*)"/]) {
      const address = link.exec(text)![1]!.replaceAll("&amp;", "&");
      const { searchParams } = new URL(address, server.url);
      expect(searchParams.get("default-graph-uri")).toBe(graph);
      expect(searchParams.get("named-graph-uri")).toBe(graph);
    }
  });

  test.each(["ASK { }", "CONSTRUCT { <urn:a> <urn:b> 7 } WHERE { }"])(
    "answers a request for CSV with the page where there are no rows: %s",
    async (query) => {
      const { headers, text } = await sparql({ query, as: "csv" });
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(text).toMatch(/<strong>Yes\.<\/strong>|<pre [^>]*>[^<]*urn:b/);
    },
  );
});

test("no script of a page makes markup or code of text that it gets", async () => {
  const folder = fileURLToPath(new URL("../../src/web/client/", import.meta.url));
  const scripts = (await readdir(folder)).filter((name) => name.endsWith(".ts"));
  expect(scripts.length).toBeGreaterThan(5);
  const risky = [
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "setHTMLUnsafe",
    "createContextualFragment",
    "document\\.write",
    "new Function",
    "eval",
  ];
  const pattern = new RegExp(`\\b(?:${risky.join("|")})\\b`);
  for (const name of scripts)
    expect([name, pattern.exec(await readFile(join(folder, name), "utf8"))?.[0]]).toEqual([
      name,
      undefined,
    ]);
});

test("the titles of sections are text, with an anchor for each", () => {
  const text = "# A\n\n## `<ark>`\n\n## `<ark>` & *more*\n\n## <b>Bold</b>\n";
  const { html, sections } = rendered("a.md", text, new Map());
  expect(sections).toEqual([
    { id: "ark", title: "<ark>" },
    { id: "ark--more", title: "<ark> & more" },
    { id: "bboldb", title: "<b>Bold</b>" },
  ]);
  expect(html).toContain('<h2 id="ark--more"><code>&lt;ark&gt;</code> &amp; <em>more</em></h2>');
  const links = render(Sections({ page: { title: "A", html, sections } })!);
  expect(links).toContain('<a href="#ark">&lt;ark></a>');
  expect(links).toContain('<a href="#bboldb">&lt;b>Bold&lt;/b></a>');
});

test("an unknown help page is not found", async () => {
  const { status, text } = await server.request("GET", "/help/nothing", {
    headers: { Accept: "text/html" },
  });
  expect(status).toBe(404);
  expect(text).toContain("/help");
});
