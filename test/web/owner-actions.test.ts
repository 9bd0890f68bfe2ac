import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { bodyOf } from "../support/bodies.js";
import { Reader } from "../support/reader.js";
import { type Person, startServer, type TestServer } from "../support/server.js";

let server: TestServer;
let ada: Person;
let reader: Reader;
beforeAll(async () => {
  server = await startServer();
  ada = await server.person("Ada");
  reader = new Reader(server);
  await reader.signIn(ada.email);
});
afterAll(() => server.stop());

const create = async (
  kind: Parameters<typeof bodyOf>[0],
  more: object,
  owner = ada.id,
): Promise<string> => {
  const { body, text } = await server.request("POST", `/${kind}`, {
    token: ada.token,
    json: { ...bodyOf(kind, owner), ...more },
  });
  expect(body["@id"], text).toBeTypeOf("string");
  return body["@id"] as string;
};
const stateOf = async (id: string) =>
  (await server.deps.records.findMany([id]))[0]!.publicationStatus;
const actions = (text: string): string =>
  /<div class="actions[^"]*">(.*?)<\/header>/s.exec(text)![1]!;
const encoded = (id: string): string => encodeURIComponent(id);

describe("the page of a draft, for its owner", () => {
  test("begins with Publish; other people see no action of an owner", async () => {
    const id = await create("dataset", { name: "A draft" });
    const own = actions((await reader.get(`/${id}`)).text);
    expect(own).toMatch(/^<a class="button" href="\/my\/records\/publish\?id=/);
    for (const label of ["New version", "Edit", "Embargo…", "Archive…", "Hand over…", "Withdraw…"])
      expect(own).toContain(label);
    const { text } = await server.request("GET", `/${id}`, { headers: { Accept: "text/html" } });
    for (const label of ["Publish", "New version", "Withdraw…"])
      expect(actions(text)).not.toContain(label);
  });

  test("publishes after a question, and then shows link, QR code, citation and code", async () => {
    const id = await create("dataset", { name: "To be shown <b>" });
    const asked = await reader.get(`/my/records/publish?id=${encoded(id)}`);
    expect(asked.text).toContain("Everyone may then read their files.");
    expect(asked.text).toContain(`href="/${id}">Back to the record`);
    const done = await reader.send("/my/records", { action: "publish", id, from: id });
    expect(done.status).toBe(303);
    expect(done.location).toMatch(new RegExp(`^/share/${id}\\?done=publish&undo=`));
    const { text } = await reader.get(done.location!);
    expect(text).toContain("is public: everyone may read and download it.");
    expect(text).toContain(`<code>${server.url}/${id}</code>`);
    expect(text).toMatch(/class="qr"[^>]*><svg/);
    expect(text).toContain("[Data set]. Arkgraph.");
    expect(text).toContain(`/evidencegraph/query/${id}?format=badge`);
    expect(text).not.toContain("<b>");
    expect(await stateOf(id)).toBe("PUBLISHED");
  });

  test("leads back from an embargo, and says what was done", async () => {
    const id = await create("dataset", { name: "Later" });
    const done = await reader.send("/my/records", {
      action: "embargo",
      id,
      from: id,
      until: "2999-01-01",
    });
    expect(done.location).toMatch(`/${id}?done=embargo&undo=`);
    expect((await reader.get(done.location!)).text).toContain("The record was embargoed.");
    expect(await stateOf(id)).toBe("EMBARGOED");
  });

  const undoIn = (text: string): Record<string, string> => {
    const [, from, steps] =
      /name="from" value="([^"]*)"\/?>.*?name="steps" value="([^"]*)"/s.exec(text) ?? [];
    expect(from, text).toBeDefined();
    return { action: "undo", from: from!, steps: steps!.replaceAll("&quot;", '"') };
  };

  test("takes an action back, and leads back to the record", async () => {
    const group = await create("group", { name: "Lab of the undone" });
    const recordOf = async (id: string) => (await server.deps.records.findMany([id]))[0]!;
    for (const fields of [
      { action: "publish" },
      { action: "embargo", until: "2999-01-01" },
      { action: "archive", reason: "Wrong plate" },
      { action: "transfer", owner: group },
    ]) {
      const id = await create("dataset", { name: "There and back" });
      const done = await reader.send("/my/records", { ...fields, id, from: id });
      const undo = undoIn((await reader.get(done.location!)).text);
      const undone = await reader.send("/my/records", undo);
      expect([undone.status, undone.location]).toEqual([303, `/${id}?done=undo`]);
      const { text } = await reader.get(undone.location!);
      expect(text).toContain("The record was set back to what it was.");
      expect(text).not.toContain('name="steps"');
      expect(await recordOf(id)).toMatchObject({ publicationStatus: "DRAFT", owner: ada.id });
    }
  });

  test("says before and after that a private record stays open, with no Undo", async () => {
    for (const fields of [{ action: "publish" }, { action: "embargo", until: "2999-01-01" }]) {
      const { body } = await server.request<{ "@id": string }>(
        "POST",
        "/dataset?visibility=private",
        {
          token: ada.token,
          json: bodyOf("dataset", ada.id),
        },
      );
      const id = body["@id"];
      const asked = await reader.get(`/my/records/${fields.action}?id=${encoded(id)}`);
      expect(asked.text).toContain("It is private. Who sees it may cite it");
      const done = await reader.send("/my/records", { ...fields, id, from: id });
      const { text } = await reader.get(done.location!);
      expect(text).toContain("It was private. Who sees it may cite it");
      expect(text).not.toContain('name="steps"');
      // The list has no Undo for it either.
      const { location } = await reader.send("/my/records", {
        action: "archive",
        reason: "x",
        id,
        from: id,
      });
      expect(undoIn((await reader.get(location!)).text)["from"]).toBe(id);
    }
  });

  test("takes a change of its form back, unless somebody was there meanwhile", async () => {
    const id = await create("dataset", { name: "Plate A" });
    const change = async (name: string) => {
      const form = (await reader.get(`/edit/${id}`)).text;
      const expected = /name="expected" value="(\d+)"/.exec(form)![1]!;
      const { location } = await reader.send(`/edit/${id}`, { expected, name });
      return undoIn((await reader.get(location!)).text);
    };
    const nameOf = async () => (await server.request("GET", `/${id}`)).body["name"];
    await reader.send("/my/records", await change("Plate B"));
    expect(await nameOf()).toBe("Plate A");
    const late = await change("Plate C");
    await change("Plate D");
    const { text } = await reader.send("/my/records", late);
    expect(text).toContain("It was changed meanwhile");
    expect(await nameOf()).toBe("Plate D");
  });

  test("offers no Undo that a link from elsewhere brings", async () => {
    const id = await create("dataset", { name: "Not to be opened" });
    const steps = JSON.stringify([{ id, revision: 1, status: "PUBLISHED" }]);
    for (const undo of [steps, `x ${steps}`, " ", `${"A".repeat(43)} ${steps}`]) {
      const query = new URLSearchParams({ done: "archive", undo }).toString();
      const { status, text } = await reader.get(`/${id}?${query}`);
      expect(status).toBe(200);
      expect(text).not.toContain('name="steps"');
    }
  });

  test("shows why an action was refused beside its form", async () => {
    const group = await create("group", { name: "Full lab" });
    await create("dataset", { name: "Of the lab" }, group);
    const answer = await reader.send("/my/records", { action: "withdraw", id: group, from: group });
    expect(answer.status).toBe(422);
    expect(answer.text).toMatch(/role="alert"[^>]*>.*owns 1 record/);
  });

  test("hands over to a group that is chosen by its name", async () => {
    const group = await create("group", { name: "Imaging group" });
    const id = await create("dataset", { name: "Handed over" });
    const asked = await reader.get(`/my/records/transfer?id=${encoded(id)}`);
    expect(asked.text).toContain(`<option value="${group}">Imaging group</option>`);
    await reader.send("/my/records", { action: "transfer", id, from: id, owner: group });
    expect((await server.deps.records.findMany([id]))[0]!.owner).toBe(group);
  });
});

describe("a new version of a record", () => {
  test("has everything of the earlier one, an identifier of its own, and says what it revises", async () => {
    const earlier = {
      name: "Plate 1",
      description: "What was measured.\nSecond line.",
      keywords: ["cells", "two words"],
      license: "https://creativecommons.org/publicdomain/zero/1.0/",
      measurementTechnique: { "@type": "DefinedTerm", name: "Microscopy" },
      variableMeasured: ["area", { "@type": "PropertyValue", name: "intensity" }],
    };
    const from = await create("dataset", earlier);
    const form = (await reader.get(`/new/dataset?from=${encoded(from)}`)).text;
    expect(form).toContain('value="Plate 1"');
    expect(form).toContain("cells\ntwo words");
    expect(form).toContain("What was measured.\nSecond line.");
    const sent = await reader.send(`/new/dataset?from=${encoded(from)}`, {
      from,
      name: "Plate 1, corrected",
      description: earlier.description,
      keywords: earlier.keywords.join("\n"),
      license: earlier.license,
    });
    expect(sent.status, sent.text).toBe(303);
    const id = sent.location!.slice(1);
    expect(id).not.toBe(from);
    const { body } = await server.request("GET", `/${id}`);
    expect(body).toMatchObject({
      ...earlier,
      name: "Plate 1, corrected",
      "prov:wasRevisionOf": { "@id": from },
    });
    expect((await server.request("GET", `/${from}`)).body["name"]).toBe("Plate 1");
  });

  test("of a crate, and of what came with one, is the next version of the crate", async () => {
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(await buildDemoCrate())]), "crate.zip");
    const { body } = await server.request("POST", "/rocrate/upload", {
      token: ada.token,
      body: form,
    });
    const crate = body["@id"] as string;
    for (const id of [crate, `${crate}/results/embeddings.csv`])
      expect(actions((await reader.get(`/${id}`)).text)).toContain(
        `href="/upload?crate=${encoded(crate)}"`,
      );
  });

  test("of another kind than the form is refused", async () => {
    const id = await create("software", { name: "A program" });
    expect((await reader.get(`/new/dataset?from=${encoded(id)}`)).status).toBe(404);
  });
});
