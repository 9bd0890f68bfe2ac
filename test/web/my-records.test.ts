import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bodyOf } from "../support/bodies.js";
import { crate } from "../support/crates.js";
import { Reader } from "../support/reader.js";
import { type Person, startServer, type TestServer } from "../support/server.js";
import { AS_CREATED } from "../../src/services/records/pages.js";

let server: TestServer;
let ada: Person;
let reader: Reader;
let group: string;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("ada");
  reader = new Reader(server);
  await reader.signIn(ada.email);
  group = await create("group", ada.id, { name: "Lab of Ada" });
});
afterAll(() => server.stop());

async function create(kind: "group" | "dataset", owner: string, more: object): Promise<string> {
  const { body } = await server.request<{ "@id": string }>("POST", `/${kind}`, {
    token: ada.token,
    json: { ...bodyOf(kind, owner), ...more },
  });
  return body["@id"];
}
const dataset = (name: string, owner = ada.id) => create("dataset", owner, { name });
const publish = (id: string) =>
  server.request("PUT", "/publish", {
    token: ada.token,
    json: { "@id": id, publicationStatus: "PUBLISHED" },
  });
const state = async (id: string): Promise<string> => {
  const [record] = await server.deps.records.findMany([id]);
  return record!.tombstone ? "withdrawn" : record!.publicationStatus;
};

