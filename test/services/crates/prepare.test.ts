import { describe, expect, it } from "vitest";
import { kindOfTypes, typeNames } from "../../../src/model/kind.js";
import { CrateError, Findings } from "../../../src/services/crates/findings.js";
import { readLayout, SUMMARIZES } from "../../../src/services/crates/layout.js";
import { locateMetadata } from "../../../src/services/crates/read.js";
import type { ResolvedCrate } from "../../../src/services/crates/steps.js";
import {
  type Entity,
  type Json,
  LIMITS,
  metadata,
  RO_CRATE_ADVICE,
  withoutDescriptors,
} from "../../support/crates.js";
import { resolveHere } from "../../support/resolve-here.js";

const SETTINGS = { limits: LIMITS, naan: "99999", acceptedNaans: "*" };
const file = (name: string, size = 1) => ({ name, size, folder: false });

function prepare(
  files: Record<string, Json>,
  members: string[] = [],
  settings: Partial<typeof SETTINGS> = {},
): ResolvedCrate {
  const bytes = Object.entries(files).map(([name, value]) => ({
    file: name,
    folder: name.slice(0, name.lastIndexOf("/") + 1),
    bytes: Buffer.from(typeof value === "string" ? value : JSON.stringify(value)),
  }));
  return resolveHere(
    bytes,
    [...members.map((name) => file(name)), ...bytes.map(({ file: name }) => file(name))],
    { ...SETTINGS, ...settings },
  );
}
const one = (
  entities: Entity[],
  members: string[] = [],
  root: Entity = {},
  settings: Partial<typeof SETTINGS> = {},
) => prepare({ "ro-crate-metadata.json": metadata(entities, root) }, members, settings);
const errors = (work: () => unknown): string[] => {
  try {
    work();
  } catch (error) {
    if (error instanceof CrateError)
      return error.findings.map(({ code, pointer }) => `${code} ${pointer}`);
    throw error;
  }
  return [];
};
const warnings = ({ findings }: ResolvedCrate) =>
  findings
    .allWarnings()
    .map(({ code }) => code)
    .filter((code) => !RO_CRATE_ADVICE.has(code));

describe("the metadata file", () => {
  const locate = (...files: string[]) => locateMetadata(files, new Findings());
  it("is the shallowest of its name, however deep; deeper ones are nested crates", () => {
    expect(
      locate(
        "a/b/ro-crate-metadata.json",
        "a/b/c/ro-crate-metadata.jsonld",
        "a/b/c/d/ro-crate-metadata.json",
        "x",
      ),
    ).toEqual({
      root: { file: "a/b/ro-crate-metadata.json", folder: "a/b/" },
      nested: [
        { file: "a/b/c/ro-crate-metadata.jsonld", folder: "a/b/c/" },
        { file: "a/b/c/d/ro-crate-metadata.json", folder: "a/b/c/d/" },
      ],
    });
    expect(locate("ro-crate-metadata.jsonld").root.folder).toBe("");
  });
  it("must be present, and once at its depth", () => {
    expect(errors(() => locate("a.txt", "myro-crate-metadata.json"))).toEqual(["NO_METADATA null"]);
    expect(errors(() => locate("a-ro-crate-metadata.json", "b-ro-crate-metadata.json"))).toEqual([
      "AMBIGUOUS_METADATA null",
    ]);
    expect(errors(() => locate("a/ro-crate-metadata.json", "b/ro-crate-metadata.json"))).toEqual([
      "AMBIGUOUS_METADATA null",
    ]);
    expect(
      errors(() =>
        locate("ro-crate-metadata.json", "ro-crate-metadata.jsonld", "x-ro-crate-metadata.json"),
      ),
    ).toEqual([]);
  });
  it("is parsed strictly: each problem has its pointer and place", () => {
    const bad =
      '{"@context": "https://w3id.org/ro/crate/1.1/context",\n "@graph": [{"@id": "x", "n": ' +
      '1e400, "n": 1, "s": "\\u0000"}]}';
    expect(errors(() => prepare({ "ro-crate-metadata.json": bad }))).toEqual([
      "number_precision /@graph/0/n",
      "duplicate_key /@graph/0/n",
      "string_unicode /@graph/0/s",
      "NO_ROOT ",
    ]);
    expect(errors(() => prepare({ "ro-crate-metadata.json": "<html>" }))).toEqual([
      "json_invalid ",
    ]);
    expect(errors(() => prepare({ "ro-crate-metadata.json": "[".repeat(100_000) }))).toEqual([
      "too_deep " + "/0".repeat(200),
    ]);
    expect(errors(() => prepare({ "ro-crate-metadata.json": [] }))).toEqual(["METADATA_SHAPE "]);
  });
  it("may name contexts that are not bundled, with a warning for each", () => {
    const { findings } = prepare({
      "ro-crate-metadata.json": metadata(
        [
          {
            "@id": "#a",
            "@type": "Person",
            "@context": ["https://example.org/context", { "@import": "https://example.org/more" }],
            knows: { "@context": "https://example.org/inner", name: "B" },
          },
        ],
        {},
        [
          "https://w3id.org/ro/crate/1.1/context",
          "https://example.org/context",
          { term: { "@id": "https://example.org/term", "@context": "https://example.org/scoped" } },
        ],
      ),
    });
    const warnings = findings.allWarnings().filter(({ code }) => code === "UNKNOWN_CONTEXT");
    expect(
      warnings.map(({ pointer, message }) => `${pointer} ${/<(.*)>/.exec(message)![1]}`),
    ).toEqual([
      "/@context https://example.org/context",
      "/@context https://example.org/scoped",
      "/@graph/2/@context https://example.org/more",
      "/@graph/2/knows/@context https://example.org/inner",
    ]);
  });
});

