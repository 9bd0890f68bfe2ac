import { describe, expect, it } from "vitest";
import { EntityIds } from "../../../src/identifiers/entity-ids.js";
import { mergeEntities } from "../../../src/services/crates/identifiers/rewrite.js";

const CRATE = "ark:99999/rocrate-x";
const ark = (id: string, folder = "") => {
  const found = new EntityIds(CRATE).of(id, folder);
  return "ark" in found ? found.ark : found.rule;
};

describe("identifiers of a crate's entities", () => {
  it("preserve an ARK in any spelling, whatever its authority", () => {
    for (const id of [
      "ark:59852/Data-1",
      "ark:/59852/Data-1",
      "https://fairscape.net/ark:59852/Data-1",
      "ARK:59852/Data-1/",
    ])
      expect(ark(id)).toBe("ark:59852/Data-1");
  });

  it("put a relative path below the crate, with its percent-encoding", () => {
    expect(ark("data/a.csv")).toBe(`${CRATE}/data/a.csv`);
    expect(ark("./data/")).toBe(`${CRATE}/data`);
    expect(ark("pics/2017-06-11%2012.56.14.jpg")).toBe(`${CRATE}/pics/2017-06-11%2012.56.14.jpg`);
    expect(ark("with spaces.txt")).toBe(`${CRATE}/with%20spaces.txt`);
    expect(ark("100%.txt")).toBe(`${CRATE}/100%25.txt`);
    expect(ark("a\\b?.txt")).toBe(`${CRATE}/a%5Cb%3F.txt`);
    expect(ark("dots...")).toBe(`${CRATE}/dots%2E%2E%2E`);
    expect(ark("ü.txt")).toBe(`${CRATE}/ü.txt`);
    expect(ark("a.csv", "sub/")).toBe(`${CRATE}/sub/a.csv`);
    expect(ark("./", "sub/")).toBe(`${CRATE}/sub`);
    expect(ark("./")).toBe(CRATE);
    expect(ark("../a.csv")).toBe("refused");
    expect(ark("a/../../b")).toBe("refused");
  });

  it("mint one from words and a hash for fragments, blank nodes and other schemes", () => {
    expect(ark("#SepiaConversion_1")).toMatch(
      /^ark:99999\/rocrate-x\/entity\/sepiaconversion-1-[0-9a-f]{8}$/,
    );
    for (const id of [
      "_:b0",
      "urn:uuid:1",
      "arcp://name,x/",
      "packed.cwl#main/input",
      "mailto:a@b.c",
      "ark:/Ideker_Lab",
      "#é",
    ])
      expect(ark(id)).toMatch(/^ark:99999\/rocrate-x\/entity\/[a-z0-9-]*[0-9a-f]{8}$/);
    expect(ark("#x")).not.toBe(ark("#x", "sub/"));
    expect(ark("urn:x:1")).toBe(ark("urn:x:1", "sub/"));
  });

  it("mint a record of the crate for a URL, and preserve the URL", () => {
    const found = new EntityIds(CRATE).of("https://orcid.org/0000-0001-9842-9718", "");
    expect(found).toMatchObject({ rule: "url", url: "https://orcid.org/0000-0001-9842-9718" });
    expect(found).toHaveProperty(
      "ark",
      expect.stringMatching(/\/entity\/orcid-org-0000-0001-9842-9718-[0-9a-f]{8}$/),
    );
  });

  it("distinguish ids with the same words", () => {
    const ids = new EntityIds(CRATE);
    const arks = Array.from({ length: 5000 }, (_, n) => ids.of(`#${"?".repeat(n + 1)}`, "")).map(
      (id) => (id as { ark: string }).ark,
    );
    expect(new Set(arks).size).toBe(5000);
  });
});

describe("entities with one identifier", () => {
  it(
    "are merged as by JSON-LD flattening: values united, equal ones once, the first " +
      "statement first",
    () => {
      expect(
        mergeEntities([
          { "@id": "x", "@type": ["File"], name: "a", size: null, part: { "@id": "p" } },
          {
            "@id": "x",
            "@type": "Dataset",
            name: "b",
            size: 3,
            part: [{ "@id": "p" }, { "@id": "q" }],
            more: [],
          },
        ]),
      ).toEqual({
        "@id": "x",
        "@type": ["File", "Dataset"],
        name: ["a", "b"],
        size: 3,
        part: [{ "@id": "p" }, { "@id": "q" }],
        more: [],
      });
    },
  );
});