describe("the page of one's own records", () => {
  test("lists no group, organization or project", async () => {
    await dataset("Something else");
    const { text } = await reader.get("/my/records");
    expect(text).toContain("Something else");
    expect(text).not.toContain(`name="id" value="${group}"`);
  });

  test("does not withdraw a group that owns records, and says what to do", async () => {
    await dataset("Of the lab", group);
    const { text } = await reader.send("/my/records", {
      action: "withdraw",
      id: group,
      reason: "Mistake",
    });
    expect(text).toContain("0 records withdrawn, 1 not.");
    expect(text).toMatch(/owns 1 record.*Hand them over/);
    expect(await state(group)).toBe("DRAFT");
  });

  describe("of two people who act on one choice", () => {
    const hidden = (text: string, name: string): string =>
      new RegExp(`name="${name}" value="([^"]*)"`).exec(text)![1]!;
    const chosen = async (ids: string[], action: string) => {
      const { text } = await reader.send("/my/records", [
        ["choose", action],
        ...ids.map((id): [string, string] => ["id", id]),
      ]);
      return { action, ids: hidden(text, "ids"), revisions: hidden(text, "revisions") };
    };

    test("the second one hears who did what to which records, and acts on the others", async () => {
      const ben = await server.person("ben");
      const shared = await create("group", ada.id, { name: "Two of us", members: [ben.id] });
      const [first, second] = [await dataset("Taken first", shared), await dataset("Free", shared)];
      const form = await chosen([first, second], "embargo");
      await server.request("PUT", "/publish", {
        token: ben.token,
        json: { "@id": first, publicationStatus: "PUBLISHED" },
      });
      const { text } = await reader.send("/my/records", { ...form, until: "2999-01-01" });
      expect(text).toContain("1 record embargoed, 1 not.");
      expect(text.replace(/<[^>]*>/g, "")).toMatch(
        /Not Taken first: ben changed its status on .* UTC: it is public now\. Nothing was done to it\./,
      );
      expect([await state(first), await state(second)]).toEqual(["PUBLISHED", "EMBARGOED"]);
    });

    test("the second one does not publish what the first one withdrew, nor an edit unseen", async () => {
      const [gone, edited] = [await dataset("Withdrawn first"), await dataset("Edited first")];
      const form = await chosen([gone, edited], "publish");
      await server.request("DELETE", `/dataset/${gone}`, { token: ada.token });
      await server.request("PATCH", `/dataset/${edited}`, {
        token: ada.token,
        json: { description: "Other words for the same." },
        headers: { "Content-Type": "application/merge-patch+json" },
      });
      const { text } = await reader.send("/my/records", form);
      expect(text).toContain("0 records published, 2 not.");
      const words = text.replace(/<[^>]*>/g, "");
      expect(words).toMatch(/You withdrew it on .* UTC: it is withdrawn now/);
      expect(words).toMatch(/Not Edited first: You changed it on .* UTC: it is a draft now/);
      expect([await state(gone), await state(edited)]).toEqual(["withdrawn", "DRAFT"]);
    });
  });

  test("asks for a reason before it withdraws what others could read", async () => {
    const [draft, open, next] = [
      await dataset("A draft"),
      await dataset("An open one"),
      await dataset("The next one"),
    ];
    await publish(open);
    const refused = await reader.send("/my/records", [
      ["action", "withdraw"],
      ["id", draft],
      ["id", open],
      ["successor", next],
    ]);
    expect([refused.status, await state(draft), await state(open)]).toEqual([
      422,
      "DRAFT",
      "PUBLISHED",
    ]);
    expect(refused.text).toContain("Give a reason: 1 record of these could be read by others.");
    expect(refused.text).toContain(`value="${next}"`);
    const done = await reader.send("/my/records", [
      ["action", "withdraw"],
      ["id", draft],
      ["id", open],
      ["reason", "Wrong plate"],
      ["successor", next],
    ]);
    expect(done.text).toContain("2 records withdrawn.");
    expect(done.text).toContain(">An open one<");
    const gone = await reader.get(`/${open}`);
    expect(gone.status).toBe(410);
    expect(gone.text).toContain("Wrong plate");
    expect(gone.text).toContain("The next one");
  });

  test("archives what others could read with a reason, and a successor that is an ARK", async () => {
    const [open, next] = [await dataset("To be archived"), await dataset("In its place")];
    await publish(open);
    const archive = (more: Record<string, string>) =>
      reader.send("/my/records", { action: "archive", id: open, ...more });
    expect((await archive({})).text).toContain("Give a reason: 1 record");
    for (const action of ["archive", "withdraw"]) {
      const fields = { action, id: open, reason: "Old", successor: "the next one" };
      const refused = await reader.send("/my/records", fields);
      expect(refused.status).toBe(422);
      expect(refused.text).toContain("Not an ARK");
      expect(refused.text).toContain('value="the next one"');
    }
    expect(await state(open)).toBe("PUBLISHED");
    await archive({ reason: "Old plate", successor: next });
    const { text } = await reader.get(`/${open}`);
    expect(text).toContain("Old plate");
    expect(text).toContain(`href="/${next}"`);
  });

  test("withdraws a draft without a reason", async () => {
    const draft = await dataset("Another draft");
    await reader.send("/my/records", { action: "withdraw", id: draft });
    expect(await state(draft)).toBe("withdrawn");
  });

  test("refuses an embargo that ends in the past", async () => {
    const id = await dataset("Under an embargo");
    const answer = await reader.send("/my/records", { action: "embargo", id, until: "2020-01-01" });
    expect(answer.text).toContain("the end of an embargo lies in the future");
    expect(await state(id)).toBe("DRAFT");
  });
});