describe("the layout", () => {
  it("finds the root through the descriptor, never by position", () => {
    const crate = prepare({
      "ro-crate-metadata.json": {
        "@graph": [
          { "@id": "other/", "@type": "Dataset" },
          { "@id": "my-crate/", "@type": "Dataset", name: "Mine" },
          { "@id": "./ro-crate-metadata.json", about: { "@id": "./my-crate" } },
        ],
      },
    });
    expect(crate.root.parts[0].entity.value["name"]).toBe("Mine");
    expect(crate.entities.map(({ kind }) => kind)).toEqual(["rocrate", "dataset", "entity"]);
    expect(crate.root.ark).toMatch(/^ark:99999\/rocrate-mine-[0-9a-z]{10}$/);
  });
  it(
    "reads the descriptor of RO-Crate 1.0, of a URL, and one that is found by what it " +
      "conforms to",
    () => {
      // Each is the record that `<crate>/ro-crate-metadata.json` names.
      const described = ({ root, entities }: ResolvedCrate) =>
        entities.map(({ ark, role }) =>
          ark === `${root.ark}/ro-crate-metadata.json` || role === "root" ? role : ark,
        );
      for (const id of [
        "ro-crate-metadata.jsonld",
        "https://example.org/crate/ro-crate-metadata.json",
      ])
        expect(
          described(
            prepare({
              "ro-crate-metadata.json": {
                "@graph": [{ "@id": id, about: { "@id": "./" } }, { "@id": "./" }],
              },
            }),
          ),
        ).toEqual(["root", "descriptor"]);
      expect(
        described(
          prepare({
            "ro-crate-metadata.json": {
              "@graph": [
                {
                  "@id": "#d",
                  "@type": "CreativeWork",
                  conformsTo: { "@id": "https://w3id.org/ro/crate/1.1" },
                  about: { "@id": "./" },
                },
                { "@id": "./" },
              ],
            },
          }),
        ),
      ).toEqual(["root", "descriptor"]);
    },
  );
  it("refuses a graph without descriptor, without root, or with a file for a root", () => {
    expect(
      errors(() =>
        prepare({ "ro-crate-metadata.json": { "@graph": [{ "@id": "./", "@type": "Dataset" }] } }),
      ),
    ).toEqual(["NO_ROOT "]);
    expect(
      errors(() =>
        prepare({
          "ro-crate-metadata.json": {
            "@graph": [{ "@id": "ro-crate-metadata.json", about: { "@id": "./" } }],
          },
        }),
      ),
    ).toEqual(["NO_ROOT /@graph/0"]);
    expect(
      errors(() =>
        prepare(
          {
            "ro-crate-metadata.json": {
              "@graph": [
                { "@id": "ro-crate-metadata.json", about: { "@id": "a.txt" } },
                { "@id": "a.txt", "@type": "File" },
              ],
            },
          },
          ["a.txt"],
        ),
      ),
    ).toEqual(["ROOT_NOT_DATASET /@graph/1"]);
    expect(
      errors(() => prepare({ "ro-crate-metadata.json": { "@graph": ["x", { "@id": 5 }] } })),
    ).toEqual(["METADATA_SHAPE /@graph/0", "INVALID_ID /@graph/1/@id", "NO_ROOT "]);
  });
  it("reports what is missing: the graph, the descriptor, or its about", () => {
    const message = (document: object): string => {
      const findings = new Findings();
      readLayout(document as never, { file: "ro-crate-metadata.json", folder: "" }, findings);
      try {
        findings.throwIfErrors();
        return "";
      } catch (error) {
        return (error as CrateError).findings
          .map(({ message: stated, pointer }) => `${pointer} ${stated}`)
          .join();
      }
    };
    expect(message({ "@context": "https://w3id.org/ro/crate/1.1/context" })).toMatch(
      /^ The crate has no `@graph`\. Add one/,
    );
    expect(message({ "@graph": [{ "@id": "./" }] })).toMatch(/Add the descriptor/);
    expect(
      message({
        "@graph": [{ "@id": "./" }, { "@id": "ro-crate-metadata.json", "@type": "CreativeWork" }],
      }),
    ).toMatch(/^\/@graph\/1 The descriptor has no `about`/);
  });
  it("reads the older layout: one object with its own graph", () => {
    const crate = prepare({
      "ro-crate-metadata.json": {
        "@id": "https://fairscape.net/ark:59852/rocrate-1",
        "@type": "Dataset",
        name: "Old",
        isPartOf: [{ "@id": "ark:/Lab", "@type": "Organization", name: "Lab" }],
        "@graph": [{ "@id": "ark:59852/d", metadataType: "https://w3id.org/EVI#Dataset" }],
      },
    });
    expect(crate.root).toMatchObject({ ark: "ark:59852/rocrate-1", kind: "rocrate" });
    expect(crate.entities.map(({ kind }) => kind)).toEqual(["rocrate", "dataset", "entity"]);
  });
  it(
    "leaves objects without @id inside their entity, and accepts an entity without @id " +
      "or @type",
    () => {
      const crate = one([
        { "@id": "#a", "@type": "Person", address: { street: "x", "@type": "PostalAddress" } },
        { name: "nameless" },
      ]);
      expect(withoutDescriptors(crate.entities)).toHaveLength(3);
      expect(warnings(crate)).toEqual(["ID_MISSING"]);
    },
  );
  it("merges one entity of a crate and its nested crate, whose own file describes it", () => {
    const crate = prepare(
      {
        "top/ro-crate-metadata.json": metadata([
          { "@id": "sub/", "@type": "Dataset", name: "from outside" },
          { "@id": "https://orcid.org/1", "@type": "Person", name: "A" },
          { "@id": "#x", name: "outer" },
        ]),
        "top/sub/ro-crate-metadata.json": metadata(
          [
            { "@id": "f.txt", "@type": "File" },
            { "@id": "https://orcid.org/1", "@type": "Person", email: "a" },
            { "@id": "#x", name: "inner" },
          ],
          { name: "from inside" },
        ),
      },
      ["top/sub/f.txt"],
    );
    const sub = crate.entities.find(({ role }) => role === "nestedRoot")!;
    expect(sub.parts.map(({ entity }) => entity.value["name"])).toEqual(["from inside", undefined]);
    expect(
      crate.entities.find(({ role }) => role === "descriptor")!.parts[0].entity.value[SUMMARIZES],
    ).toMatchObject([{ "@id": "sub/", name: "from outside" }]);
    expect(sub).toMatchObject({
      ark: `${crate.root.ark}/sub`,
      kind: "rocrate",
      metadata: "top/sub/ro-crate-metadata.json",
    });
    expect(crate.entities.filter(({ url }) => url)).toHaveLength(1);
    expect(withoutDescriptors(crate.entities)).toHaveLength(6);
    expect(
      crate.entities.filter(({ role }) => role === "descriptor").map(({ ark }) => ark),
    ).toEqual([`${crate.root.ark}/ro-crate-metadata.json`, `${sub.ark}/ro-crate-metadata.json`]);
    expect(
      crate.entities.find(({ ark }) => ark === `${crate.root.ark}/sub/f.txt`)!.file!.file.member,
    ).toBe("top/sub/f.txt");
    expect(warnings(crate)).toEqual([]);
  });
  it(
    "warns about two entities with one @id, counts them, and refuses authorities that " +
      "are not accepted",
    () => {
      expect(
        warnings(
          one([
            { "@id": "#a", name: "1" },
            { "@id": "#a", name: "2" },
          ]),
        ),
      ).toEqual(["DUPLICATE_ENTITY"]);
      expect(
        errors(() => one([{ "@id": "ark:12345/x" }], [], {}, { acceptedNaans: "59852,99999" })),
      ).toEqual(["NAAN_NOT_ACCEPTED /@graph/2"]);
      expect(
        errors(() =>
          one(
            [{ "@id": "#a" }, { "@id": "#b" }],
            [],
            {},
            { limits: { ...LIMITS, MAX_CRATE_ENTITIES: 2 } },
          ),
        ),
      ).toEqual(["TOO_MANY_ENTITIES null"]);
      expect(errors(() => one([{ "@id": "../x", "@type": "File" }]))).toEqual([
        "INVALID_ID /@graph/2",
      ]);
    },
  );
});

