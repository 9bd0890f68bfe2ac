import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { bodyOf } from "../support/bodies.js";
import { type Person, startServer, type TestServer } from "../support/server.js";
import { AS_CREATED } from "../../src/services/records/pages.js";

let server: TestServer;
let ada: Person;
let bob: Person;
let crate: string;
beforeAll(async () => {
  server = await startServer();
  [ada, bob] = [await server.person("Ada"), await server.person("Bob")];
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(await buildDemoCrate())]), "crate.zip");
  const { body } = await server.request("POST", "/rocrate/upload", {
    token: ada.token,
    body: form,
  });
  crate = body["@id"] as string;
});
afterAll(() => server.stop());

const page = async (path: string, token?: string): Promise<string> => {
  const { text, headers } = await server.request("GET", path, {
    headers: { Accept: "text/html" },
    ...(token === undefined ? {} : { token }),
  });
  expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
  return text;
};
const section = (text: string, id: string): string =>
  text.split(`<section id="${id}">`)[1]!.split("</section>")[0]!;
const create = async (kind: Parameters<typeof bodyOf>[0], more: object): Promise<string> => {
  const { body, text } = await server.request("POST", `/${kind}`, {
    token: ada.token,
    json: { ...bodyOf(kind, ada.id), ...more },
  });
  expect(body["@id"], text).toBeTypeOf("string");
  return body["@id"] as string;
};

describe("the page of a file", () => {
  const embeddings = (): string => `/${crate}/results/embeddings.csv`;

  test("answers what it is, whose it is, whether it may be used and where it came from", async () => {
    const text = await page(embeddings());
    expect(text).toContain('<h1 dir="auto">Image embeddings</h1>');
    expect(text).toMatch(/<nav class="crumb"[^>]*><a[^>]*>.*?Cells from images to clusters/);
    expect(text).toContain('<span class="badge draft">Draft</span>');
    expect(text).toContain("<bdi>CC BY 4.0</bdi>");
    expect(section(text, "provenance")).toContain("<svg");
    expect(section(text, "provenance")).toContain("Image embedding");
    expect(section(text, "provenance")).toContain("Clustering");
  });

  test("offers the download to those who may read it, and says to others what to do", async () => {
    expect(await page(embeddings())).toMatch(
      /Sign in to download CSV<span class="size"> · 669 bytes/,
    );
    expect(await page(embeddings(), bob.token)).toContain(">Ask for access</a>");
    const own = await page(embeddings(), ada.token);
    const [, address] = /<a class="button" href="([^"]*)" download>Download CSV/.exec(own)!;
    const { status } = await server.request("GET", new URL(address!).pathname, {
      token: ada.token,
    });
    expect(status).toBe(200);
  });
});

describe("the words of a page", () => {
  const named = async (name: string): Promise<string> => {
    const { items } = await server.deps.records.select({
      filter: { crates: [crate] },
      order: AS_CREATED,
      limit: 100,
    });
    return page(`/${items.find((item) => item.name === name)!.ark}`, ada.token);
  };

  test("call an experiment one, and say when it began", async () => {
    const text = await named("Image acquisition");
    expect(section(text, "run")).toMatch(/Began<\/dt><dd>.*13 Jan 2025/);
    expect(text).toMatch(/class="ev-note"[^>]*>experiment</);
    expect(text).toMatch(/class="ev-note"[^>]*>person</);
  });

  test("say nothing of the origin of a licence, nor draw it beside itself", async () => {
    const text = await named("Creative Commons Attribution 4.0 International");
    expect(text).not.toContain('id="provenance"');
  });

  test("cite a file as a file", async () => {
    expect(await page(`/${crate}/results/clusters.csv`)).toContain("Clusters [File]. Arkgraph.");
  });

  test("offer licences by name where one is changed", async () => {
    expect(await page(`/edit/${crate}`, ada.token)).toContain(
      '<option value="https://creativecommons.org/publicdomain/zero/1.0/">CC0: no conditions',
    );
  });
});

