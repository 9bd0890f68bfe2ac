import { describe, expect, it } from "vitest";
import {
  isHiddenProperty,
  quadsWithoutPeople,
  withoutContacts,
  withoutPeople,
} from "../../../src/services/access/anonymous.js";
import { AS_CREATED } from "../../../src/services/records/pages.js";
import type { RecordStore, StoredRecord } from "../../../src/storage/records/port.js";
import { AnonymousReads } from "../../../src/services/access/anonymous-store.js";
import { STATED_AUTHORS } from "../../../src/services/formats/agents.js";

describe("a property that names people", () => {
  it.each([
    "author",
    "schema:creator",
    "http://schema.org/contributor",
    "runBy",
    "firstAuthor",
    "corresponding_author",
    "contact-email",
    "Principal Investigator",
    "creatorName",
    "https://example.org/terms#depositor",
    ...STATED_AUTHORS,
    "subjectOf",
    "dataGovernanceCommittee",
    "ethicalReview",
    "dct:rightsHolder",
    "pav:authoredBy",
    "foaf:maker",
    "employer",
    "parentOrganization",
    "address",
    "url",
    "editors",
    "annotators",
    "dataCollectors",
    "funded_by",
    "sponsorName",
    "grantNumber",
    "labName",
    "credits",
    "projectName",
    "supervisor",
  ])("%s is hidden", (name) => expect(isHiddenProperty(name)).toBe(true));

  it.each([
    "name",
    "usedDataset",
    "generatedBy",
    "usedBy",
    "executesLabProtocol",
    "authority",
    "by",
    "hadMember",
    "numberOfParticipants",
    "sampleHolder",
    "contentUrl",
  ])("%s is shown", (name) => expect(isHiddenProperty(name)).toBe(false));

  it.each(["Person", "schema:Hospital", "NGOrganisation", "Consortium", "SportsTeam", "Role"])(
    "and an entity of type %s are hidden",
    (type) => {
      const entity = { "@id": "#it", "@type": ["Thing", type], name: "Jane" };
      expect(withoutPeople({ name: "Cells", about: [entity] }, () => false)).toEqual({
        name: "Cells",
        about: [],
      });
    },
  );

  it("is hidden where it is an entity with name and value", () => {
    const property = (name: string, value: string) => ({ "@type": "PropertyValue", name, value });
    const shown = withoutPeople(
      {
        name: "Cells",
        additionalProperty: [
          property("First author", "Jane Doe"),
          { ...property("1", "Jane Doe"), propertyID: "author" },
          property("Temperature", "21 °C"),
        ],
      },
      () => false,
    );
    expect(shown["additionalProperty"]).toEqual([property("Temperature", "21 °C")]);
    const line = (subject: string, predicate: string, object: string) =>
      `<ark:99999/x${subject}> <http://schema.org/${predicate}> ${object} <ark:99999/x> .\n`;
    const quads =
      line("", "additionalProperty", "<ark:99999/x#genid-1>") +
      line("#genid-1", "name", '"First author"') +
      line("#genid-1", "value", '"Jane Doe"') +
      line("", "name", '"Authors of cells"');
    expect(quadsWithoutPeople(quads, () => false)).toBe(line("", "name", '"Authors of cells"'));
  });
});

describe("contacts within a text", () => {
  it.each([
    ["Ask jane.doe+lab@example.org for it", "Ask [hidden] for it"],
    ["<mailto:jane@example.org>", "<[hidden]>"],
    ["josé@exämple.org, 李雷@例子.公司", "[hidden], [hidden]"],
    ["o'neil@mail.example.co.uk.", "[hidden]."],
    ["https://orcid.org/0000-0002-1825-0097", "[hidden]"],
    ["ORCID: 0000-0002-1694-233X;", "ORCID: [hidden];"],
    ["5 @ 20 °C, x@y", "5 @ 20 °C, x@y"],
  ])("%s", (text, shown) => {
    expect(withoutContacts(text)).toBe(shown);
  });

  it("are found in time that grows with the text", () => {
    for (const run of ["a", "a.", "a@", "a@a.", "0000-"]) {
      const text = run.repeat(1_000_000 / run.length);
      expect(withoutContacts(`${text} jane@example.org`).endsWith(" [hidden]")).toBe(true);
    }
  });
});

describe("a list of a store without names", () => {
  const recordOf = (ark: string, kind: StoredRecord["kind"]) =>
    ({
      ark,
      kind,
      name: ark,
      document: Buffer.from("{}"),
      tombstone: null,
    }) as unknown as StoredRecord;
  const all = [recordOf("ark:99999/user-a", "user"), recordOf("ark:99999/data", "dataset")];
  const listed = new AnonymousReads({
    select: async ({ after = "0", limit }) => {
      const [begin, end] = [Number(after), Number(after) + limit];
      const items = all.slice(begin, end);
      return { items, positions: items.map((_, at) => `${begin + at + 1}`), more: end < 2 };
    },
  } as RecordStore).reads().select!;

  it("goes on behind a page of hidden records", async () => {
    const page = await listed({ filter: {}, order: AS_CREATED, limit: 1 });
    expect(page.items.map(({ ark }) => ark)).toEqual(["ark:99999/data"]);
    expect([page.positions, page.more]).toEqual([["2"], false]);
  });

  it("reads no further where no records are asked for", async () => {
    expect(await listed({ filter: {}, order: AS_CREATED, limit: 0 })).toEqual({
      items: [],
      positions: [],
      more: true,
    });
  });
});
