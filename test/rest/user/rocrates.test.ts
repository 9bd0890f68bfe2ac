import { afterAll, beforeAll, expect, test } from "vitest";
import { crate } from "../../support/crates.js";
import { startServer, type Person, type TestServer } from "../../support/server.js";

let server: TestServer;
let ada: Person;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
});
afterAll(() => server.stop());

async function upload(archive: Buffer, query = ""): Promise<string> {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
  const { status, text, body } = await server.request<{ "@id": string }>(
    "POST",
    `/rocrate/upload${query}`,
    { token: ada.token, body: form },
  );
  expect(status, text).toBe(200);
  return body["@id"];
}
const user = async () => server.request<{ rocrates: string[] }>("GET", `/user/${ada.id}`);

test(
  "crates that a user uploaded are among the user's rocrates, whatever changed since, " +
    "until they are deleted",
  async () => {
    const before = (await user()).headers.get("etag");
    const file = { "@id": "a.csv", "@type": "File", name: "A" };
    const id = "ark:99999/rocrate-mine";
    const first = await upload(await crate([file], { "a.csv": "a" }, { "@id": id }));
    const second = await upload(await crate([{ ...file, name: "B" }], { "a.csv": "b" }));
    expect((await user()).body.rocrates).toEqual([first, second]);
    expect((await user()).headers.get("etag")).not.toBe(before);

    await upload(
      await crate([file], { "a.csv": "c" }, { "@id": id, name: "Updated" }),
      "?update=true",
    );
    expect((await user()).body.rocrates).toEqual([first, second]);
    const { body } = await server.request("GET", `/${second}`);
    const replaced = await server.request("PUT", `/${second}`, {
      token: ada.token,
      json: { ...body, name: "Replaced" },
    });
    expect([replaced.status, replaced.body["name"]]).toEqual([200, "Replaced"]);
    await server.request("PUT", "/publish", {
      token: ada.token,
      json: { "@id": second, publicationStatus: "PUBLISHED" },
    });
    expect((await user()).body.rocrates.toSorted()).toEqual([first, second].toSorted());

    await server.request("DELETE", `/${first}`, { token: ada.token });
    expect((await user()).body.rocrates).toEqual([second]);
  },
);

test("a crate that was updated without a change is listed once", async () => {
  const carol = await server.person("carol");
  const form = new FormData();
  const archive = await crate([], {}, { "@id": "ark:99999/rocrate-carol" });
  form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
  await server.request("POST", "/rocrate/upload", { token: carol.token, body: form });
  await server.request("POST", "/rocrate/upload?update=true", { token: carol.token, body: form });
  expect((await server.request("GET", `/user/${carol.id}`)).body["rocrates"]).toEqual([
    "ark:99999/rocrate-carol",
  ]);
});