describe("the kind of an entity", () => {
  it("follows the order of precedence", () => {
    const kinds = [
      ["ROCrate", "Dataset"],
      ["CreateAction", "File"],
      ["Experiment", "CreateAction"],
      ["Experiment", "File"],
      ["Schema", "Software"],
      ["File", "SoftwareSourceCode"],
      ["MLModel", "Software"],
      ["File", "MLModel"],
      ["Dataset", "MLModel"],
      ["File", "Annotation"],
      ["File", "Dataset"],
      ["Dataset"],
      ["Dataset", "Sample"],
      ["Product", "Sample"],
      ["BioSample"],
      ["Instrument", "Annotation"],
      ["Annotation", "AnnotatedComputation"],
      ["Person"],
      [],
    ].map(kindOfTypes);
    expect(kinds).toEqual([
      "rocrate",
      "computation",
      "computation",
      "experiment",
      "schema",
      "software",
      "software",
      "mlmodel",
      "mlmodel",
      "datadownload",
      "datadownload",
      "dataset",
      "dataset",
      "sample",
      "sample",
      "instrument",
      "annotation",
      "entity",
      "entity",
    ]);
  });
  it("does not depend on prefixes, full IRIs, http or https, and the case of EVI", () => {
    const kind = (type: Json, context?: Json) => kindOfTypes(typeNames({ "@type": type }, context));
    for (const type of [
      "evi:Computation",
      "EVI:Computation",
      "https://w3id.org/EVI#Computation",
      "http://schema.org/CreateAction",
      "schema:ControlAction",
    ])
      expect(kind(type), type).toBe("computation");
    for (const type of ["http://schema.org/MediaObject", "https://schema.org/MediaObject", "File"])
      expect(kind(type), type).toBe("datadownload");
    for (const type of [
      "https://bioschemas.org/ComputationalWorkflow",
      "https://bioschemas.org/terms/ComputationalWorkflow",
      "SoftwareApplication",
    ])
      expect(kind(type), type).toBe("software");
    for (const type of ["http://w3id.org/evi#Experiment", "EVI:Experiment", "Experiment"])
      expect(kind(type), type).toBe("experiment");
    for (const type of [
      "https://w3id.org/EVI#MLModel",
      "https://w3id.org/fair4ml#MLModel",
      "https://w3id.org/fair4ml/MLModel",
      "https://w3id.org/fair4ml/0.1.0#MLModel",
      "fair4ml:MLModel",
    ])
      expect(kind(type), type).toBe("mlmodel");
    for (const type of ["https://bioschemas.org/BioSample", "bioschemas:Sample", "evi:Sample"])
      expect(kind(type), type).toBe("sample");
    expect(kind("https://w3id.org/ldac/terms#Annotation")).toBe("entity");
    expect(kind("my:Run", { my: "https://w3id.org/EVI#", "@vocab": "x:" })).toBe("entity");
    expect(kind("e:Computation", [{ e: "https://w3id.org/EVI#" }])).toBe("computation");
    expect(kind("Run", { Run: "evi:Computation" })).toBe("computation");
    expect(kind("https://example.org/Dataset")).toBe("entity");
    expect(kindOfTypes(typeNames({ metadataType: "https://w3id.org/EVI#Software" }))).toBe(
      "software",
    );
  });
});

