import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/field.js";
import { normalizeInput, withDefaults, withoutSecrets } from "../../src/model/json-schema.js";
import { publicView } from "../../src/model/kind.js";
import { KINDS } from "../../src/model/kinds.js";

const HOSTILE = '{"__proto__":{"admin":true},"constructor":"x","name":"n","@id":"ark:99999/a"}';

describe("normalizeInput", () => {
  it("stores an owner in the compact form as its identifier", () => {
    const body = {
      name: "n",
      owner: {
        "@id": "ark:99999/user-ada",
        "@type": "Person",
        name: "Ada",
        email: "ada@example.org",
      },
    };
    expect(normalizeInput(KINDS.dataset, body)).toEqual({ name: "n", owner: "ark:99999/user-ada" });
  });

  it.each([
    [{ owner: { name: "Ada" } }],
    [{ owner: { "@id": 5 } }],
    [{ owner: ["ark:99999/a"] }],
    [[1]],
    ["x"],
    [null],
    [undefined],
  ])("leaves %j to validation", (body) => {
    expect(normalizeInput(KINDS.dataset, body)).toBe(body);
  });

  it("leaves a user's owner alone: users have none", () => {
    const body = { owner: { "@id": "ark:99999/a" } };
    expect(normalizeInput(KINDS.user, body)).toBe(body);
  });
});

describe("withDefaults", () => {
  it("adds defaults after the client's keys, context and identifier before them", () => {
    const record = withDefaults(
      KINDS.software,
      { owner: "ark:99999/a", name: "n", keywords: [] },
      "ark:99999/s",
    );
    expect(Object.keys(record)).toEqual([
      "@context",
      "@id",
      "owner",
      "name",
      "keywords",
      "metadataType",
      "license",
      "distribution",
      "usedBy",
    ]);
    expect(record).toMatchObject({
      metadataType: "evi:Software",
      license: " https://creativecommons.org/licenses/by/4.0/",
      distribution: [],
    });
  });

  it("preserves the client's values in their place, also null", () => {
    const record = withDefaults(
      KINDS.dataset,
      { name: "n", "@id": "https://n2t.net/ark:/99999/d", license: null, "@context": { a: "b" } },
      "ark:99999/d",
    );
    expect(Object.keys(record).slice(0, 4)).toEqual(["name", "@id", "license", "@context"]);
    expect(record).toMatchObject({ "@id": "ark:99999/d", license: null, "@context": { a: "b" } });
  });

  it("adds nothing to the statements of a crate", () => {
    expect(withDefaults(KINDS.entity, { "@type": "Person" })).toEqual({ "@type": "Person" });
  });

  it("gives every record defaults of its own", () => {
    (withDefaults(KINDS.dataset, {})["keywords"] as string[]).push("spoilt");
    (withDefaults(KINDS.dataset, {})["@context"] as JsonObject)["spoilt"] = 1;
    expect(withDefaults(KINDS.dataset, {})).toMatchObject({
      keywords: [],
      "@context": { "@vocab": "https://schema.org/", evi: "https://w3id.org/EVI#" },
    });
  });
});

describe("keys that exist on every object", () => {
  it("stay keys of the document", () => {
    const record = withDefaults(
      KINDS.dataset,
      withoutSecrets(KINDS.dataset, JSON.parse(HOSTILE) as JsonObject),
    );
    expect(Object.hasOwn(record, "__proto__")).toBe(true);
    expect(Object.getPrototypeOf(record)).toBe(Object.prototype);
    expect((record as { admin?: unknown }).admin).toBeUndefined();
    expect(record["constructor"]).toBe("x");
  });

  it("are not shown as declared fields of a user", () => {
    expect(publicView(KINDS.user, JSON.parse(HOSTILE) as JsonObject)).toEqual({
      name: "n",
      "@id": "ark:99999/a",
    });
  });
});

it("A password is not stored in a record", () => {
  expect(
    withoutSecrets(KINDS.user, { email: "a@b.c", password: "p", adminToken: "t", extra: 1 }),
  ).toEqual({ email: "a@b.c", extra: 1 });
});