describe("the desk", () => {
  const names = (text: string): string[] =>
    [...text.matchAll(/<th scope="row"><a [^>]*><bdi>([^<]*)</g)].map(([, name]) => name!);

  test("finds, narrows and orders, and its order has a direction", async () => {
    for (const name of ["Desk B", "Desk A", "Desk C"]) await dataset(name);
    await create("software" as "dataset", ada.id, { name: "Desk program" });
    const found = await reader.get("/my/records?q=desk&sort=name");
    expect(names(found.text)).toEqual(["Desk A", "Desk B", "Desk C", "Desk program"]);
    expect(found.text).toContain('aria-sort="ascending"');
    const [, narrowed] = /<a href="([^"]*kind=SOFTWARE[^"]*)"/.exec(found.text)!;
    const software = await reader.get(narrowed!.replaceAll("&amp;", "&"));
    expect(names(software.text)).toEqual(["Desk program"]);
    expect(software.text).toContain("Remove this condition");
    const none = await reader.get("/my/records?q=nothingatall");
    expect(none.text).toContain("No record of yours is like that.");
  });

  test("shows the records of a group of mine, and never those of others", async () => {
    await dataset("Only of the lab", group);
    expect(names((await reader.get(`/my/records?of=${group}`)).text)).toContain("Only of the lab");
    const grace = await server.person("grace");
    await server.request("POST", "/dataset", {
      token: grace.token,
      json: { ...bodyOf("dataset", grace.id), name: "Of Grace" },
    });
    expect((await reader.get("/my/records?q=grace")).text).not.toContain(">Of Grace<");
  });

  test("acts on all of a list, over several pages, and on nothing else", async () => {
    const many = 60;
    for (let at = 0; at < many; at++) await dataset(`Swarm ${at}`);
    const other = await dataset("Beside them");
    const list = await reader.get("/my/records?q=swarm");
    expect(list.text).toContain(`Choose all ${many}`);
    const asked = await reader.send("/my/records", {
      choose: "publish",
      all: "yes",
      query: "q=swarm",
    });
    expect(asked.text).toContain(`Publish: ${many} records`);
    expect(asked.text).toContain("and 40 more");
    const [, ids] = /name="ids" value="([^"]*)"/.exec(asked.text)!;
    expect(ids!.split(" ")).toHaveLength(many);
    const done = await reader.send("/my/records", { action: "publish", ids: ids! });
    expect(done.text).toContain(`${many} records published.`);
    expect(await state(other)).toBe("DRAFT");
    expect(await state(ids!.split(" ").at(-1)!)).toBe("PUBLISHED");
  }, 60_000);
});

describe("Undo", () => {
  /** The form that takes an action back, as its answer has it. */
  const stepsIn = (text: string): string =>
    /name="steps" value="([^"]*)"/.exec(text)?.[1]?.replaceAll("&quot;", '"') ?? "";
  const send = (fields: Record<string, string>) => reader.send("/my/records", fields);
  const undo = (text: string) => send({ action: "undo", steps: stepsIn(text) });
  const record = async (id: string) => (await server.deps.records.findMany([id]))[0]!;

  test("sets the status back that each record had, with its reason and its embargo", async () => {
    const [draft, archived, embargoed] = [
      await dataset("Was a draft"),
      await dataset("Was archived"),
      await dataset("Was embargoed"),
    ];
    await send({ action: "archive", id: archived, reason: "Old plate", successor: draft });
    await send({ action: "embargo", id: embargoed, until: "2999-01-01" });
    const done = await send({ action: "publish", ids: [draft, archived, embargoed].join(" ") });
    expect(done.text).toContain("3 records published.");
    const undone = await undo(done.text);
    expect(undone.text).toContain("3 records set back to what they were.");
    expect(undone.text).not.toContain("stay open");
    expect(stepsIn(undone.text)).toBe("");
    expect(await state(draft)).toBe("DRAFT");
    expect(await record(archived)).toMatchObject({
      publicationStatus: "ARCHIVED",
      archived: { reason: "Old plate", successor: draft },
    });
    const { publicationStatus, embargoedUntil } = await record(embargoed);
    expect([publicationStatus, embargoedUntil!.slice(0, 10)]).toEqual(["EMBARGOED", "2999-01-01"]);
  });

  test("leaves what somebody changed meanwhile, and what the action did not change", async () => {
    const [mine, others, before] = [
      await dataset("Only mine"),
      await dataset("Changed by another"),
      await dataset("Public before"),
    ];
    await publish(before);
    const done = await send({ action: "publish", ids: [mine, others, before].join(" ") });
    await server.request("PUT", "/publish", {
      token: ada.token,
      json: { "@id": others, publicationStatus: "ARCHIVED", reason: "Wrong" },
    });
    const undone = await undo(done.text);
    expect(undone.text).toContain("1 record set back to what they were, 1 not.");
    expect(undone.text).toContain("It was changed meanwhile");
    expect([await state(mine), await state(others), await state(before)]).toEqual([
      "DRAFT",
      "ARCHIVED",
      "PUBLISHED",
    ]);
  });

  test("takes back the drafts that a crate published with itself, and no other member", async () => {
    const archive = await crate([
      { "@id": "#a", "@type": "Dataset", name: "Draft of the crate", description: "Cells." },
      { "@id": "#b", "@type": "Dataset", name: "Public of the crate", description: "Cells." },
      { "@id": "#c", "@type": "Person", name: "Josiah Carberry" },
    ]);
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(archive)]), "crate.zip");
    const upload = await server.request("POST", "/rocrate/upload", {
      token: ada.token,
      body: form,
    });
    const ark = upload.body["@id"] as string;
    const members = await server.deps.records.select({
      filter: { crates: [ark] },
      order: AS_CREATED,
      limit: 10,
    });
    const named = (name: string) => members.items.find((item) => item.name === name)!.ark;
    await publish(named("Public of the crate"));
    // A person is no other object.
    const desk = (await reader.get("/my/records?q=Carberry")).text;
    expect(desk).toMatch(
      /Josiah Carberry.*?<span class="kind"><svg class="glyph k-user".*?<\/svg>Person</s,
    );
    const done = await send({ action: "publish", id: ark });
    expect(await state(named("Draft of the crate"))).toBe("PUBLISHED");
    const undone = await undo(done.text);
    expect(undone.text).toContain("Drafts in a crate that had been private stay open");
    expect([
      await state(ark),
      await state(named("Draft of the crate")),
      await state(named("Public of the crate")),
    ]).toEqual(["DRAFT", "DRAFT", "PUBLISHED"]);
  });

  test("hands back what was handed over", async () => {
    const id = await dataset("To the lab and back");
    const done = await send({ action: "transfer", id, owner: group });
    expect((await record(id)).owner).toBe(group);
    await undo(done.text);
    expect((await record(id)).owner).toBe(ada.id);
  });

  test("does nothing for steps that no page has written", async () => {
    for (const steps of ["", "[]", "{", '[{"id":1}]', '[{"id":"ark:99999/x","revision":1}]']) {
      const answer = await send({ action: "undo", steps });
      expect(answer.status, steps).toBeLessThan(500);
      expect(answer.text).not.toContain("set back to what they were.");
    }
    const done = await send({ action: "withdraw", id: await dataset("Gone for good") });
    expect(done.text).not.toContain('name="steps"');
  });
});