describe("the files of entities", () => {
  const matched = (crate: ResolvedCrate) =>
    crate.entities.flatMap(({ file: found }) => (found ? [found.file.member] : []));
  it("are the members that relative ids name, decoded or as written", () => {
    const crate = one(
      [
        { "@id": "a%20b.txt", "@type": "File" },
        { "@id": "100%.txt", "@type": "File" },
        { "@id": "cafe\u0301.txt", "@type": "File" },
        { "@id": "./script.py", "@type": "SoftwareSourceCode" },
      ],
      ["a b.txt", "100%.txt", "caf\u00e9.txt", "script.py", "extra.bin"],
    );
    expect(matched(crate)).toEqual(["a b.txt", "100%.txt", "caf\u00e9.txt", "script.py"]);
    expect(crate.undescribed.map(({ path }) => path)).toEqual(["extra.bin"]);
  });
  it("are the members that contentUrl names for other ids, in every spelling", () => {
    const urls = [
      "data/a.csv",
      "./data/a.csv",
      "file:data/a.csv",
      "file://data/a.csv",
      "file:///data/a.csv",
      "data%2Fa.csv",
    ];
    const crate = one(
      urls.map((contentUrl, n) => ({
        "@id": `ark:59852/d${n}`,
        "@type": "evi:Dataset",
        contentUrl,
      })),
      ["data/a.csv"],
    );
    expect(matched(crate)).toEqual(urls.map(() => "data/a.csv"));
    expect(crate.undescribed).toEqual([]);
  });
  it(
    "are the members that path names where the crate's context makes it an alias of " +
      "contentUrl",
    () => {
      const page = (context: Json, path = "SCREEN/1.jpg") =>
        prepare(
          {
            "ro-crate-metadata.json": metadata(
              [{ "@id": "1.jpg", "@type": "File", path }],
              {},
              context,
            ),
          },
          ["SCREEN/1.jpg"],
        );
      for (const version of ["1.0", "1.1", "1.2", "1.3"])
        expect(
          matched(
            page([`https://w3id.org/ro/crate/${version}/context`, { x: "https://example.org/x" }]),
          ),
          version,
        ).toEqual(["SCREEN/1.jpg"]);
      expect(errors(() => page("https://w3id.org/ro/crate/1.1/context", "SCREEN/2.jpg"))).toEqual([
        "FILE_MISSING /@graph/2",
      ]);
      expect(errors(() => page({ "@vocab": "https://schema.org/" }))).toEqual([
        "FILE_MISSING /@graph/2",
      ]);
      expect(
        errors(() =>
          page(["https://w3id.org/ro/crate/1.1/context", { path: "https://example.org/path" }]),
        ),
      ).toEqual(["FILE_MISSING /@graph/2"]);
    },
  );
  it("must be present for a File with a relative id and no URL", () => {
    expect(errors(() => one([{ "@id": "gone.txt", "@type": "File" }]))).toEqual([
      "FILE_MISSING /@graph/2",
    ]);
    expect(
      errors(() =>
        one([
          { "@id": "gone.txt", "@type": ["http://schema.org/MediaObject", "SoftwareSourceCode"] },
        ]),
      ),
    ).toEqual(["FILE_MISSING /@graph/2"]);
    expect(
      warnings(
        one([
          { "@id": "there.txt", "@type": "File", contentUrl: "https://example.org/there.txt" },
          { "@id": "https://example.org/x", "@type": "File" },
          { "@id": "folder/", "@type": "Dataset" },
        ]),
      ),
    ).toEqual([]);
  });
  it("may be missing where only contentUrl points to them", () => {
    expect(
      warnings(
        one([
          { "@id": "ark:59852/d", "@type": "evi:Dataset", contentUrl: "file:///gone.csv" },
          { "@id": "ark:59852/e", contentUrl: "ftp://x/y" },
        ]),
      ),
    ).toEqual(["FILE_NOT_IN_ARCHIVE"]);
  });
  it("are not required under an embargo", () => {
    const crate = one([
      { "@id": "ark:59852/d", "@type": "evi:Dataset", contentUrl: "Embargoed" },
      { "@id": "late.txt", "@type": "File", contentUrl: "Embargoed" },
    ]);
    expect(withoutDescriptors(crate.entities).map(({ embargoed }) => embargoed)).toEqual([
      false,
      true,
      true,
    ]);
    expect(warnings(crate)).toEqual([]);
  });
});
