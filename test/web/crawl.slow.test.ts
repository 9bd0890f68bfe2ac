import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { PASSWORD, type Person, startServer, type TestServer } from "../support/server.js";

const BROWSER = { Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
/** Pages of one crawl: the shape of an address counts, not each record. */
const MOST = 400;
/** Addresses of one shape, for example of one page of records, that are followed. */
const OF_ONE_SHAPE = 6;

/** Links of forms of data, which the reader chose by name. */
const CHOSEN = /[?&](?:format|as)=/;

describe("every link of every page", () => {
  let server: TestServer;
  let ada: Person;
  beforeAll(async () => {
    server = await startServer();
    ada = await server.person("ada", { admin: true });
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(await buildDemoCrate())]), "crate.zip");
    const { status } = await server.request("POST", "/rocrate/upload", {
      token: ada.token,
      body: form,
    });
    expect(status).toBe(200);
  }, 60_000);
  afterAll(() => server.stop());

  async function signIn(): Promise<string> {
    const answer = await fetch(`${server.url}/signin`, {
      method: "POST",
      redirect: "manual",
      headers: { ...BROWSER, Origin: server.url },
      body: new URLSearchParams({ username: ada.email, password: PASSWORD }),
    });
    return answer.headers.get("set-cookie")!.split(";", 1)[0]!;
  }

  const shapeOf = (path: string): string =>
    path
      .replace(/ark:[^?#]*\.(\w+)/g, "ark.$1")
      .replace(/ark:[^?#]*/g, "ark")
      .replace(/=[^&#]*/g, "=")
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "uuid");

  /** Follows links from the front page; returns what is no page, and what is broken. */
  async function crawl(cookie: string | undefined) {
    const queue: [path: string, from: string][] = [["/", "start"]];
    const seen = new Set<string>(["/"]);
    const shapes = new Map<string, number>();
    const json: string[] = [];
    const broken: string[] = [];
    while (queue.length > 0 && seen.size < MOST) {
      const [path, from] = queue.shift()!;
      const answer = await fetch(server.url + path, {
        headers: { ...BROWSER, ...(cookie === undefined ? {} : { Cookie: cookie }) },
      });
      const type = answer.headers.get("content-type") ?? "";
      const text = await answer.text();
      const where = `${path} (${answer.status}, linked from ${from})`;
      if (/json/.test(type) && !CHOSEN.test(path)) json.push(where);
      if (answer.status >= 400) broken.push(where);
      if (!type.startsWith("text/html")) continue;
      for (const [, href] of text.matchAll(/<a\b[^>]*?\bhref="([^"]+)"/g)) {
        const target = new URL(href!.replaceAll("&amp;", "&"), server.url + path);
        if (target.origin !== server.url) continue;
        const next = target.pathname + target.search;
        const shape = shapeOf(next);
        if (seen.has(next) || (shapes.get(shape) ?? 0) >= OF_ONE_SHAPE) continue;
        seen.add(next);
        shapes.set(shape, (shapes.get(shape) ?? 0) + 1);
        queue.push([next, path]);
      }
    }
    return { json, broken, pages: seen.size };
  }

  test.each([
    ["signed out", false],
    ["signed in", true],
  ])(
    "leads to a page or a file, never to JSON and never to nothing: %s",
    async (_name, isSignedIn) => {
      const { json, broken, pages } = await crawl(isSignedIn ? await signIn() : undefined);
      expect(pages).toBeGreaterThan(40);
      expect(json).toEqual([]);
      // Files of drafts are for their owner: a page says how to get them.
      expect(broken.filter((where) => isSignedIn || !/\((?:401|403),/.test(where))).toEqual([]);
      expect(server.faults).toEqual([]);
    },
    240_000,
  );
});