describe("keywords and licence of many", () => {
  const stated = async (id: string) => {
    const { body } = await server.request<{ keywords: string[]; license?: string }>(
      "GET",
      `/${id}`,
    );
    return [body.keywords, body.license];
  };
  const MIT = "https://spdx.org/licenses/MIT";

  test("are added and taken out, others stay, and Undo brings back what was", async () => {
    const ids = [
      await create("dataset", ada.id, { name: "Edit A", keywords: ["cells", "old"] }),
      await create("dataset", ada.id, { name: "Edit B", keywords: ["Old", "images"] }),
    ];
    const done = await reader.send("/my/records", {
      action: "edit",
      ids: ids.join(" "),
      add: "plate 7\ncells",
      remove: "old",
      licence: MIT,
    });
    expect(done.text).toContain("2 records changed.");
    expect(await Promise.all(ids.map(stated))).toEqual([
      [["cells", "plate 7"], MIT],
      [["images", "plate 7", "cells"], MIT],
    ]);
    const steps = /name="steps" value="([^"]*)"/.exec(done.text)![1]!.replaceAll("&quot;", '"');
    await reader.send("/my/records", { action: "undo", steps });
    expect((await stated(ids[0]!))[0]).toEqual(["cells", "old"]);
  });

  test("ask for a change, and name the record that is not there", async () => {
    const id = await dataset("Edit C");
    for (const [fields, sentence] of [
      [{}, "Say what to add, to take out, or which licence applies."],
      [{ add: "plate 8", ids: `${id} ark:99999/not-there` }, "1 record changed, 1 not."],
    ] as const) {
      const answer = await reader.send("/my/records", { action: "edit", ids: id, ...fields });
      expect(answer.text).toContain(sentence);
      expect(answer.text).not.toMatch(/String should|patch/);
    }
  });
});

