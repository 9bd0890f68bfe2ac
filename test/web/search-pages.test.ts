import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { crate } from "../support/crates.js";
import { startServer, type Person, type TestServer } from "../support/server.js";

const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

describe("the pages that find records", () => {
  let server: TestServer;
  let ada: Person;
  const asOther = (path: string) => server.request("GET", path, { headers: BROWSER });
  /** As the owner of the drafts. */
  const get = (path: string) => server.request("GET", path, { headers: BROWSER, token: ada.token });
  beforeAll(async () => {
    server = await startServer();
    ada = await server.person("ada");
    for (let at = 0; at < 25; at++)
      await server.request("POST", "/dataset", {
        token: ada.token,
        json: {
          ...bodyOf("dataset", ada.id),
          name: `Zebra plate ${String(at).padStart(2, "0")}`,
          keywords: [at % 2 ? "odd" : "even", '"><script>alert(1)</script>'],
        },
      });
    await server.request("POST", "/software", {
      token: ada.token,
      json: { ...bodyOf("software", ada.id), name: "Zebra counter" },
    });
  });
  afterAll(() => server.stop());

  test("search shows what was found, with facets that lead on and counts that are true", async () => {
    const { status, text } = await get("/search?q=zebra");
    expect(status).toBe(200);
    expect(text).toContain("26 records");
    const odd =
      /<a href="([^"]*keyword=odd[^"]*)"[^>]*><bdi>odd<\/bdi><\/a> <span class="quiet">(\d+)/.exec(
        text,
      );
    expect(odd?.[2]).toBe("12");
    const narrowed = await get(odd![1]!.replaceAll("&amp;", "&"));
    expect(narrowed.text).toContain("12 records");
    expect(narrowed.text).toContain("Remove this condition");
    expect(narrowed.text).not.toContain("Zebra plate 00");
  });

  test("a group is shown without the status of a draft, which it has for good", async () => {
    const named = "Watchers of animals";
    await server.request("POST", "/group", {
      token: ada.token,
      json: { ...bodyOf("group", ada.id), name: named },
    });
    const { text } = await get("/search?q=watchers");
    const [, card = ""] = /<article class="card">([^]*?)<\/article>/.exec(text) ?? [];
    expect(card).toContain(named);
    expect(card).not.toContain("Draft");
    const plate = (await get("/search?q=plate")).text;
    expect(/<article class="card">([^]*?)<\/article>/.exec(plate)?.[1]).toContain("Draft");
  });

  test("people and organizations are counted apart from other objects, at home and in browse", async () => {
    const named = [
      { "@id": "#eve", "@type": "Person", name: "Eve" },
      { "@id": "#lab", "@type": "Organization", name: "Lab" },
      { "@id": "#uni", "@type": ["Organization", "CollegeOrUniversity"], name: "University" },
      { "@id": "#place", "@type": "Place", name: "Here" },
    ];
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(await crate(named))]), "crate.zip");
    await server.request("POST", "/rocrate/upload", { token: ada.token, body: form });
    for (const path of ["/", "/browse"]) {
      const { text } = await get(path);
      const [, numbers = ""] = /<ul class="numbers">([^]*?)<\/ul>/.exec(text) ?? [];
      const shown = [...numbers.matchAll(/<strong>(\d+)<\/strong> ([^<]+)/g)].map(
        ([, count, word]) => `${count} ${word}`,
      );
      // The place, and the description of the crate.
      expect(shown).toEqual(expect.arrayContaining(["2 organizations", "2 other objects"]));
      expect(shown).toContain("1 person");
    }
    const home = (await get("/")).text;
    const [, people] = /<a href="([^"]+)"><strong>1<\/strong> person</.exec(home) ?? [];
    const { text } = await get(people!);
    expect(text).toContain('<h1 dir="auto">People</h1>');
    expect(text).toContain("1 record");
    expect(text).toContain("Eve");
    expect(text).not.toContain("University");
  });

  test("years of publication narrow a list, which can be in their order", async () => {
    for (const [name, datePublished] of [
      ["Bilby one", "2019-05-03"],
      ["Bilby two", "2021"],
      ["Bilby three", "99999-12-31"],
    ] as const)
      await server.request("POST", "/dataset", {
        token: ada.token,
        json: { ...bodyOf("dataset", ada.id), name, datePublished },
      });
    for (const path of ["/search?q=bilby", "/search?q=bilby&sort=published"]) {
      const { text } = await get(path);
      const years = [...text.matchAll(/published=(\d+)[^>]*><bdi>/g)].map(([, year]) => year);
      expect(years, path).toEqual(["2021", "2019"]);
    }
    const { text } = await get("/search?q=bilby&published=2019");
    expect(text).toContain("Bilby one");
    expect(text).not.toContain("Bilby two");
    expect(text).toContain("Published in: <bdi>2019");
    const sorted = (await get("/search?q=bilby&sort=published")).text;
    const names = [...sorted.matchAll(/<bdi>Bilby (\w+)/g)].map(([, name]) => name);
    expect(names).toEqual(["two", "one", "three"]);
  });

  test("facets write keywords as the records do", async () => {
    await server.request("POST", "/dataset", {
      token: ada.token,
      json: { ...bodyOf("dataset", ada.id), name: "Okapi", keywords: ["CRISPR-Cas9"] },
    });
    for (const path of ["/search?q=okapi", "/browse/dataset?keyword=crispr-cas9"])
      expect((await get(path)).text, path).toMatch(
        /<bdi>CRISPR-Cas9<\/bdi>(?:<\/a>|<\/strong>) <span/,
      );
  });

  test("slashes at the end of an address do not count", async () => {
    for (const path of ["/search/?q=zebra", "/search//?q=zebra", "/search///?q=zebra"])
      expect((await get(path)).text, path).toContain("26 records");
    expect((await get("/help//")).status).toBe(200);
  });

  test("a kind is browsed under every spelling that people use", async () => {
    expect((await get("/browse/dataset")).text).toContain("<h1");
    for (const [spelling, kind] of [
      ["datasets", "dataset"],
      ["Dataset", "dataset"],
      ["files", "datadownload"],
      ["crates", "rocrate"],
      ["ro-crates", "rocrate"],
      ["ML_MODEL", "mlmodel"],
      ["software", "software"],
      ["evidence-graphs", "evidencegraph"],
    ]) {
      const path = `/browse/${spelling}`;
      if (spelling === kind) expect((await get(path)).status, path).toBe(200);
      else {
        const { status, headers } = await get(`${path}?sort=name`);
        expect([status, headers.get("location")], path).toEqual([302, `/browse/${kind}?sort=name`]);
      }
    }
    for (const none of ["nonsense", "constructor", "__proto__"])
      expect((await get(`/browse/${none}`)).status).toBe(404);
  });

  test("the front page and the list of kinds show what is public, and one search box", async () => {
    const drafts = await get("/");
    expect(drafts.text).toContain("No crate is public yet.");
    expect(drafts.text.match(/name="q"/g)).toHaveLength(1);
    const browse = await get("/browse");
    expect(browse.text).toContain("Nothing is public yet.");
    expect(browse.text).not.toContain("Zebra plate");
    const { body } = await server.graphql<{ datasets: { nodes: { id: string }[] } }>(
      "{ datasets(first: 1) { nodes { id } } }",
    );
    await server.request("PUT", "/publish", {
      token: ada.token,
      json: { "@id": body.data.datasets.nodes[0]!.id, publicationStatus: "PUBLISHED" },
    });
    expect((await get("/browse")).text).toContain("Zebra plate");
    // Without drafts of other people, as the lists that the numbers lead to.
    for (const path of ["/", "/browse"]) {
      const { text } = await server.request("GET", path, { headers: { Accept: "text/html" } });
      expect(text).toContain('href="/browse/dataset"><strong>1</strong> dataset<');
    }
  });

  test("open drafts of other people are shown where they are asked for", async () => {
    const public_ = await server.request<{ "@id": string }>("POST", "/dataset", {
      token: ada.token,
      json: { ...bodyOf("dataset", ada.id), name: "Tapir, published" },
    });
    await server.request("POST", "/dataset", {
      token: ada.token,
      json: { ...bodyOf("dataset", ada.id), name: "Tapir, a draft", keywords: ["hapax"] },
    });
    await server.request("PUT", "/publish", {
      token: ada.token,
      json: { "@id": public_.body["@id"], publicationStatus: "PUBLISHED" },
    });
    const shown = async (path: string, ask = asOther) => {
      const { text } = await ask(path);
      return ["published", "a draft"].filter((name) => text.includes(`Tapir, ${name}`));
    };
    const one = ["published"];
    const all = ["published", "a draft"];
    const lists = ["/search?q=tapir", "/search?q=tapir&sort=name", "/browse/dataset?sort=newest"];
    for (const path of lists) {
      expect(await shown(path), path).toEqual(one);
      expect((await asOther(path)).text, path).toContain("show open drafts too");
      expect(await shown(`${path}&drafts=yes`), path).toEqual(all);
      expect(await shown(path, get), path).toEqual(all);
    }
    expect(await shown("/search?q=tapir&status=DRAFT")).toEqual(["a draft"]);
    expect(await shown(`/search?q=tapir&owner=${ada.id}`)).toEqual(all);
    const { text } = await asOther("/search?q=hapax");
    expect(text).toContain("Nothing was found.");
    expect(text).toContain("Show open drafts");
    const member = await server.person("member");
    const project = await server.request<{ "@id": string }>("POST", "/project", {
      token: ada.token,
      json: { ...bodyOf("project", ada.id), name: "Project of tapirs", members: [member.id] },
    });
    await server.request("POST", "/dataset?visibility=private", {
      token: ada.token,
      json: { ...bodyOf("dataset", project.body["@id"]), name: "Tapir, of the project" },
    });
    const asMember = await server.request("GET", "/search?q=tapir", {
      headers: BROWSER,
      token: member.token,
    });
    expect(asMember.text).toContain("Tapir, of the project");
    expect(asMember.text).not.toContain("Tapir, a draft");
    for (const path of ["/browse/project", "/search?q=tapirs"])
      expect((await asOther(path)).text, path).toContain("Project of tapirs");
  });

  test("a condition that names a deleted record is shown by its identifier", async () => {
    const { body } = await server.request("POST", "/project", {
      token: ada.token,
      json: bodyOf("project", ada.id),
    });
    const id = body["@id"] as string;
    await server.request("DELETE", `/${id}`, { token: ada.token });
    const { status, text } = await get(`/search?q=zebra&owner=${id}`);
    expect(status).toBe(200);
    expect(text).toContain(`<bdi>${id}</bdi>`);
  });

  test("records are narrowed by their project and their crate, which are named", async () => {
    const { body } = await server.request("POST", "/project", {
      token: ada.token,
      json: { ...bodyOf("project", ada.id), name: "Stripes" },
    });
    await server.request("POST", "/dataset", {
      token: ada.token,
      json: { ...bodyOf("dataset", ada.id), name: "Okapi", isPartOf: [{ "@id": body["@id"] }] },
    });
    const form = new FormData();
    const archive = await crate([{ "@id": "#q", "@type": "Dataset", name: "Okapi hair" }]);
    form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
    await server.request("POST", "/rocrate/upload", { token: ada.token, body: form });
    for (const path of ["/search?q=okapi", "/browse/dataset"]) {
      const { text } = await get(path);
      const link = (parameter: string, name: string): string =>
        new RegExp(
          `<a href="([^"]*${parameter}=[^"]*)"[^>]*><bdi>${name}</bdi></a> <span class="quiet">1<`,
        )
          .exec(text)![1]!
          .replaceAll("&amp;", "&");
      expect((await get(link("project", "Stripes"))).text).toMatch(/1 record( ·|<)/);
      const inCrate = (await get(link("crate", "A crate"))).text;
      expect(inCrate).toMatch(/1 record( ·|<)/);
      expect(inCrate).toContain("Crate: <bdi>A crate</bdi>");
    }
  });

  test("pages follow one another until each record was shown once", async () => {
    const seen: string[] = [];
    for (let path: string | undefined = "/browse/dataset?sort=name"; path;) {
      const { text }: { text: string } = await get(path);
      seen.push(...[...text.matchAll(/<bdi>(Zebra plate \d\d)<\/bdi>/g)].map((match) => match[1]!));
      path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
    }
    expect(seen).toEqual(
      Array.from({ length: 25 }, (_, at) => `Zebra plate ${String(at).padStart(2, "0")}`),
    );
  });

  test("text of records is never markup", async () => {
    for (const path of ["/search?q=zebra&drafts=yes", "/browse", "/browse/dataset?drafts=yes", "/"])
      expect((await get(path)).text).not.toContain("<script>alert");
    const { text } = await get(`/search?q=${encodeURIComponent("<img src=x onerror=alert(1)>")}`);
    expect(text).not.toContain("<img src=x");
  });

  test("an identifier in the search box leads to its record", async () => {
    const { status, headers } = await get("/search?q=ark:99999/some-record");
    expect([status, headers.get("location")]).toEqual([302, "/ark:99999/some-record"]);
  });

  test("nothing found says what to try", async () => {
    const { status, text } = await get("/search?q=quagga&kind=DATASET");
    expect(status).toBe(200);
    expect(text).toContain("Nothing was found.");
    expect(text).toContain("mode=meaning");
  });

  test.each([
    "/search?year=12",
    "/search?published=0000",
    "/search?status=NONE",
    "/search?kind=nothing",
    "/search?score=x",
  ])("an unknown value in the address is a page with status 400: %s", async (path) => {
    const { status, headers } = await get(path);
    expect([status, headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
  });

  test.each(["/dataset", "/software", "/rocrate", "/records", "/search/basic?query=zebra"])(
    "the address of a REST list is a page for browsers and JSON for others: %s",
    async (path) => {
      const page = await fetch(server.url + path, { headers: BROWSER });
      expect([page.status, page.headers.get("content-type")]).toEqual([
        200,
        "text/html; charset=utf-8",
      ]);
      const json = await server.request("GET", path, { token: ada.token });
      expect(json.headers.get("content-type")).toContain("application/json");
    },
  );
});
