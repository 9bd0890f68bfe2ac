/** Pages and formats of a private crate for a reader of an anonymous link: nobody is named. */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { textOf } from "./world.js";
import { REVIEWERS, makeWorld, type World } from "./world.js";

let world: World;
let [crate, member] = ["", ""];
beforeAll(async () => {
  world = await makeWorld("token");
  crate = world.targets["privateCrate"]!;
  member = world.targets["privateMember"]!;
}, 120_000);
afterAll(() => world.server.stop());

const read = async (path: string, actor: (typeof REVIEWERS)[number], headers: object = {}) => {
  const ask = () =>
    fetch(world.server.url + path, {
      headers: { ...world.credentials(actor), ...headers },
      redirect: "manual",
    });
  let answer = await ask();
  // The graph index of a busy machine may be behind.
  for (let again = 0; answer.status === 503 && again < 20; again++) {
    await answer.arrayBuffer();
    await pause(500);
    answer = await ask();
  }
  const bytes = Buffer.from(await answer.arrayBuffer());
  const lines = [...answer.headers].map((pair) => pair.join(": ")).join("\n");
  return { status: answer.status, text: `${lines}\n${await textOf(bytes)}` };
};
/** What of the people of the crate, and of its owner, is in a text. */
const namedIn = (text: string): string[] => [
  ...["authorName", "authorEmail", "authorOrcid", "authorPlace", "email"]
    .map((name) => world.secrets[name]!.text)
    .filter((secret) => text.includes(secret)),
  ...(text.includes(world.people.owner.id) ? ["the owner"] : []),
];
const PAGE = { Accept: "text/html" };

describe("an anonymous review link", () => {
  it("hides who made a crate in every page and format of the crate and its members", async () => {
    const info = await read(`/${crate}`, "anonymousReviewer");
    const body = JSON.stringify(info.text);
    expect(info.status, body).toBe(200);
    const { text: page } = await read(`/${crate}`, "anonymousReviewer", PAGE);
    expect(page).toContain("Names of people are hidden");
    expect(page).toContain("[hidden]");
    const formats = [
      ...new Set([...page.matchAll(/[?&;]format=([\w-]+)/g)].map(([, name]) => name!)),
    ];
    expect(formats.length).toBeGreaterThan(10);
    const found: string[] = [];
    let shown = 0;
    const visit = async (path: string, headers: object = {}) => {
      const { status, text } = await read(path, "anonymousReviewer", headers);
      if (status === 200) shown++;
      if (status >= 500) found.push(`${path}: ${status}`);
      for (const name of namedIn(text)) found.push(`${path}: ${name}`);
    };
    for (const ark of [crate, member]) {
      for (const format of [...formats, "zip", "badge"]) {
        await visit(`/${ark}?format=${format}`);
        await visit(`/evidencegraph/query/${ark}?format=${format}&direction=both`);
      }
      for (const name of [
        "",
        "files/",
        "history/",
        "evidence/",
        "impact/",
        "related/",
        "references/",
        "score/",
        "share/",
        "validation/",
        "preview/",
        "rocrate/ai-ready-score/",
        "edit/",
        "reviewers/",
      ])
        await visit(`/${name}${ark}`, PAGE);
      await visit(`/view/${ark}`);
      await visit(`/${ark}?info`);
      await visit(`/${ark}?revision=1`);
    }
    await visit(`/rocrate/${crate}?format=zip&folder=report`);
    for (const path of [
      "/",
      "/browse",
      "/browse?drafts=yes",
      "/records",
      `/rocrate/download/${crate}`,
    ])
      await visit(path, PAGE);
    expect(found).toEqual([]);
    expect(shown).toBeGreaterThan(40);
  });

  it("hides less than all: what was made, and how, is shown", async () => {
    const { text } = await read(`/rocrate/${crate}?format=zip`, "anonymousReviewer");
    expect(text).toContain(world.secrets["privateMemberBytes"]!.text);
    expect(text).toContain("In all, a crate for tests.");
    const folder = `/rocrate/${crate}?format=zip&folder=report`;
    expect((await read(folder, "anonymousReviewer")).text).toContain("notes");
    expect(namedIn((await read(folder, "reviewer")).text)).toContain(
      world.secrets["authorName"]!.text,
    );
    const run = await read(`/evidencegraph/query/${crate}?direction=both`, "anonymousReviewer");
    expect(run.status).toBe(200);
    const download = await read(`/rocrate/archived/download/${crate}`, "anonymousReviewer");
    expect(download.text).toMatch(/\?format=zip/);
    expect(download.status).toBe(403);
    const named = await read(`/${crate}?format=turtle`, "reviewer");
    expect(namedIn(named.text)).not.toEqual([]);
  });

  it("answers no guess of a name", async () => {
    const name = world.secrets["authorName"]!.text;
    for (const path of [
      `/entity?name=${name}`,
      `/dataset?name=${name}`,
      `/rocrate?owner=${world.people.owner.id}`,
    ]) {
      const { text } = await read(path, "anonymousReviewer");
      expect([path, namedIn(text)]).toEqual([path, []]);
      expect(text).not.toContain(crate);
    }
    const ask = async (query: string) =>
      (await world.server.graphql(query, {}, world.token("anonymousReviewer"))).text;
    for (const filter of [
      `{ describedBy: "${crate}", name: { contains: "${name}" } }`,
      `{ owner: "${world.people.owner.id}", ids: ["${crate}"] }`,
    ])
      expect(await ask(`{ records(filter: ${filter}, first: 5) { totalCount } }`)).not.toMatch(
        /"totalCount":[1-9]/,
      );
  });

  it("is made of private records only", async () => {
    const made = await world.server.request("POST", `/review-links/${world.targets["dataset"]!}`, {
      token: world.token("owner")!,
      json: { anonymous: true },
    });
    expect([made.status, made.text]).toEqual([422, expect.stringContaining("is open")]);
  });

  it("hides them in the evidence of what has been published since", async () => {
    for (const publicationStatus of ["PUBLISHED", "ARCHIVED"]) {
      const { status } = await world.server.request("PUT", "/publish", {
        token: world.token("owner")!,
        json: { "@id": crate, publicationStatus },
      });
      expect(status).toBe(200);
      for (const path of [
        `/${crate}`,
        `/evidence/${crate}`,
        `/evidencegraph/query/${crate}?format=json&direction=both`,
        `/evidencegraph/query/${crate}?format=svg`,
        `/impact/${member}`,
      ]) {
        const { status, text } = await read(path, "anonymousReviewer", PAGE);
        expect([path, status, namedIn(text)]).toEqual([path, 200, []]);
      }
    }
    // Of everything open at once, names cannot be left out.
    const query = encodeURIComponent(`SELECT * { <${crate}> ?p ?o }`);
    const { status, text } = await read(`/sparql?query=${query}`, "anonymousReviewer");
    expect([status, namedIn(text)]).toEqual([403, []]);
  });
});
