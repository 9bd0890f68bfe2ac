import { describe, expect, it } from "vitest";
import { graphqlSchema } from "../../../src/graphql/schema.js";
import { negotiate } from "../../../src/http/negotiation.js";
import { KIND_NAMES } from "../../../src/model/kind.js";
import { FORMATS, formatsOf } from "../../../src/services/formats/table.js";
import type { GraphQLEnumType } from "graphql";

const named = (accept: string, kind: (typeof KIND_NAMES)[number] = "rocrate"): string =>
  negotiate(accept, undefined, formatsOf(kind)).name;

describe("the table of formats", () => {
  it("names each format once, and tells those of one media type apart", () => {
    expect(new Set(FORMATS.map(({ name }) => name)).size).toBe(FORMATS.length);
    expect(new Set(FORMATS.map(({ label }) => label)).size).toBe(FORMATS.length);
    for (const { name } of FORMATS) expect(name).toMatch(/^[a-z][a-z0-9]*$/);
    const types = FORMATS.map(({ mediaType, profile }) => `${mediaType} ${profile}`);
    expect(types.filter((type, index) => types.indexOf(type) !== index)).toEqual([]);
  });

  it("has for every kind JSON-LD first, and a page", () => {
    for (const kind of KIND_NAMES) {
      expect(formatsOf(kind)[0].name).toBe("jsonld");
      expect(formatsOf(kind).map(({ name }) => name)).toContain("html");
    }
  });

  it("gives GraphQL each format that is text and that no page is", async () => {
    const values = ((await graphqlSchema()).getType("RecordFormat") as GraphQLEnumType).getValues();
    const names = FORMATS.filter(({ name, isBinary }) => !isBinary && name !== "html").map(
      ({ name }) => name,
    );
    // `?info` answers the citation over REST.
    expect(values.map(({ value }) => value as string).toSorted()).toEqual(
      [...names, "erc"].toSorted(),
    );
  });
});

describe("negotiation", () => {
  it("answers each format by its media type and profile", () => {
    for (const { name, mediaType, profile, kinds } of FORMATS) {
      const accept = profile === undefined ? mediaType : `${mediaType};profile="${profile}"`;
      expect(named(accept, kinds?.[0] ?? "dataset")).toBe(name);
    }
  });

  it.each([
    ["application/ld+json", "jsonld"],
    ["application/ld+json;profile=https://w3id.org/ro/crate", "rocrate"],
    [
      'application/ld+json; profile="http://www.w3.org/ns/json-ld#compacted https://w3id.org/ro/crate"; q=0.9',
      "rocrate",
    ],
    ['application/ld+json;profile="http://www.w3.org/ns/json-ld#compacted"', "jsonld"],
    ['application/ld+json;profile="a,b;q=0";q=0.5, text/turtle;q=0.4', "jsonld"],
    ['text/turtle;q=0.2, application/ld+json;profile="https://w3id.org/ro/crate;', "jsonld"],
    ["application/zip", "zip"],
    ["application/zip, */*;q=0.1", "zip"],
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "html"],
    ["text/*", "html"],
    ["*/*;q=0.5, application/n-triples", "ntriples"],
    ["application/json;q=1, application/ld+json;q=0", "json"],
  ])("%s is answered with %s", (accept, name) => {
    expect(named(accept)).toBe(name);
  });

  it("refuses a format that records of the kind do not have", () => {
    expect(() => named("application/zip", "dataset")).toThrow(/supported/);
    expect(() => negotiate(undefined, "zip", formatsOf("dataset"))).toThrow(/'turtle'/);
    expect(named('application/ld+json;profile="https://w3id.org/ro/crate"', "user")).toBe("jsonld");
  });
});