describe("what a download gives", () => {
  test("stands on the buttons of a crate: files for those who may read them, else the metadata", async () => {
    const head = (text: string) => text.split('<header class="record-head">')[1]!;
    const own = head(await page(`/${crate}`, ada.token));
    expect(own).toMatch(/Download 12 files<span class="size"> · \d+ KB/);
    const other = head(await page(`/${crate}`));
    expect(other).toMatch(/Sign in to download 12 files<span class="size"> · \d+ KB/);
    const [, address, size] =
      /<a class="button secondary" href="([^"]*)"[^>]*>Download the metadata<span class="size"> · (\d+) KB/.exec(
        other,
      )!;
    // As a browser asks for it.
    const { status, text } = await server.request("GET", address!.slice(server.url.length), {
      headers: { Accept: "text/html,*/*;q=0.8" },
    });
    expect(status).toBe(200);
    expect(Object.keys(JSON.parse(text) as object)).toContain("@graph");
    expect(Math.round(Buffer.byteLength(text) / 1000)).toBe(Number(size));
    expect(head(await page(`/${crate}`, bob.token))).toContain(">Ask for access</a>");
  });

  test("calls a status in the document a statement of it, beside the state of the record", async () => {
    const id = await create("dataset", { name: "Draft that says otherwise" });
    const { status } = await server.request("PATCH", `/${id}`, {
      token: ada.token,
      headers: { "Content-Type": "application/merge-patch+json" },
      body: JSON.stringify({ publicationStatus: "PUBLISHED", visibility: "open" }),
    });
    expect(status).toBe(200);
    const text = await page(`/${id}`);
    expect(text).toContain("Draft");
    expect(text).toContain("Publication status, as the document states it");
    expect(text).toContain("Visibility, as the document states it");
    expect(text).not.toMatch(/>(?:Publication status|Visibility)</);
  });

  test("says where data are that are not here, or that there are none", async () => {
    const elsewhere = await create("dataset", {
      name: "There",
      url: "https://data.example.org/7",
      distribution: [],
    });
    expect(await page(`/${elsewhere}`)).toContain("The data are at data.example.org");
    const none = await create("dataset", { name: "None", distribution: [] });
    expect(await page(`/${none}`)).toContain("A description only: the record has no file");
  });
});

describe("the page of a withdrawn record", () => {
  const withdraw = (id: string) =>
    server.request("DELETE", `/${id}?reason=Wrong%20plate`, { token: ada.token });

  test("says what it was, who, when and why, and how it is cited", async () => {
    const id = await create("dataset", {
      name: "Cells <i>A</i>",
      author: "Curie, Marie",
      description: "What was measured.",
    });
    await server.request("PUT", "/publish", {
      token: ada.token,
      json: { "@id": id, publicationStatus: "PUBLISHED" },
    });
    expect((await withdraw(id)).status).toBe(200);
    const text = await page(`/${id}`);
    expect(text).toMatch(/<h1[^>]*>Cells/);
    expect(text).not.toContain("<i>A</i>");
    for (const said of ["Curie", "Dataset", "Wrong plate", "What was measured.", "[Data set]"])
      expect(text).toContain(said);
    expect(text).toMatch(/<dt>By<\/dt><dd>.*?<bdi>Ada<\/bdi>/);
  });

  test("says nothing of a draft but that it was withdrawn", async () => {
    const id = await create("dataset", { name: "Never shown", description: "A secret." });
    await withdraw(id);
    const text = await page(`/${id}`);
    expect(text).toContain("This record was withdrawn");
    expect(text).not.toMatch(/Never shown|A secret/);
  });
});

test("the page of a computation shows its command, container, inputs and outputs", async () => {
  const { body } = await server.graphql<{ computations: { nodes: { id: string }[] } }>(
    '{ computations(filter: {name: {equals: "Clustering"}}) { nodes { id } } }',
  );
  const text = await page(`/${body.data.computations.nodes[0]!.id}`);
  const run = section(text, "run");
  expect(run).toContain("python software/cluster_embeddings.py");
  expect(run).toContain("docker.io/library/python");
  expect(section(text, "provenance")).toMatch(/Used.*cluster_embeddings\.py.*Generated.*Clusters/s);
});

test("the page of a schema shows its columns as a table, in their order", async () => {
  const id = await create("schema", {
    name: "Cells",
    properties: {
      second: { description: "b", index: 1, type: "integer", minimum: 0, maximum: 7 },
      first: { description: "a", index: 0, type: "string", pattern: "^[a-z]+$", valueURL: null },
    },
    required: ["first"],
  });
  const columns = section(await page(`/${id}`), "columns");
  expect(columns.indexOf("first")).toBeLessThan(columns.indexOf("second"));
  expect(columns).toContain("present; like ^[a-z]+$");
  expect(columns).toContain("at least 0; at most 7");
});

test("the page of a dataset lists its files with form, size and what uses it, by name", async () => {
  const id = await create("dataset", { name: "Raw data" });
  const names = ["one", "two", "three", "four", "five"];
  for (const name of names)
    await create("computation", { name: `Run ${name}`, usedDataset: [id], generated: [] });
  const text = await page(`/${id}`);
  expect(section(text, "related")).toContain("Used by");
  for (const name of names) expect(section(text, "related")).toContain(`Run ${name}`);
  const all = await page(`/related/${id}?relation=used_by`);
  for (const name of names) expect(all).toContain(`Run ${name}`);
  expect((await server.request("GET", `/related/${id}?relation=nonsense`)).status).toBe(404);
});

test("the page of a user shows what they own; that of a group its members", async () => {
  const dataset = await create("dataset", { name: "Something of Ada" });
  expect(section(await page(`/${ada.id}`), "records")).toContain(`href="/${dataset}"`);
  const group = await create("group", { name: "Laboratory", members: [ada.id, bob.id] });
  const members = section(await page(`/${group}`), "members");
  expect(members).toContain(`href="/${ada.id}"`);
  expect(members).toContain(`href="/${bob.id}"`);
});

