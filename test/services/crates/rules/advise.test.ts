import { describe, expect, it } from "vitest";
import { LIMITS, RO_CRATE, metadata, type Entity, type Json } from "../../../support/crates.js";
import { resolveHere } from "../../../support/resolve-here.js";

const SETTINGS = { limits: LIMITS, naan: "99999", acceptedNaans: "*" };
const warningsOf = (document: Json, members: string[] = []) =>
  resolveHere(
    [{ file: "ro-crate-metadata.json", folder: "", bytes: Buffer.from(JSON.stringify(document)) }],
    members.map((name) => ({ name, folder: name.endsWith("/"), size: 1 })),
    SETTINGS,
  ).findings.allWarnings();
/** Advice on a metadata document, as code and pointer; the members are files of the archive. */
const advice = (document: Json, members: string[] = []) =>
  warningsOf(document, members).map(({ code, pointer }) => `${code} ${pointer}`);
const DESCRIPTOR: Entity = {
  "@id": "ro-crate-metadata.json",
  "@type": "CreativeWork",
  about: { "@id": "./" },
  conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
};
const ROOT: Entity = {
  "@id": "./",
  "@type": "Dataset",
  name: "N",
  description: "D",
  license: "L",
  datePublished: "2024-05-03",
};
const graph = (root: Entity, descriptor: Entity = {}, context: Json = RO_CRATE): Json => ({
  "@context": context,
  "@graph": [
    { ...DESCRIPTOR, ...descriptor },
    { ...ROOT, ...root },
  ],
});

