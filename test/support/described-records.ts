import type { JsonObject, JsonValue } from "../../src/model/field.js";
import { dice, type Dice } from "./dice.js";

const FAMILIES = [
  "Lovelace",
  "García Márquez",
  "O'Neill",
  "Žižek",
  "van Rossum",
  "李",
  "Smith-Jones",
];
const GIVEN = ["Ada", "Grace B.", "Zoë", "J. R. R.", "Ólafur"];
/** Text that is hard for XML, TeX and line formats. */
const HARD = [
  "Cells & <nuclei>",
  "50 % of {all} $x_1^2$",
  'a "quoted" title; with: signs',
  "line\nbreak and\ttab",
  "Ünïcödé — 漢字 🧬",
  "back\\slash ~tilde #hash",
  "]]> --> &amp; &#0;",
  "control \u0001\u000b characters",
  "unbalanced { brace",
];
const LICENCES = [
  "https://creativecommons.org/licenses/by/4.0/",
  "MIT",
  "Ask the authors <first>",
  "https://spdx.org/licenses/Apache-2.0",
];
const DATES = ["2024-05-01", "2024-05", "2024", "2024-05-01T10:00:00Z", "May 1999", "soon"];

const some = <T>(random: Dice, most: number, make: () => T): T[] =>
  Array.from({ length: random.roll(most + 1) }, make);

function author(random: Dice): JsonValue {
  const [family, given] = [random.of(FAMILIES), random.of(GIVEN)];
  return random.of<() => JsonValue>([
    () => `${family}, ${given}`,
    () => `${given} ${family}`,
    () => ({
      "@type": "Person",
      "@id": "https://orcid.org/0000-0002-1825-0097",
      givenName: given,
      familyName: family,
      affiliation: { "@id": "https://ror.org/02mhbdp94", name: `Institute of ${random.of(HARD)}` },
    }),
    () => ({
      "@type": "Organization",
      "@id": "https://ror.org/02mhbdp94",
      name: "Example Laboratory",
    }),
    () => ({ name: random.of(HARD) }),
  ])();
}

/** Members of an entity of a crate, described well, badly and strangely; the same for one seed. */
export function describedEntity(seed: number): JsonObject {
  const random = dice(seed);
  const maybe = (name: string, value: JsonValue): JsonObject =>
    random.once(3) ? {} : { [name]: value };
  return {
    name: `${random.of(HARD)} ${seed}`,
    ...maybe("description", some(random, 3, () => random.of(HARD)).join(" ") || "Described."),
    ...maybe("author", random.once(2) ? author(random) : some(random, 5, () => author(random))),
    ...maybe(
      "publisher",
      random.once(2) ? "FigShare" : { "@id": "https://ror.org/02mhbdp94", name: "R" },
    ),
    ...maybe("datePublished", random.of(DATES)),
    ...maybe("dateCreated", random.of(DATES)),
    ...maybe("dateModified", random.of(DATES)),
    ...maybe("version", random.of(["1.0", "v2 & later", ""])),
    ...maybe("keywords", random.once(2) ? some(random, 4, () => random.of(HARD)) : "a, b; c"),
    ...maybe("license", random.of(LICENCES)),
    ...maybe("inLanguage", random.of(["en", "de-CH", "English"])),
    ...maybe(
      "identifier",
      random.of(["https://doi.org/10.1234/abc<d>", "doi:10.5555/x", "local 7"]),
    ),
    ...maybe("citation", random.of(["https://doi.org/10.1101/2024.11.03", "A paper & more"])),
    ...maybe("isBasedOn", {
      "@id": random.of(["https://example.org/a?b=c&d=<e>", "ark:99999/other"]),
    }),
    ...maybe("contentSize", random.of(["12", "12 KB", "many"])),
    ...maybe("encodingFormat", random.of(["text/csv", "CSV & more"])),
  };
}