describe("everything else that a record states", () => {
  test("stands under readable labels, with unknown terms below", async () => {
    const id = await create("dataset", {
      name: "Labelled",
      dateCreated: "2024-05-03",
      version: "2.1",
      "myProject:plateNumber": 7,
      unheardOf: { "@id": ada.id },
    });
    const metadata = section(await page(`/${id}`), "metadata");
    const [known, further] = metadata.split("Further terms of the record");
    expect(known).toMatch(/Date created<\/dt><dd><time[^>]*>3 May 2024/);
    expect(further).toMatch(/>Plate number<\/dt><dd>7/);
    expect(further).toMatch(new RegExp(`Unheard of</dt><dd><a href="/${ada.id}">`));
  });

  test("is shown as text and never run, however it is nested", async () => {
    const evil = '"><script>alert(1)</script>';
    const id = await create("dataset", {
      name: `Name ${evil}`,
      description: `Description ${evil}`,
      keywords: [evil],
      author: evil,
      license: "javascript:alert(1)",
      url: "javascript:alert(1)",
      [`term ${evil}`]: { [evil]: [evil, { "@id": `javascript:alert(1)//${evil}` }] },
    });
    for (const path of [`/${id}`, `/history/${id}`, `/related/${id}?relation=used_by`]) {
      const text = await page(path);
      expect(text).not.toContain("<script>alert");
      expect(text).not.toMatch(/href="javascript:/);
    }
  });

  test("stays bounded: long texts, lists and documents are cut", async () => {
    const id = await create("dataset", {
      name: "n".repeat(200),
      description: "word ".repeat(20_000),
      keywords: Array.from({ length: 500 }, (_, at) => `keyword ${at}`),
      long: Array.from({ length: 5_000 }, (_, at) => ({ "@id": `https://example.org/${at}` })),
      text: "x".repeat(60_000),
    });
    const answer = await server.request("GET", `/${id}`, { headers: { Accept: "text/html" } });
    expect(answer.status).toBe(200);
    expect(answer.text.length).toBeLessThan(150_000);
    expect(answer.text).toContain("and 4,980 more");
  });
});

describe("the history of a record", () => {
  let id: string;
  beforeAll(async () => {
    id = await create("dataset", { name: "First name", keywords: ["a"] });
    const { body } = await server.request("GET", `/${id}`);
    for (const name of ["Second name", "Third name"])
      await server.request("PUT", `/${id}`, {
        token: ada.token,
        json: { ...body, name, ...(name === "Third name" ? { size: 5 } : {}) },
      });
  });

  test("lists the revisions with who and when, and what the last one changed", async () => {
    const text = await page(`/history/${id}`);
    expect(section(text, "revisions")).toContain("3 revisions");
    expect(section(text, "revisions")).toContain(`href="/${ada.id}"`);
    const differences = section(text, "differences");
    expect(differences).toContain("Second name");
    expect(differences).toContain("Third name");
    expect(differences).toMatch(/<tr class="added">.*Size.*added.*<td>5<\/td>/s);
  });

  test("compares any two revisions", async () => {
    const differences = section(await page(`/history/${id}?from=1&to=3`), "differences");
    expect(differences).toContain("From revision 1 to 3");
    expect(differences).toContain("First name");
    expect(differences).not.toContain("Second name");
    expect(await page(`/history/${id}?from=3&to=2`)).toContain("is not older than revision 2");
  });

  test("leads to each state, whose page says that it is not the current one", async () => {
    expect(section(await page(`/history/${id}`), "revisions")).toContain(
      `href="/${id}?revision=1"`,
    );
    const text = await page(`/${id}?revision=1`);
    expect(text).toContain('<h1 dir="auto">First name</h1>');
    expect(text).toContain("This is revision 1 of 3.");
    expect(await page(`/${id}`)).not.toContain("This is revision");
  });

  test("of a withdrawn record is for those who could change it", async () => {
    const gone = await create("dataset", { name: "Soon withdrawn" });
    await server.request("DELETE", `/${gone}?reason=wrong`, { token: ada.token });
    const headers = { Accept: "text/html" };
    const tombstone = await server.request("GET", `/${gone}`, { headers });
    expect(tombstone.status).toBe(410);
    expect(tombstone.text).toContain("This record was withdrawn");
    expect(tombstone.text).toMatch(/<dt>By<\/dt><dd><a [^>]*>.*?<bdi>Ada<\/bdi><\/a>/);
    expect((await server.request("GET", `/history/${gone}`, { headers })).status).toBe(410);
    const own = await server.request("GET", `/history/${gone}`, { headers, token: ada.token });
    expect(own.status).toBe(200);
    expect(own.text).toContain("Withdrawn");
  });
});