describe("advice on RO-Crate", () => {
  it("is not given for a conforming crate, in every version and spelling", () => {
    expect(advice(metadata())).toEqual([]);
    for (const version of ["1.0", "1.1", "1.2", "1.3"])
      expect(
        advice(
          graph(
            {},
            { conformsTo: { "@id": `https://w3id.org/ro/crate/${version}` } },
            `https://w3id.org/ro/crate/${version}/context`,
          ),
        ),
        version,
      ).toEqual([]);
    expect(advice(graph({ hasPart: [{ "@id": "./a b" }] }), ["a b"])).toEqual([]);
  });

  it("is given for a descriptor without its type or version", () => {
    expect(advice(graph({}, { "@type": "Thing" }))).toEqual(["DESCRIPTOR_INCOMPLETE /@graph/0"]);
    expect(advice(graph({}, { conformsTo: { "@id": "https://example.org/mine" } }))).toEqual([
      "DESCRIPTOR_INCOMPLETE /@graph/0",
    ]);
  });

  it("is given for a context of another version", () => {
    expect(advice(graph({}, {}, "https://w3id.org/ro/crate/1.2/context"))).toEqual([
      "CONTEXT_VERSION /@context",
    ]);
    expect(advice(graph({}, {}, { "@vocab": "https://schema.org/" }))).toEqual([]);
    expect(
      advice(
        graph(
          {},
          { conformsTo: { "@id": "https://w3id.org/ro/crate/1.2" } },
          { "@vocab": "https://schema.org/" },
        ),
      ),
    ).toEqual(["CONTEXT_VERSION /@context"]);
    expect(advice({ "@graph": [DESCRIPTOR, ROOT] })).toEqual(["CONTEXT_MISSING "]);
  });

  it("is given for a root without its properties or with an invalid date", () => {
    expect(advice(graph({ license: null, name: "", description: [] }))).toEqual([
      "ROOT_INCOMPLETE /@graph/1",
    ]);
    expect(advice(graph({ "@type": "Thing" }))).toEqual(["ROOT_INCOMPLETE /@graph/1"]);
    expect(advice(graph({ "@id": "crate" }, { about: { "@id": "crate" } }))).toEqual([
      "ROOT_ID /@graph/1",
    ]);
    for (const datePublished of [
      "2024",
      "2024-05",
      "2024-05-03",
      "2024-05-03T08:00:00Z",
      "2024-05-03T08:00:00.123+02:00",
      "2024-05-03T08:00",
    ])
      expect(advice(graph({ datePublished })), datePublished).toEqual([]);
    for (const datePublished of [
      "May 2024",
      "2024-13-01",
      "03.05.2024",
      5,
      "0000",
      "0000-01-01",
      "99999-01-01",
    ])
      expect(advice(graph({ datePublished })), String(datePublished)).toEqual([
        "DATE_INVALID /@graph/1/datePublished",
      ]);
  });

  it("is given for nested or untyped entities, and for ids that are no URIs", () => {
    expect(advice(metadata([{ "@id": "#a b", name: "x" }]))).toEqual([
      "ID_NOT_URI /@graph/2",
      "TYPE_MISSING /@graph/2",
    ]);
    expect(
      advice(metadata([{ "@id": "#a", "@type": "Person", knows: { "@id": "#b", name: "B" } }])),
    ).toEqual(["NOT_FLATTENED /@graph/2/knows"]);
    expect(
      advice(
        metadata([
          { "@id": "#100%", "@type": "Person" },
          { "@id": "#ünï", "@type": "Person" },
        ]),
      ),
    ).toEqual(["ID_NOT_URI /@graph/2"]);
  });

  it(
    "is given for files and folders that are not parts, directly or not, stated from " +
      "either side",
    () => {
      const data: Entity[] = [
        { "@id": "d/", "@type": "Dataset", hasPart: { "@id": "./d/b" } },
        { "@id": "d/b", "@type": "File" },
        { "@id": "c", "@type": "File", isPartOf: { "@id": "./" } },
        { "@id": "e", "@type": "File" },
      ];
      expect(
        advice(metadata(data, { hasPart: [{ "@id": "./d" }] }), ["d/", "d/b", "c", "e"]),
      ).toEqual(["NOT_PART /@graph/5"]);
    },
  );

  it("is given for a folder that has the type File", () => {
    expect(
      advice(metadata([{ "@id": "d/", "@type": "File" }], { hasPart: [{ "@id": "d/" }] }), [
        "d/",
        "d/x",
      ]),
    ).toEqual(["FOLDER_AS_FILE /@graph/2"]);
  });

  it("is given for objects without an @id inside entities, once for a whole file", () => {
    const nested: Entity[] = [
      {
        "@id": "#a",
        "@type": "Person",
        address: { "@type": "PostalAddress", street: { name: "S" } },
        email: { "@value": "a@b.example" },
        knows: [{ "@id": "#b" }],
      },
      { "@id": "#b", "@type": "Person", spoken: { "@list": ["en", "de"] } },
      // A schema of tables is JSON.
      { "@id": "#s", "@type": "evi:Schema", properties: { a: { type: "string" } } },
    ];
    expect(advice(metadata(nested))).toEqual(["NESTED_WITHOUT_ID /@graph/2/address"]);
  });

  it("is given for a text where a reference belongs, once for each property", () => {
    const texts: Entity[] = [
      { "@id": "#a", "@type": "Person", name: "#b", memberOf: "#lab" },
      { "@id": "#lab", "@type": "Organization", member: ["#a", "Somebody"], funder: "" },
      { "@id": "#c", "@type": "Person", memberOf: "#lab" },
      { "@id": "a.csv", "@type": "File", author: "Jane Doe" },
    ];
    expect(advice(metadata(texts, { hasPart: ["a.csv"] }), ["a.csv"])).toEqual([
      "TEXT_AS_REFERENCE /@graph/1/hasPart",
      "TEXT_AS_REFERENCE /@graph/2/memberOf",
      "TEXT_AS_REFERENCE /@graph/3/member",
    ]);
    expect(
      warningsOf(metadata(texts, { hasPart: ["a.csv"] }), ["a.csv"]).map(({ message }) => message),
    ).toContain('The memberOf is the text "#lab" (and 1 more); write a reference, {"@id": …}.');
  });

  it("is given for a conformsTo that names neither a profile nor a version of RO-Crate", () => {
    const profile = { "@id": "https://w3id.org/workflowhub/workflow-ro-crate/1.0" };
    expect(
      advice(
        graph(
          { conformsTo: [profile] },
          { conformsTo: [{ "@id": "https://w3id.org/ro/crate/1.1" }, profile] },
        ),
      ),
    ).toEqual([]);
    expect(
      advice(
        graph(
          {},
          {
            conformsTo: [
              { "@id": "https://w3id.org/ro/crate/1.1" },
              { "@id": "https://w3id.org/ro/crate/9.9" },
            ],
          },
        ),
      ),
    ).toEqual(["CONFORMS_TO_INVALID /@graph/0/conformsTo"]);
    for (const conformsTo of [
      { "@id": "https://w3id.org/ro/crate" },
      { "@id": "a profile" },
      5,
      { "@id": "" },
      { name: "Profile" },
    ] as Json[])
      expect(
        advice(graph({ conformsTo })).filter((finding) => !finding.startsWith("NESTED")),
        JSON.stringify(conformsTo),
      ).toEqual(["CONFORMS_TO_INVALID /@graph/1/conformsTo"]);
    expect(advice(graph({ conformsTo: "https://example.org/profile" }))).toEqual([
      "TEXT_AS_REFERENCE /@graph/1/conformsTo",
    ]);
    expect(
      advice(
        metadata([{ "@id": "#profile", "@type": "CreativeWork" }], {
          conformsTo: { "@id": "#profile" },
        }),
      ),
    ).toEqual([]);
  });

  it("is given for an about that leads to nothing", () => {
    expect(advice(graph({}, { about: [{ "@id": "./" }, { "@id": "gone/" }] }))).toEqual([
      "ABOUT_NOWHERE /@graph/0/about",
    ]);
    expect(
      advice(
        metadata([
          {
            "@id": "#a",
            "@type": "CreativeWork",
            about: [
              { "@id": "#gone" },
              { "@id": "https://example.org/" },
              { "@id": "ro-crate-metadata.json" },
              { "@id": "./" },
            ],
          },
        ]),
      ),
    ).toEqual(["ABOUT_NOWHERE /@graph/2/about"]);
  });

  it("names a missing @graph", () => {
    const { findings } = resolveHere(
      [
        {
          file: "ro-crate-metadata.json",
          folder: "",
          bytes: Buffer.from(JSON.stringify({ ...ROOT, "@context": RO_CRATE })),
        },
      ],
      [],
      SETTINGS,
    );
    expect(findings.allWarnings()).toMatchObject([
      { code: "OLDER_LAYOUT", message: expect.stringContaining("The crate has no @graph") },
    ]);
    expect(() =>
      resolveHere(
        [
          {
            file: "ro-crate-metadata.json",
            folder: "",
            bytes: Buffer.from(JSON.stringify({ "@context": RO_CRATE })),
          },
        ],
        [],
        SETTINGS,
      ),
    ).toThrow("The crate has no `@graph`");
  });

  it("is not given for the missing descriptor of the older layout", () => {
    expect(advice({ ...ROOT, "@context": RO_CRATE, "@graph": [] })).toEqual(["OLDER_LAYOUT "]);
  });
});
