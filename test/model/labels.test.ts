import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/field.js";
import { labelOf } from "../../src/model/labels.js";

describe("the label of an entity", () => {
  it.each<[string, JsonObject, string | null]>([
    ["its name", { name: ["Cells"] }, "Cells"],
    ["its name without markup", { name: "<i>E. coli</i>" }, "E. coli"],
    [
      "a person's given and family name",
      { "@type": "Person", givenName: "Ella", familyName: "Example" },
      "Ella Example",
    ],
    [
      "a property with its value and unit",
      { "@type": "PropertyValue", propertyID: "Temperature", value: "21.5", unitText: "°C" },
      "Temperature: 21.5 °C",
    ],
    [
      "a named property with its value",
      { "@type": ["PropertyValue"], name: "threshold", value: 0.05 },
      "threshold: 0.05",
    ],
    [
      "a property by the end of its address",
      {
        "@type": "PropertyValue",
        propertyID: "https://vocabulary.example/Mass",
        minValue: 1,
        maxValue: 3,
      },
      "Mass: 1–3",
    ],
    ["a comment's text", { "@type": "Comment", text: "<p>Looks good</p>" }, "Looks good"],
    [
      "a step's place and text",
      { "@type": "HowToStep", position: 1, itemListElement: "Weigh the sample" },
      "1. Weigh the sample",
    ],
    [
      "an action's type and time",
      { "@type": "CreateAction", endTime: "2026-01-02" },
      "Create action, 2 Jan 2026",
    ],
    [
      "an action's time as people write it, in UTC",
      { "@type": "CreateAction", startTime: "2026-01-02T01:05:33.123+02:00" },
      "Create action, 1 Jan 2026, 23:05 UTC",
    ],
    [
      "an action's day where its time is midnight",
      { "@type": "CreateAction", startTime: "2026-01-01T00:00:00Z" },
      "Create action, 1 Jan 2026",
    ],
    [
      "an action's time without a zone as it is stated",
      { "@type": "UpdateAction", endTime: "2026-01-02T14:05" },
      "Update action, 2 Jan 2026, 14:05",
    ],
    [
      "an action's time that is none as it is stated",
      { "@type": "CreateAction", endTime: "2026-99-02T14:05:00Z" },
      "Create action, 2026-99-02T14:05:00Z",
    ],
    ["a label of RDFS", { "rdfs:label": { "@value": "Thing", "@language": "en" } }, "Thing"],
    ["nothing where nothing is said", { "@type": "Thing" }, null],
    [
      "nothing of an identifier",
      { "@type": "Person", "@id": "https://orcid.org/0000-0002-1825-0097" },
      null,
    ],
  ])("is %s", (_, document, label) => {
    expect(labelOf(document)).toBe(label);
  });

  it("is short", () => {
    const label = labelOf({ "@type": "Comment", text: "word ".repeat(100) });
    expect(label!.length).toBeLessThanOrEqual(120);
    expect(label).toMatch(/word…$/);
  });
});
