import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { Reader } from "../support/reader.js";
import { startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let [owner, reader, anonymous]: Reader[] = [];
let crate: string;
let file: string;
beforeAll(async () => {
  server = await startServer();
  const ada = await server.person("Ada");
  const bob = await server.person("Bob");
  [owner, reader, anonymous] = [new Reader(server), new Reader(server), new Reader(server)];
  await owner.signIn(ada.email);
  await reader.signIn(bob.email);
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(await buildDemoCrate())]), "crate.zip");
  const { body } = await server.request("POST", "/rocrate/upload", {
    token: ada.token,
    body: form,
  });
  crate = body["@id"] as string;
  file = `${crate}/results/embeddings.csv`;
});
afterAll(async () => {
  expect(server.faults).toEqual([]);
  await server.stop();
});
const textOf = async (who: Reader | undefined, path: string) => (await who!.get(path)).text;
/** The number of the first request that the owner sees. */
const first = async (who: Reader | undefined) =>
  /name="id" value="([\w-]{36})"/.exec(await textOf(who, "/my/access"))![1]!;

describe("a reader who may not have the bytes", () => {
  test("asks on the page of the record, once signed in", async () => {
    const path = `/ask/${crate}`;
    const there = `/signin?to=${encodeURIComponent(path)}`;
    expect(await textOf(anonymous, `/${crate}`)).toContain(
      `<a class="button secondary" href="${there}">Sign in to ask for access</a>`,
    );
    expect((await anonymous!.get(path)).location).toBe(there);
    expect(await textOf(reader, `/${crate}`)).toContain(
      `<a class="button secondary" href="${path}">Ask for access</a>`,
    );
    expect(await textOf(reader, path)).toContain('name="reason"');
    const empty = await reader!.send(path, { reason: " " });
    expect(empty.status).toBe(422);
    expect(empty.text).toContain("Say what you need the content for");
    const long = await reader!.send(path, { reason: "a".repeat(2001) });
    expect(long.text).toContain("Write at most 2000 characters.");
    const { location } = await reader!.send(path, { reason: "To <b>repeat</b> it.\nSoon." });
    expect(location).toBe(`/${crate}`);
    const page = await textOf(reader, `/${crate}`);
    expect(page).toContain("You asked for access on");
    expect(page).not.toContain(">Ask for access</a>");
    expect(await textOf(reader, path)).not.toContain('name="reason"');
    expect((await reader!.send(path, { reason: "Again." })).text).toContain("You have asked");
    expect(await textOf(reader, "/my/access")).toContain("not decided yet");
    // What others asked for is seen by the owner alone.
    for (const who of [anonymous, owner])
      expect(await textOf(who, `/${crate}`)).not.toContain("You asked for access on");
  });

  test("gets them until the owner ends it in My work, and sees why", async () => {
    expect(await textOf(owner, "/my")).toContain("<strong>1</strong> request for access");
    const page = await textOf(owner, "/my/access");
    expect(page).toContain("To &lt;b>repeat&lt;/b> it.");
    expect(page).toContain(">Bob<");
    const id = await first(owner);
    const past = await owner!.send("/my/access", { id, action: "grant", until: "2020-01-01" });
    expect([past.status, past.text.includes("The time has passed")]).toEqual([422, true]);
    const strange = await reader!.send("/my/access", { id, action: "grant" });
    expect([strange.status, strange.text.includes("You may not change")]).toEqual([422, true]);
    await owner!.send("/my/access", {
      id,
      action: "grant",
      until: "2099-06-30",
      message: "Enjoy.",
    });
    const granted = await textOf(reader, `/${crate}`);
    expect(granted).toContain("You have access to the content");
    expect(granted).toContain("Enjoy.");
    expect(granted).toContain(`/rocrate/${crate}?format=zip" download`);
    expect(await textOf(reader, `/${file}`)).toMatch(/<a class="button" href="[^"]*" download>/);
    expect(await textOf(owner, "/my/access")).toContain("Who has access");
    await owner!.send("/my/access", { id, action: "revoke" });
    const ended = await textOf(reader, `/${crate}`);
    expect(ended).toContain("Your access was ended on");
    expect(ended).not.toContain(`/rocrate/${crate}?format=zip" download`);
    expect(await textOf(reader, `/${file}`)).toContain(">Ask for access</a>");
    const soon = await reader!.send(`/ask/${crate}`, { reason: "Again." });
    expect([soon.status, soon.text.includes("you may ask again after")]).toEqual([422, true]);
  });

  test("is declined with a message", async () => {
    await reader!.send(`/ask/${file}`, { reason: "This one only." });
    const id = await first(owner);
    await owner!.send("/my/access", { id, action: "decline", message: "Not before the paper." });
    const page = await textOf(reader, `/${file}`);
    expect(page).toContain("Your request for access was declined on");
    expect(page).toContain("Not before the paper.");
    expect(await textOf(owner, "/my/access")).toContain("Nobody waits for an answer.");
  });
});
