import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ValidationError } from "../../../src/errors.js";
import { citationCff } from "../../../src/services/formats/cff.js";
import { croissantText } from "../../../src/services/formats/croissant.js";
import { formatsOf } from "../../../src/services/formats/table.js";
import { viewOf } from "../../../src/services/records/view.js";
import { bodyOf } from "../../support/bodies.js";
import { crate } from "../../support/crates.js";
import { LiveRegistry } from "../../support/live-registry.js";
import type { Json, User } from "../../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
});
afterAll(() => registry?.stop());

/** The refusal of a format, as a client gets it. */
async function refusal(write: () => Promise<unknown>): Promise<ValidationError> {
  const error: unknown = await write().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ValidationError);
  return error as ValidationError;
}

describe("a record that lacks what a format requires", () => {
  it("is answered in every format, or refused with the fields and where to add them", async () => {
    const types = [
      "Dataset",
      "File",
      "SoftwareSourceCode",
      "CreateAction",
      "Person",
      "evi:MLModel",
    ];
    const entities = types.map((type, index) => ({ "@id": `#bare-${index}`, "@type": type }));
    const taken = await registry.take(
      await crate(entities, {}, { "@id": "ark:99999/bare", license: [], description: "" }),
      ada.token,
    );
    const root = taken["rocrateIdentifier"] as string;
    const { body: members } = await registry.ask(`/records?crate=${root}&limit=100`, {
      token: ada.token,
    });
    const arks = [root, ...(members as unknown as Json[]).map((record) => record["@id"] as string)];
    expect(arks.length).toBeGreaterThan(types.length);
    const refused: string[] = [];
    for (const ark of arks) {
      const [record] = await registry.deps.records.findMany([ark]);
      for (const { name } of formatsOf(record!.kind)) {
        const { status, body, text } = await registry.ask(`/${ark}?format=${name}`);
        if (status === 200) continue;
        expect([status, ark, name]).toEqual([422, ark, name]);
        const [{ ctx, loc }] = body["detail"] as [{ ctx: { fields: string[] }; loc: string[] }];
        expect(loc).toEqual(["query", "format"]);
        expect(ctx.fields.length).toBeGreaterThan(0);
        expect(text).toContain("add it to the record, with PATCH or by uploading its crate again");
        refused.push(`${record!.kind} ${name}: ${ctx.fields.join(", ")}`);
      }
    }
    expect(refused).toEqual([
      "rocrate croissant: description, license, author",
      "dataset croissant: description, license, author",
      "software cff: author",
    ]);
  });

  it("is refused as CITATION.cff and Croissant where nobody is known to have made it", async () => {
    const { body } = await registry.ask("/software", {
      token: ada.token,
      body: bodyOf("software", ada.ark, { author: [] }),
    });
    const [record] = await registry.deps.records.findMany([body["@id"] as string]);
    const { deps } = registry;
    // Who registered it is no author.
    expect(record!.owner).toBe(ada.ark);
    const view = await viewOf(deps, record!, null);
    for (const write of [citationCff, croissantText]) {
      const error = await refusal(() => write(deps, view));
      expect(JSON.stringify(error.items)).toContain('"author"');
    }
    await registry.ask(`/${record!.ark}`, {
      method: "PATCH",
      token: ada.token,
      headers: { "Content-Type": "application/merge-patch+json" },
      body: { author: ["Ada Lovelace"] },
    });
    const [named] = await deps.records.findMany([record!.ark]);
    expect(await citationCff(deps, await viewOf(deps, named!, null))).toContain("authors:");
  });

  it("is answered after the fields were added as the refusal says", async () => {
    const taken = await registry.take(
      await crate([], {}, { "@id": "ark:99999/lacking", license: [], description: "" }),
      ada.token,
    );
    const ark = taken["rocrateIdentifier"] as string;
    const before = await registry.ask(`/${ark}?format=croissant`);
    expect(before.status).toBe(422);
    const [{ ctx }] = before.body["detail"] as [{ ctx: { fields: string[] } }];
    const values: Json = {
      description: "Cells of images.",
      license: "https://creativecommons.org/licenses/by/4.0/",
      author: "Ada Lovelace",
    };
    const patched = await registry.ask(`/${ark}`, {
      method: "PATCH",
      token: ada.token,
      headers: { "Content-Type": "application/merge-patch+json" },
      body: Object.fromEntries(ctx.fields.map((field) => [field, values[field]])),
    });
    expect(patched.status, patched.text).toBe(200);
    expect((await registry.ask(`/${ark}?format=croissant`)).status).toBe(200);
  });

  it("is answered 406 where Accept names formats of other kinds only", async () => {
    const { body } = await registry.ask("/project", {
      token: ada.token,
      body: bodyOf("project", ada.ark),
    });
    const answer = await registry.ask(`/${body["@id"] as string}`, {
      headers: { Accept: "application/zip" },
    });
    expect(answer.status).toBe(406);
    expect(answer.text).toContain("application/ld+json");
  });
});
