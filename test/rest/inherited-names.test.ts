import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FORMATS } from "../../src/services/formats/table.js";
import { fromCsvw } from "../../src/tabular/interchange/csvw.js";
import { fromFrictionless } from "../../src/tabular/interchange/frictionless.js";
import { bodyOf, WRITABLE } from "../support/bodies.js";
import { crate, metadata, RO_CRATE } from "../support/crates.js";
import { Browser } from "../support/browser.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

// Every object of JavaScript inherits members with these names. A table that is asked for one of
// them by a client must not find it.
const NAMES = ["__proto__", "constructor", "toString", "valueOf", "hasOwnProperty"];

let server: TestServer;
let ada: Person;
let browser: Browser;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  browser = await Browser.signIn(server.url, ada);
});
afterAll(() => server.stop());

/** JSON with the names as members, with values that are texts, lists and objects. */
const members = NAMES.flatMap((name, index) => [
  `${JSON.stringify(name)}:${["true", '["a"]', '{"a":"b"}', "5", '"text"'][index]!}`,
  `"evi:${name}":"x"`,
]).join(",");
const withMembers = (body: object): string => `{${members},${JSON.stringify(body).slice(1)}`;
const faults = (): string[] =>
  server.faults.map(({ fields }) => String((fields as { err?: Error }).err?.stack));

async function expectNoFault(path: string, accept: string): Promise<void> {
  const { status } = await server.request("GET", path, {
    headers: { ...browser.headers, Accept: accept },
  });
  expect([path, accept, status < 500, faults()]).toEqual([path, accept, true, []]);
}

describe("members with names that every object inherits", () => {
  it.each(WRITABLE)("are stored and shown in every form of a %s", async (kind) => {
    const body = bodyOf(kind, ada.id);
    const {
      status,
      body: made,
      text,
    } = await server.request("POST", `/${kind}`, {
      token: ada.token,
      headers: { "Content-Type": "application/json" },
      body: withMembers(body),
    });
    expect([200, 422], text).toContain(status);
    if (status !== 200) return;
    const id = String(made["@id"]);
    expect(Object.keys(made), text).toEqual(expect.arrayContaining(["constructor", "toString"]));
    const patched = await server.request("PATCH", `/${id}`, {
      token: ada.token,
      headers: { "Content-Type": "application/merge-patch+json" },
      body: '{"__proto__":"y","constructor":null}',
    });
    expect(patched.status, patched.text).toBeLessThan(500);
    for (const { name: form } of FORMATS) await expectNoFault(`/${id}?format=${form}`, "*/*");
    for (const path of ["", "/history", "/related", "/edit", "/references", "/evidence"])
      await expectNoFault(`/${id}${path}`, "text/html");
    await expectNoFault(`/edit/${id}`, "text/html");
  });

  it("are shown where a crate states them, also as types, media types and file names", async () => {
    const entities = NAMES.map((name) => ({
      "@id": `a.${name}`,
      "@type": ["File", name],
      name,
      encodingFormat: name,
      [`x-${name}`]: name,
    }));
    const files = Object.fromEntries(NAMES.map((name) => [`a.${name}`, "1"]));
    const archive = await crate(entities, files, {
      "@id": "./",
      hasPart: entities.map(({ "@id": id }) => ({ "@id": id })),
    });
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
    const { body, status, text } = await server.request("POST", "/rocrate/upload", {
      token: ada.token,
      body: form,
    });
    expect(status, text).toBeLessThan(500);
    const json = withMembers(metadata([], {}, RO_CRATE));
    for (const path of ["/rocrate/metadata", "/rocrate/validate"]) {
      const answer = await server.request("POST", path, {
        token: ada.token,
        headers: { "Content-Type": "application/json" },
        body: json,
      });
      expect(answer.status, answer.text).toBeLessThan(500);
    }
    if (status === 200)
      for (const path of ["", "/files", "/history"])
        await expectNoFault(`/${String(body["@id"])}${path}`, "text/html");
    expect(faults()).toEqual([]);
  });

  it("are no parameters of pages", async () => {
    for (const name of NAMES)
      for (const path of [
        `/search?q=x&sort=${name}&status=${name}&score=${name}&kind=${name}&format=${name}&by=${name}`,
        `/browse/${name}`,
        `/new/${name}`,
        `/help/${name}`,
        `/my?status=${name}`,
        `/${name}`,
        `/search?${name}=${name}`,
        `/search?q=${name}%3A${name}`,
      ])
        await expectNoFault(path, "text/html");
  });

  it("are no types of columns in schemas of others", () => {
    for (const name of NAMES) {
      const notes: string[] = [];
      const note = (text: string): void => void notes.push(text);
      const csvw = fromCsvw(
        JSON.parse(
          `{"@context":"http://www.w3.org/ns/csvw","url":"a.csv","dialect":{"${name}":1},` +
            `"tableSchema":{"columns":[{"titles":"a","datatype":"${name}"}]}}`,
        ),
        note,
      );
      const table = fromFrictionless({ fields: [{ name: "a", type: name }] }, note);
      for (const { properties } of [csvw, table]) expect(properties["a"]!.type).toBe("string");
    }
  });
});

describe("a path to return to after signing in", () => {
  it.each(["/é", "/x y", "/\u{1f600}?q=ä#ö", "/%zz", "/\r\nX: y"])("may be %j", async (to) => {
    const { status, headers } = await server.request("POST", "/signin", {
      redirect: "manual",
      headers: { Origin: server.url, Accept: "text/html" },
      body: new URLSearchParams({ to, username: ada.email, password: ada.password }),
    });
    expect([status, faults()]).toEqual([303, []]);
    expect(headers.get("location")).toMatch(/^\/[\x21-\x7e]*$/);
  });
});
