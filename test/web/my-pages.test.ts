import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { crate } from "../support/crates.js";
import { Reader } from "../support/reader.js";
import { PASSWORD, startServer, type Person, type TestServer } from "../support/server.js";

describe("the pages of one's own work and of administration", () => {
  let server: TestServer;
  let ada: Person;
  let root: Person;
  let reader: Reader;
  const ids: string[] = [];
  beforeAll(async () => {
    server = await startServer();
    root = await server.person("root", { admin: true });
    ada = await server.person("ada");
    await server.person("grace");
    for (let at = 0; at < 20; at++) {
      const { body } = await server.request<{ "@id": string }>("POST", "/dataset", {
        token: ada.token,
        json: { ...bodyOf("dataset", ada.id), name: `Plate ${at}` },
      });
      ids.push(body["@id"]);
    }
    reader = new Reader(server);
    await reader.signIn(ada.email);
  });
  afterAll(() => server.stop());

  test.each([
    "/my",
    "/my/records",
    "/my/uploads",
    "/my/profile",
    "/my/access",
    "/my/groups",
    "/admin",
  ])("%s asks others to sign in, and comes back", async (path) => {
    const { status, location } = await new Reader(server).get(path);
    expect([status, location]).toEqual([302, `/signin?to=${encodeURIComponent(path)}`]);
  });

  test("twenty records are published at once, and one of another owner is refused by name", async () => {
    const { body } = await server.request<{ "@id": string }>("POST", "/dataset", {
      token: root.token,
      json: { ...bodyOf("dataset", root.id), name: "Not Ada's" },
    });
    const answer = await reader.send("/my/records", [
      ["action", "publish"],
      ...[...ids, body["@id"]].map((id): [string, string] => ["id", id]),
    ]);
    expect(answer.text).toContain("20 records published, 1 not.");
    expect(answer.text).toContain(`<a href="/${body["@id"]}">`);
    const read = await server.request("GET", `/${ids[7]}`);
    expect(read.headers.get("x-publication-status")).toBe("PUBLISHED");
  });

  test("records are withdrawn with a reason that readers see, and handed over", async () => {
    await reader.send("/my/records", { action: "withdraw", id: ids[0]!, reason: "Wrong plate" });
    const gone = await reader.get(`/${ids[0]}`);
    expect(gone.status).toBe(410);
    expect(gone.text).toContain("Wrong plate");
    const { body: group } = await server.request<{ "@id": string }>("POST", "/group", {
      token: ada.token,
      json: bodyOf("group", ada.id),
    });
    const moved = await reader.send("/my/records", {
      action: "transfer",
      id: ids[1]!,
      owner: group["@id"],
    });
    expect(moved.text).toContain("1 record handed over.");
    const { body } = await server.request<{ owner: string }>("GET", `/${ids[1]}`);
    expect(body.owner).toBe(group["@id"]);
  });

  test("nothing chosen, no action and an embargo without a date are sentences on the page", async () => {
    expect((await reader.send("/my/records", { action: "publish" })).text).toContain(
      "Choose at least one record first.",
    );
    for (const action of ["none", "embargo"]) {
      const answer = await reader.send("/my/records", { action, id: ids[2]! });
      expect([action, answer.status]).toEqual([action, 422]);
      expect(answer.text).toContain('role="alert"');
    }
  });

  test("an access token is shown once, works, and is revoked", async () => {
    const created = await reader.send("/my/profile", {
      action: "token",
      token: "laptop",
      expires: "",
    });
    const secret = /<pre>|<code>([^<]{20,})<\/code>/.exec(created.text)?.[1];
    expect(secret).toBeDefined();
    const me = () => server.request("GET", "/me", { token: secret! });
    expect((await me()).status).toBe(200);
    const { text } = await reader.get("/my/profile");
    expect(text).toContain('<td data-label="Last used">');
    expect(text).not.toContain(secret);
    const id = /name="id" value="([^"]+)"/.exec(text)![1]!;
    await reader.send("/my/profile", { action: "revoke", id });
    expect((await me()).status).toBe(401);
  });

  test("a name and a password are changed, with faults beside their fields", async () => {
    const wrong = await reader.send("/my/profile", {
      action: "password",
      current: PASSWORD,
      password: "x",
    });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain("field-password-error");
    const saved = await reader.send("/my/profile", {
      action: "profile",
      name: "Ada L.",
      email: ada.email,
    });
    expect(saved.text).toContain("Your profile was saved.");
    const next = "a whole new sentence of words";
    const done = await reader.send("/my/profile", {
      action: "password",
      current: PASSWORD,
      password: next,
    });
    expect(done.status).toBe(303);
    expect((await reader.get("/my")).status).toBe(200);
    expect(await new Reader(server).signIn(ada.email)).toBe(401);
    expect(await new Reader(server).signIn(ada.email, next)).toBe(303);
  });

  test("a group shows its members with role and date, what it owns and who may do what, to others as well", async () => {
    const grace = "ark:99999/user-grace";
    const other = new Reader(server);
    await other.signIn("grace@example.org");
    const empty = await other.get("/my/groups");
    expect(empty.text).toContain("A group owns records together");
    const created = await reader.send("/my/groups", {
      action: "create",
      name: "Imaging",
      description: "Microscopes.",
    });
    const { text } = await reader.get(created.location!);
    expect(text).toContain("was created");
    expect(text).toContain("The group owns no record yet");
    const group = new URLSearchParams(created.location!.split("?")[1]).get("group")!;
    const added = await reader.send("/my/groups", { action: "add", group, user: grace });
    const withGrace = (await reader.get(added.location!)).text;
    expect(withGrace).toMatch(/grace<\/bdi><\/a> is a member of/i);
    expect(withGrace).toMatch(/Remove grace from Imaging\?/i);
    for (const [visibility, name] of [
      ["open", "Plate for all"],
      ["private", "Plate of the group"],
    ])
      await server.request("POST", `/dataset?visibility=${visibility}`, {
        token: root.token,
        json: { ...bodyOf("dataset", group), name },
      });
    const mine = (await reader.get("/my/groups")).text;
    expect(mine).toContain("Plate of the group");
    expect(mine).toMatch(/<strong>2<\/strong> datasets/);
    const forOthers = await new Reader(server).get(`/${group}`);
    const rows = [...forOthers.text.matchAll(/<td class="entry">(.*?)<\/tr>/gs)].map(([row]) =>
      row
        .replace(/<[^>]*>/g, " ")
        .replace(/\s+/g, " ")
        .trim(),
    );
    expect(rows).toEqual([
      expect.stringMatching(/^ada\b.* Owner \d+ \w{3} \d{4}$/i),
      expect.stringMatching(/^grace Member \d+ \w{3} \d{4}$/i),
    ]);
    expect(forOthers.text).toContain("All members may read and change what the group owns");
    expect(forOthers.text).toMatch(/<strong>1<\/strong> dataset</);
    expect(forOthers.text).not.toContain("Plate of the group");
    expect(forOthers.text).not.toContain("Add or remove members");
    const removed = await reader.send("/my/groups", { action: "remove", group, user: grace });
    const without = (await reader.get(removed.location!)).text;
    expect(without).toMatch(/grace<\/bdi><\/a> is no member of/i);
    expect(without).not.toContain(`value="${grace}"`);
    // An address alone claims nothing.
    const claimed = await reader.get(`/my/groups?group=${group}&added=${grace}`);
    expect(claimed.text).not.toContain("is a member of");
  });

  test("a group of thousands of members has its page, without the dates that are too much to read", async () => {
    const members = Array.from({ length: 5_000 }, (_, at) => `ark:99999/user-of-many-${at}`);
    const { body: group } = await server.request<{ "@id": string }>("POST", "/group", {
      token: root.token,
      json: { ...bodyOf("group", root.id), members: [...members, ada.id] },
    });
    for (let at = 0; at < 50; at++)
      await server.request("PATCH", `/group/${group["@id"]}`, {
        token: root.token,
        json: { description: `Version ${at}` },
      });
    const { status, text } = await new Reader(server).get(`/${group["@id"]}`);
    expect(status).toBe(200);
    expect(text).toContain("All members may read");
  });

  test("an administrator disables an account and gives out a reset link that works once", async () => {
    const admin = new Reader(server);
    await admin.signIn(root.email);
    expect((await reader.get("/admin")).status).toBe(403);
    const page = await admin.get("/admin");
    expect(page.text).toContain("grace@example.org");
    const user = "ark:99999/user-grace";
    await admin.send("/admin", { action: "disable", user });
    expect(await new Reader(server).signIn("grace@example.org")).not.toBe(303);
    await admin.send("/admin", { action: "enable", user });
    const { text } = await admin.send("/admin", { action: "reset", user });
    const link = /<pre>([^<]+)<\/pre>/.exec(text)![1]!.replaceAll("&amp;", "&");
    const path = link.slice(server.url.length);
    const token = new URL(link).searchParams.get("token")!;
    const other = new Reader(server);
    expect((await other.get(path)).status).toBe(200);
    const password = "seven quiet green lamps";
    expect((await other.send("/reset", { token, password })).status).toBe(303);
    expect(await new Reader(server).signIn("grace@example.org", password)).toBe(303);
    expect((await new Reader(server).send("/reset", { token, password })).status).toBe(422);
  });

  test("an administrator finds accounts, and sees whose a submission is and the free disk", async () => {
    const admin = new Reader(server);
    await admin.signIn(root.email);
    const id = randomUUID();
    await server.deps.records.submit({
      id,
      type: "crate",
      user: ada.id,
      sha256: "2".repeat(64),
      input: {},
      update: false,
      at: Date.now(),
    });
    const { text } = await admin.get("/admin");
    expect(text).toMatch(/<td data-label="By"><a href="\/ark:99999\/user-ada"/);
    expect(text).toMatch(/<dt>Free on the disk<\/dt><dd>[\d.]+ [KMGT]B/);
    const by = async (user: string) =>
      (await admin.get(`/admin?${new URLSearchParams({ by: user }).toString()}`)).text.includes(
        '<td data-label="By">',
      );
    expect([await by(ada.id), await by(root.id)]).toEqual([true, false]);
    const rows = async (q: string) =>
      [
        ...(await admin.get(`/admin?q=${encodeURIComponent(q)}`)).text.matchAll(
          /[\w.]+@example\.org<\/bdi>/g,
        ),
      ].length;
    expect([await rows("grac"), await rows("grace@example.org"), await rows("grace@")]).toEqual([
      1, 1, 0,
    ]);
    expect((await admin.get("/admin?q=nobody")).text).toContain("Nobody is called so.");
    await server.deps.records.cancelSubmission(id, Date.now());
  });

  test("an administrator cancels a submission that has not ended", async () => {
    const admin = new Reader(server);
    await admin.signIn(root.email);
    const id = randomUUID();
    await server.deps.records.submit({
      id,
      type: "crate",
      user: ada.id,
      sha256: "0".repeat(64),
      input: {},
      update: false,
      at: Date.now(),
    });
    const form = `name="submission" value="${id}"`;
    expect((await admin.get("/admin")).text).toContain(form);
    const answer = await admin.send("/admin", { action: "cancel", submission: id });
    expect(answer.text).toContain("The submission is cancelled.");
    expect((await admin.get("/admin")).text).not.toContain(form);
    expect((await admin.send("/admin", { action: "cancel", submission: id })).status).toBe(422);
  });

  test("an administrator and its uploader retry a failed upload whose archive is stored", async () => {
    const [kept, gone] = [randomUUID(), randomUUID()];
    const staged = await server.deps.objects.stage(Readable.from([await crate([])]));
    await staged.publish();
    for (const [id, sha256] of [
      [kept, staged.sha256],
      [gone, "1".repeat(64)],
    ] as const) {
      await server.deps.records.submit({
        id,
        type: "crate",
        user: ada.id,
        sha256,
        input: {},
        update: false,
        at: Date.now(),
      });
      await server.deps.records.cancelSubmission(id, Date.now());
    }
    const admin = new Reader(server);
    await admin.signIn(root.email);
    for (const [who, path] of [
      [admin, "/admin"],
      [reader, "/my/uploads"],
    ] as const) {
      const { text } = await who.get(path);
      expect(text).toMatch(new RegExp(`value="${kept}"/?><button[^>]*value="retry"`));
      expect(text).not.toContain(`value="${gone}"`);
      expect(text).toContain("The archive is not stored any more");
      expect((await who.send(path, { action: "retry", submission: gone })).status).toBe(422);
    }
    const again = await admin.send("/admin", { action: "retry", submission: kept });
    expect(again.text).toContain("The archive is on its way again");
    const { items } = await server.deps.records.submissionsOf(ada.id, { limit: 1 });
    expect(items[0]).toMatchObject({ user: ada.id, sha256: staged.sha256 });
    expect(items[0]!.id).not.toBe(kept);
    expect((await reader.get(`/upload/${kept}`)).text).toContain("Retry with the same archive");
    // The crate stands there by its name, once it has arrived.
    await expect
      .poll(async () => (await reader.get("/my/uploads")).text)
      .toMatch(/<bdi>A crate<\/bdi>/);
  });

  test("a record is created by a form made from the model, and faults keep what was typed", async () => {
    const wrong = await reader.send("/new/dataset", {
      name: "Typed with care",
      dateCreated: "some day",
    });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('value="Typed with care"');
    expect(wrong.text).toContain('id="field-dateCreated-error"');
    const done = await reader.send("/new/dataset", {
      name: "Typed with care",
      description: "Four hundred fields of view of cultured cells.",
      license: "https://creativecommons.org/licenses/by/4.0/",
      keywords: "cells\nimages",
    });
    expect(done.status).toBe(303);
    const { text } = await reader.get("/my/records");
    expect(text).toContain("Typed with care");
    expect((await reader.get("/new/nothing")).status).toBe(404);
  });

  test.each([
    ["none is stated where none is chosen", "", "", null],
    [
      "the chosen one is stated",
      "https://spdx.org/licenses/MIT",
      "",
      "https://spdx.org/licenses/MIT",
    ],
    ["another one counts instead of the choice", "https://spdx.org/licenses/MIT", " ISC ", "ISC"],
  ])("of licences in a form %s", async (_case, license, otherLicence, expected) => {
    const { status, location } = await reader.send("/new/dataset", {
      name: "Licensed by choice",
      description: "Four hundred fields of view of cultured cells.",
      license,
      otherLicence,
    });
    expect(status).toBe(303);
    const stored = await server.request<{ license: string | null }>("GET", location!);
    expect(stored.body.license).toBe(expected);
  });

  test("the state of the registry is a page for browsers", async () => {
    for (const path of ["/status", "/healthz"])
      expect((await reader.get(path)).text).toContain("All parts work.");
  });
});
