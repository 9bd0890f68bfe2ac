import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { crate, type Entity } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { User } from "../support/registry-client.js";

const ORCID = "0000-0002-1694-233X";
const URL = `https://orcid.org/${ORCID}`;

let registry: LiveRegistry;
let ada: User;
let [first, second] = ["", ""];
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
  const file: Entity = { "@id": "a.csv", "@type": "File", name: "Table", author: { "@id": URL } };
  first = await taken([person("Grace Brewster"), file], "First work", { author: { "@id": URL } });
  second = await taken(
    [
      person("Grace <b>Hopper</b>", { "@id": "#grace", identifier: URL }),
      person("Somebody else", { "@id": "#other", description: `Knows ${ORCID}.` }),
    ],
    "Second work",
    { creator: { "@id": "#grace" }, contributor: { "@id": "#other" } },
  );
  await taken([person("Grace Brewster")], "Third work", { editor: { "@id": URL } });
});
afterAll(() => registry?.stop());

const person = (name: string, more: Entity = {}): Entity => ({
  "@id": URL,
  "@type": "Person",
  name,
  ...more,
});

async function taken(entities: Entity[], name: string, root: Entity): Promise<string> {
  const answer = await registry.take(
    await crate(entities, { "a.csv": "a" }, { name, ...root }),
    ada.token,
  );
  return answer["rocrateIdentifier"] as string;
}
const page = async (path: string) =>
  registry.ask(path, { token: ada.token, headers: { Accept: "text/html" } });
const textOf = (html: string): string => html.replace(/<svg[^]*?<\/svg>|<[^>]*>/g, "");

describe("the page of a person", () => {
  it("lists the works of every crate that names the ORCID, and who describes the person", async () => {
    const { status, text } = await page(`/person/${ORCID}`);
    expect(status).toBe(200);
    const [, works = ""] = /<section id="works"[^>]*>([^]*?)<\/section>/.exec(text) ?? [];
    const items = Array.from(works.matchAll(/<li>([^]*?)<\/li>/g), ([, item = ""]) => textOf(item));
    expect(items.sort()).toEqual([
      "First work as author",
      "Second work as creator",
      "Table as author",
      "Third work as editor",
    ]);
    // What a crate holds stands below its name, once.
    expect(textOf(works)).toContain("In First work 1Table as author");
    const [, statements = ""] = /<section id="statements">([^]*?)<\/section>/.exec(text) ?? [];
    expect(textOf(statements)).toContain("Grace Hopper in Second work");
    expect(textOf(text)).not.toContain("Somebody else");
  });

  it("has the name that most crates state", async () => {
    const { text } = await page(`/person/${ORCID}`);
    expect(text).toMatch(/<h1 dir="auto">Grace Brewster<\/h1>/);
  });

  it("is where the name in a by-line and the record of the person lead to", async () => {
    const link = `<a href="/person/${ORCID}">`;
    const { text } = await page(`/${first}`);
    expect(text).toContain(`by <span class="agent">${link}<bdi>Grace Brewster</bdi></a>`);
    const [, record = ""] = /href="(\/ark:[^"]*entity\/grace[^"]*)"/.exec(
      (await page(`/${second}`)).text,
    )!;
    expect((await page(record)).text).toContain(`${link}All works of this person</a>`);
  });

  it("says so where nothing here names the person, and is missing for what is no ORCID", async () => {
    const empty = await page("/person/0000-0001-5109-3700");
    expect(empty.text).toContain("No work here names this person.");
    expect((await page("/person/grace")).status).toBe(404);
  });
});

describe("the contents of a crate", () => {
  it("count people, organizations and licences by themselves", async () => {
    const licence = "https://licences.example/own";
    const ark = await taken(
      [
        person("Grace"),
        { "@id": "#org", "@type": "Organization", name: "An Institute" },
        { "@id": licence, "@type": "CreativeWork", name: "Own licence" },
        { "@id": "#thing", "@type": "Thing", name: "A thing" },
      ],
      "Counted",
      { license: { "@id": licence } },
    );
    const { text } = await page(`/${ark}`);
    const [, numbers = ""] = /<ul class="numbers">([^]*?)<\/ul>/.exec(text) ?? [];
    expect(textOf(numbers)).toBe("1 person1 organization1 licence1 other object");
    expect(text).toMatch(/<div class="relation" id="licences">[^]*?Own licence/);
    expect(text).toMatch(/<div class="relation" id="people">[^]*?k-user[^]*?Grace/);
  });
});
