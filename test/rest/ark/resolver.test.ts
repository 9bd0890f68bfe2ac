import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { crate } from "../../support/crates.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
let crateArk: string;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  const person = { "@id": "#grace", "@type": "Person", name: "Grace Example" };
  const archive = await crate(
    [{ "@id": "a.csv", "@type": "File", name: "A table" }, person],
    { "a.csv": "a" },
    {
      datePublished: "2021-04-05",
      author: [{ "@id": "#grace" }, { "@id": "https://orcid.org/0000-0002-1825-0097" }],
    },
  );
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
  const uploaded = await server.request<{ "@id": string }>("POST", "/rocrate/upload", {
    token: ada.token,
    body: form,
  });
  crateArk = uploaded.body["@id"];
});
afterAll(() => server.stop());

/** fetch drops a bare question mark: the target is written as it is. */
function plain(
  path: string,
): Promise<{ status: number; location: string | undefined; text: string }> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path }, (answer) => {
      let text = "";
      answer
        .setEncoding("utf8")
        .on("data", (chunk: string) => (text += chunk))
        .on("end", () =>
          resolve({ status: answer.statusCode!, location: answer.headers.location, text }),
        );
    })
      .on("error", reject)
      .end();
  });
}

describe("the redirect of an ARK of another authority", () => {
  test.each([
    ["/ark:/12148/b-t.v/1?info", "ark:12148/b-t.v/1?info"],
    ["/ark:12148/btv?", "ark:12148/btv?"],
    ["/ark:12148/btv??", "ark:12148/btv??"],
    ["/ark:12148/btv?info=&format=json", "ark:12148/btv?info=&format=json"],
    ["/api/ark:12148/btv?info", "ark:12148/btv?info"],
  ])("preserves the query of %s", async (path, target) => {
    expect(await plain(path)).toMatchObject({ status: 302, location: `https://n2t.net/${target}` });
  });

  test.each([
    ["/ARK:/12148/btv/", "ark:12148/btv"],
    ["/ark:12148/a%2fb%20c", "ark:12148/a%2Fb%20c"],
    ["/ark:1214B/btv", "ark:1214b/btv"],
    ["/ark12148/btv", "ark:12148/btv"],
  ])("names %s in its stored form, escapes included", async (path, target) => {
    expect(await plain(path)).toMatchObject({ status: 302, location: `https://n2t.net/${target}` });
  });
});

describe("an alias of an identifier", () => {
  test.each(["ark:/", "ark", "ARK:/"])(
    "with label %s has a link set with an anchor for its own address",
    async (label) => {
      const alias = `${server.url}/${crateArk.replace("ark:", label)}`;
      const answer = await fetch(alias, { headers: { Accept: "text/html" } });
      expect(answer.status).toBe(200);
      const [, target] = /<([^>]*)>; rel="linkset"/.exec(answer.headers.get("link")!)!;
      const { linkset } = (await (await fetch(target!)).json()) as {
        linkset: { anchor: string; "cite-as"?: { href: string }[] }[];
      };
      const anchors = linkset.map(({ anchor }) => anchor);
      expect(anchors).toContain(alias);
      expect(anchors).toContain(`${server.url}/${crateArk}`);
      expect(linkset.find(({ anchor }) => anchor === alias)!["cite-as"]).toEqual([
        { href: `${server.url}/${crateArk}` },
      ]);
      expect(await answer.text()).toContain(`<link rel="linkset" href="${target}"`);
    },
  );
});

describe("the kernel metadata", () => {
  test("of a crate names its authors and its date of publication", async () => {
    const { text } = await plain(`/${crateArk}?info`);
    expect(text).toContain("erc:\nwho: Grace Example\nwhat: A crate\nwhen: 2021-04-05\n");
  });

  test("of a crate's member without an author and a date are those of the crate", async () => {
    const { text } = await plain(`/${crateArk}/a.csv?info`);
    expect(text).toContain("who: Grace Example\nwhat: A table\nwhen: 2021-04-05\n");
  });

  test("of a record without both are nobody and the date of registration", async () => {
    const made = await server.request("POST", "/dataset", {
      token: ada.token,
      json: {
        "@type": "evi:Dataset",
        name: "Plain",
        description: "Without author.",
        owner: ada.id,
      },
    });
    const { text } = await plain(`/${String(made.body["@id"])}?info`);
    expect(text).toMatch(
      new RegExp(
        `who: \\(:unav\\)\\nwhat: Plain\\nwhen: ${new Date().toISOString().slice(0, 10)}\\n`,
      ),
    );
  });
});
