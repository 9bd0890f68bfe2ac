import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/model/field.js";
import { ARK_PATTERN, inputSchema, withDefaults } from "../../src/model/json-schema.js";
import type { KindName } from "../../src/model/kind.js";
import { KINDS } from "../../src/model/kinds.js";

const VOCABULARIES = { "@vocab": "https://schema.org/", evi: "https://w3id.org/EVI#" };
const COMMON = {
  "@context": VOCABULARIES,
  keywords: [],
  license: " https://creativecommons.org/licenses/by/4.0/",
};
const HELD = ["datasets", "computations", "software", "evidencegraphs", "rocrates"];

/**
 * The contract's tables, kind by kind: what must be a key, what may be null, what is filled in,
 * what is an ARK.
 */
const CONTRACT: [
  kind: KindName,
  required: string[],
  nullable: string[],
  defaults: Record<string, JsonValue>,
  arks: string[],
][] = [
  [
    "user",
    ["email", "password"],
    ["organizations", "projects", ...HELD],
    {
      "@context": VOCABULARIES,
      "@type": "Person",
      organizations: [],
      projects: [],
      datasets: [],
      rocrates: [],
      software: [],
      computations: [],
      evidencegraphs: [],
    },
    [],
  ],
  [
    "group",
    ["name", "description", "owner"],
    ["url", "license"],
    { ...COMMON, "@type": "Organization", members: [] },
    ["owner", "members"],
  ],
  [
    "organization",
    ["name", "description", "owner"],
    ["url", "license", "members", "projects"],
    { ...COMMON, "@type": "Organization", members: [], projects: [] },
    ["owner", "members", "projects"],
  ],
  [
    "project",
    ["name", "description", "owner", "memberOf", ...HELD],
    ["url", "license", ...HELD],
    { ...COMMON, "@type": "Project", members: [] },
    ["owner", "members", "memberOf", ...HELD],
  ],
  [
    "software",
    ["name", "description", "owner"],
    ["url", "license"],
    { ...COMMON, metadataType: "evi:Software", distribution: [], usedBy: [] },
    ["owner", "distribution", "usedBy", "sourceOrganization", "includedInDataCatalog"],
  ],
  [
    "dataset",
    ["@type", "name", "description", "owner"],
    [
      "url",
      "license",
      "distribution",
      "includedInDataCatalog",
      "sourceOrganization",
      "author",
      "dateCreated",
      "dateModified",
      "usedBy",
    ],
    { ...COMMON, distribution: [], usedBy: [] },
    ["owner"],
  ],
  [
    "computation",
    [
      "@type",
      "name",
      "description",
      "owner",
      "author",
      "dateCreated",
      "dateFinished",
      "sourceOrganization",
      "sourceProject",
      "container",
      "command",
      "usedSoftware",
      "usedDataset",
      "containerId",
      "generated",
    ],
    ["url", "license", "dateCreated", "dateFinished", "command", "containerId"],
    COMMON,
    ["owner", "sourceOrganization", "sourceProject"],
  ],
  [
    "evidencegraph",
    ["name", "description", "owner"],
    ["url", "license"],
    { ...COMMON, "@type": "evi:EvidenceGraph" },
    ["owner"],
  ],
  [
    "datadownload",
    [
      "@type",
      "name",
      "description",
      "owner",
      "encodingFormat",
      "contentSize",
      "contentUrl",
      "encodesCreativeWork",
      "sha256",
    ],
    [
      "url",
      "license",
      "contentSize",
      "contentUrl",
      "sha256",
      "uploadDate",
      "version",
      "sourceOrganization",
      "includedInDataCatalog",
    ],
    { ...COMMON, version: "0.1.0" },
    ["owner", "encodesCreativeWork", "sourceOrganization", "includedInDataCatalog"],
  ],
];

describe.each(CONTRACT)(
  "the contract's table of the %s",
  (name, required, nullable, defaults, arks) => {
    const schema = inputSchema(KINDS[name]) as {
      required: string[];
      properties: Record<
        string,
        {
          type?: string | string[];
          anyOf?: { type: string }[];
          pattern?: string;
          items?: { pattern?: string };
        }
      >;
    };
    const fields = Object.entries(schema.properties);

    it("requires its required keys, and no other", () => {
      expect(schema.required.toSorted()).toEqual(required.toSorted());
    });

    it("allows null for nullable keys", () => {
      const may = fields
        .filter(([, field]) =>
          [field.type ?? [], field.anyOf?.map((one) => one.type) ?? []].flat(2).includes("null"),
        )
        .map(([field]) => field);
      expect(may.toSorted()).toEqual(nullable.toSorted());
    });

    it("fills in its defaults, and no other", () => {
      expect(withDefaults(KINDS[name], {})).toEqual(defaults);
    });

    it("requires an ARK where the contract does", () => {
      expect(
        fields
          .filter(([, field]) => (field.pattern ?? field.items?.pattern) === ARK_PATTERN)
          .map(([field]) => field)
          .toSorted(),
      ).toEqual(arks.toSorted());
    });

    it("limits names and descriptions", () => {
      expect(schema.properties["name"]).toMatchObject({ maxLength: 200 });
      if (name !== "user") expect(schema.properties["description"]).toMatchObject({ minLength: 5 });
    });
  },
);

it("Contexts accept strings only, except for users, groups, organizations and data downloads", () => {
  const open = CONTRACT.map(([name]) => name).filter(
    (name) => KINDS[name].fields["@context"]?.json === "object",
  );
  expect(open).toEqual(["user", "group", "organization", "datadownload"]);
});