describe("filters that are at hand", () => {
  test("find drafts that nobody changed for 90 days, and records without a licence", async () => {
    const [licensed, bare] = [
      await create("dataset", ada.id, { name: "With terms", license: "CC-BY-4.0" }),
      await create("dataset", ada.id, { name: "Without terms", license: null }),
    ];
    const { text } = await reader.get("/my/records?licence=none&sort=changed");
    expect(text).toContain(`value="${bare}"`);
    expect(text).not.toContain(`value="${licensed}"`);
    expect(text).toContain("Licence: <bdi>none</bdi>");
    expect(text).toContain('href="/my/records?status=DRAFT&amp;unchanged=90"');
    const old = await reader.get("/my/records?status=DRAFT&unchanged=90");
    expect(old.text).toContain("No record of yours is like that.");
    expect((await reader.get("/my/records?unchanged=0")).text).toContain(`value="${bare}"`);
    expect((await reader.get("/my/records?unchanged=-1")).status).toBe(400);
  });
});

describe("the members of a group", () => {
  const account = async (name: string, email: string): Promise<string> => {
    const json = { name, email, password: "correct horse battery staple" };
    const { status, text, body } = await server.request("POST", "/user", { json });
    expect(status, text).toBe(200);
    return body["@id"] as string;
  };
  const panel = (text: string): string =>
    text.split("</article>").find((part) => part.includes("Lab of Ada"))!;

  test("are added by name, by e-mail address, and by a suggestion", async () => {
    await account("Hedy Lamarr", "hedy@example.org");
    const add = (user: string) => reader.send("/my/groups", { action: "add", group, user });
    expect((await add("Hedy Lamarr")).status).toBe(303);
    expect(panel((await reader.get("/my/groups")).text)).toContain("Hedy Lamarr");
    const rosalind = await account("Rosalind Franklin", "rosalind@example.org");
    expect((await add("Rosalind@Example.org")).status).toBe(303);
    expect(panel((await reader.get("/my/groups")).text)).toContain(rosalind);
    const other = await account("Emmy Noether", "emmy@example.org");
    expect((await add(`Emmy Noether ${other}`)).status).toBe(303);
    const { text } = await reader.get("/my/groups");
    expect(panel(text)).toContain("Emmy Noether");
  });

  test("are found by e-mail address by callers who signed in, and by nobody else", async () => {
    const { id, email } = await server.person("lise");
    const query = "query ($email: String!) { userByEmail(email: $email) { id } }";
    const find = async (variables: object, token?: string) => {
      const { body } = await server.request("POST", "/graphql", {
        json: { query, variables },
        ...(token === undefined ? {} : { token }),
      });
      return body as { data: unknown; errors?: { extensions: { code: string } }[] };
    };
    expect((await find({ email })).errors?.[0]?.extensions.code).toBe("NOT_AUTHENTICATED");
    expect((await find({ email }, ada.token)).data).toEqual({ userByEmail: { id } });
    for (const part of ["lise", "lise@", "%", `${email}x`])
      expect((await find({ email: part }, ada.token)).data).toEqual({ userByEmail: null });
  });

  test("say what to do about a name that nobody has, or several people", async () => {
    await account("Two of one name", "one@example.org");
    await account("Two of one name", "two@example.org");
    for (const [user, sentence] of [
      ["Nobody at all", "Nobody here is called “Nobody at all”"],
      ["nobody@example.org", "Nobody here has the e-mail address “nobody@example.org”"],
      ["@example.org", "Nobody here"],
      ["Two of one name", "Several people are called so"],
      [`<script>${"x".repeat(10_000)}`, "Nobody here is called"],
      ["ark:99999/nobody-here", "ark:99999/nobody-here"],
    ]) {
      const { status, text } = await reader.send("/my/groups", {
        action: "add",
        group,
        user: user!,
      });
      expect(status).toBe(422);
      expect(text).toContain(sentence);
      expect(text).not.toMatch(/String should|match pattern|<script>x/);
    }
  });
});
