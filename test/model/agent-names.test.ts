import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/field.js";
import { isIdentifier, nameOf, nameOfAgent, namesIn } from "../../src/model/agent-names.js";
import { cpuTimeOf } from "../support/cpu.js";

/**
 * Names as authors write them, and what comes of each: `O` an organization, `P` a person, `?` not
 * certain; a name that is taken apart as `family | given`, one that stays whole as it is.
 */
const TABLE: readonly (readonly [text: string, ...names: string[]])[] = [
  // Organizations, which hold "and", commas and particles.
  [
    "National Museum of Natural History and Science",
    "O National Museum of Natural History and Science",
  ],
  ["LHCb Collaboration", "O LHCb Collaboration"],
  ["Deutsches Zentrum für Luft- und Raumfahrt", "O Deutsches Zentrum für Luft- und Raumfahrt"],
  ["ACME, Inc.", "O ACME, Inc."],
  ["World Health Organization", "O World Health Organization"],
  ["European Commission", "O European Commission"],
  ["U.S. Geological Survey", "O U.S. Geological Survey"],
  ["Royal Botanic Gardens", "O Royal Botanic Gardens"],
  ["Royal Botanic Gardens, Kew", "O Royal Botanic Gardens, Kew"],
  ["Musée du Louvre", "O Musée du Louvre"],
  ["Ministry of Health and Social Care", "O Ministry of Health and Social Care"],
  ["Smith and Sons Ltd", "O Smith and Sons Ltd"],
  ["Smith, Jones and Partners", "O Smith, Jones and Partners"],
  ["Max-Planck-Institut für Informatik", "O Max-Planck-Institut für Informatik"],
  ["Max Planck Institute", "O Max Planck Institute"],
  ["University of Virginia", "O University of Virginia"],
  ["Université de Montréal", "O Université de Montréal"],
  ["Universidad Nacional Autónoma de México", "O Universidad Nacional Autónoma de México"],
  ["Universität Zürich", "O Universität Zürich"],
  ["Uniwersytet Jagielloński", "O Uniwersytet Jagielloński"],
  ["Karlova univerzita", "O Karlova univerzita"],
  ["Technische Hochschule Köln", "O Technische Hochschule Köln"],
  ["École Polytechnique Fédérale de Lausanne", "O École Polytechnique Fédérale de Lausanne"],
  ["Consiglio Nazionale delle Ricerche", "O Consiglio Nazionale delle Ricerche"],
  ["Instituto de Salud Carlos III", "O Instituto de Salud Carlos III"],
  ["Fundação Oswaldo Cruz", "O Fundação Oswaldo Cruz"],
  ["Rijksmuseum", "O Rijksmuseum"],
  ["Statens Serum Institut", "O Statens Serum Institut"],
  [
    "Centre national de la recherche scientifique",
    "O Centre national de la recherche scientifique",
  ],
  ["Department of Physics, University of Oslo", "O Department of Physics, University of Oslo"],
  ["1000 Genomes Project Consortium", "O 1000 Genomes Project Consortium"],
  ["The Cancer Genome Atlas Research Network", "O The Cancer Genome Atlas Research Network"],
  ["Allen Institute for AI", "O Allen Institute for AI"],
  ["Broad Institute", "O Broad Institute"],
  ["Ada Lovelace Institute", "O Ada Lovelace Institute"],
  ["Marie Curie Hospital", "O Marie Curie Hospital"],
  ["Wellcome Trust Sanger Institute", "O Wellcome Trust Sanger Institute"],
  ["Bill and Melinda Gates Foundation", "O Bill and Melinda Gates Foundation"],
  ["Woods Hole Oceanographic Institution", "O Woods Hole Oceanographic Institution"],
  ["Jet Propulsion Laboratory", "O Jet Propulsion Laboratory"],
  ["Bundesamt für Naturschutz", "O Bundesamt für Naturschutz"],
  ["Rechtsanwalt Müller GmbH", "O Rechtsanwalt Müller GmbH"],
  ["Novartis AG", "? Novartis AG"],
  ["Siemens S.A.", "O Siemens S.A."],
  [
    "Nederlandse Organisatie voor Wetenschappelijk Onderzoek",
    "O Nederlandse Organisatie voor Wetenschappelijk Onderzoek",
  ],
  ["Lovelace Lab", "O Lovelace Lab"],
  ["Hopper Group", "O Hopper Group"],
  ["Galaxy Team", "O Galaxy Team"],
  ["Galaxy Project", "O Galaxy Project"],
  ["Bioconductor Core Team", "O Bioconductor Core Team"],
  ["ENCODE Consortium", "O ENCODE Consortium"],
  ["Global Biodiversity Information Facility", "O Global Biodiversity Information Facility"],
  ["United Nations", "O United Nations"],
  ["Academia Sinica", "O Academia Sinica"],
  ["Kementerian Kesehatan", "O Kementerian Kesehatan"],
  ["東京大学", "O 東京大学"],
  ["国立研究開発法人理化学研究所", "O 国立研究開発法人理化学研究所"],
  ["中国科学院", "O 中国科学院"],
  ["서울대학교", "O 서울대학교"],
  ["Московский государственный университет", "O Московский государственный университет"],
  ["Εθνικό Μουσείο", "O Εθνικό Μουσείο"],
  ["جامعة القاهرة", "O جامعة القاهرة"],
  ["Authors of the study", "O Authors of the study"],
  ["Galaxy contributors", "O Galaxy contributors"],
  // Not certain: whole, and of no kind.
  ["Plato", "? Plato"],
  ["NASA", "? NASA"],
  ["CERN", "? CERN"],
  ["GenBank", "? GenBank"],
  ["OpenAI", "? OpenAI"],
  ["Red Hat", "? Red Hat"],
  ["Google Brain", "? Google Brain"],
  ["Health Canada", "? Health Canada"],
  ["Stack Overflow", "? Stack Overflow"],
  ["Johnson & Johnson", "? Johnson & Johnson"],
  ["Marks and Spencer", "? Marks and Spencer"],
  ["Natural History", "? Natural History"],
  ["Friends of Ada", "? Friends of Ada"],
  ["Thomas of Aquino", "? Thomas of Aquino"],
  ["Peter School", "? Peter School"],
  ["John Bank", "? John Bank"],
  ["LHCb", "? LHCb"],
  ["Cell 21", "? Cell 21"],
  ["user123", "? user123"],
  ["lovelace", "? lovelace"],
  ["ada lovelace", "? ada lovelace"],
  ["ADA LOVELACE", "? ADA LOVELACE"],
  ["Ada Lovelace et al.", "? Ada Lovelace et al."],
  ["Ada Lovelace (Analytical Society)", "? Ada Lovelace (Analytical Society)"],
  ["Lovelace, Hopper and Turing", "? Lovelace, Hopper and Turing"],
  ["Smith and Jones", "? Smith and Jones"],
  // Names in the order in which they are spoken.
  ["Ada Lovelace", "P Lovelace | Ada"],
  ["Grace Hopper", "P Hopper | Grace"],
  ["Grace M. Hopper", "P Hopper | Grace M."],
  ["J. R. R. Tolkien", "P Tolkien | J. R. R."],
  ["J.R.R. Tolkien", "P Tolkien | J.R.R."],
  ["C. V. Raman", "P Raman | C. V."],
  ["E. Noether", "P Noether | E."],
  ["J. Robert Oppenheimer", "P Oppenheimer | J. Robert"],
  ["Donald E. Knuth", "P Knuth | Donald E."],
  ["Rosalind Franklin", "P Franklin | Rosalind"],
  ["Barbara McClintock", "P McClintock | Barbara"],
  ["Conan O'Brien", "P O'Brien | Conan"],
  ["Yann LeCun", "P LeCun | Yann"],
  ["Jean-Pierre Serre", "P Serre | Jean-Pierre"],
  ["Irène Joliot-Curie", "P Joliot-Curie | Irène"],
  ["Małgorzata Kowalska", "P Kowalska | Małgorzata"],
  ["Søren Kierkegaard", "P Kierkegaard | Søren"],
  ["Željko Ivezić", "P Ivezić | Željko"],
  ["Božena Němcová", "P Němcová | Božena"],
  ["Ünal Şahin", "P Şahin | Ünal"],
  ["Chimamanda Adichie", "P Adichie | Chimamanda"],
  ["Wangari Maathai", "P Maathai | Wangari"],
  ["Srinivasa Ramanujan", "P Ramanujan | Srinivasa"],
  ["Subrahmanyan Chandrasekhar", "P Chandrasekhar | Subrahmanyan"],
  ["Софья Ковалевская", "P Ковалевская | Софья"],
  ["Μαρία Κάλλας", "P Κάλλας | Μαρία"],
  ["Marie CURIE", "P CURIE | Marie"],
  ["Hideki Yukawa", "P Yukawa | Hideki"],
  ["Xiaoming Zhang", "P Zhang | Xiaoming"],
  ["Jane Li", "P Li | Jane"],
  ["Ben Smith", "P Smith | Ben"],
  ["Al Gore", "P Gore | Al"],
  ["Anna Maria Schmidt", "P Schmidt | Anna Maria"],
  // Particles belong to the family name.
  ["Ludwig van Beethoven", "P van Beethoven | Ludwig"],
  ["Alexander von Humboldt", "P von Humboldt | Alexander"],
  ["Vincent van der Berg", "P van der Berg | Vincent"],
  ["Leonardo da Vinci", "P da Vinci | Leonardo"],
  ["Charles de Gaulle", "P de Gaulle | Charles"],
  ["Juana Inés de la Cruz", "P de la Cruz | Juana Inés"],
  ["Oscar de la Renta", "P de la Renta | Oscar"],
  ["Jean d'Alembert", "P d'Alembert | Jean"],
  ["Jacobus ten Broek", "P ten Broek | Jacobus"],
  ["Wernher von Braun", "P von Braun | Wernher"],
  ["H. C. van de Hulst", "P van de Hulst | H. C."],
  ["Luís de Camões", "P de Camões | Luís"],
  // Titles and what follows a name.
  ["Dr. Ada Lovelace", "P Lovelace | Ada"],
  ["Prof. Dr. Emmy Noether", "P Noether | Emmy"],
  ["Prof. Dr. med. Hans Müller", "P Müller | Hans"],
  ["Sir Isaac Newton", "P Newton | Isaac"],
  ["Jane Doe, PhD", "P Doe | Jane"],
  ["Jane Doe, M.D., Ph.D.", "P Doe | Jane"],
  ["Jane Doe PhD", "P Doe | Jane"],
  ["Martin Luther King Jr.", "P King | Martin Luther | Jr."],
  ["Martin Luther King, Jr.", "P King | Martin Luther | Jr."],
  ["Henry Louis Gates III", "P Gates | Henry Louis | III"],
  ["Dr. Plato", "? Dr. Plato"],
  // The writer says which is the family name.
  ["Lovelace, Ada", "P Lovelace | Ada"],
  ["de la Cruz, María", "P de la Cruz | María"],
  ["von Humboldt, Alexander", "P von Humboldt | Alexander"],
  ["García Márquez, Gabriel", "P García Márquez | Gabriel"],
  ["García Márquez, Gabriel José", "P García Márquez | Gabriel José"],
  ["King, Martin Luther, Jr.", "P King | Martin Luther | Jr."],
  ["Tolkien, J. R. R.", "P Tolkien | J. R. R."],
  ["Tolkien, JRR", "P Tolkien | JRR"],
  ["O'Neill, Cathy", "P O'Neill | Cathy"],
  ["Nguyễn, Văn An", "P Nguyễn | Văn An"],
  ["Mao, Zedong", "P Mao | Zedong"],
  ["CURIE, Marie", "P CURIE | Marie"],
  ["Jónsdóttir, Anna", "P Jónsdóttir | Anna"],
  ["Lovelace A", "P Lovelace | A"],
  ["Turing AM", "P Turing | AM"],
  ["van der Berg AC", "P van der Berg | AC"],
  ["Smith AG", "? Smith AG"],
  // Names whose order or parts cannot be told.
  ["Gabriel García Márquez", "? Gabriel García Márquez"],
  ["Carlos Ruiz Zafón", "? Carlos Ruiz Zafón"],
  ["José Ortega y Gasset", "? José Ortega y Gasset"],
  ["María de los Ángeles García", "? María de los Ángeles García"],
  ["Mao Zedong", "? Mao Zedong"],
  ["Xi Jinping", "? Xi Jinping"],
  ["Li Wei", "? Li Wei"],
  ["Kim Jong-un", "? Kim Jong-un"],
  ["Nguyễn Văn An", "? Nguyễn Văn An"],
  ["Tanaka Kakuei", "? Tanaka Kakuei"],
  ["Bartók Béla", "? Bartók Béla"],
  ["Nagy Imre", "? Nagy Imre"],
  ["Mohammed bin Salman", "? Mohammed bin Salman"],
  ["Tahar Ben Jelloun", "? Tahar Ben Jelloun"],
  ["Gamal Abdel Nasser", "? Gamal Abdel Nasser"],
  ["Naguib al Mahfouz", "? Naguib al Mahfouz"],
  ["A. P. J. Abdul Kalam", "? A. P. J. Abdul Kalam"],
  ["Björk Guðmundsdóttir", "? Björk Guðmundsdóttir"],
  ["Sukarno", "? Sukarno"],
  ["Teller", "? Teller"],
  ["CURIE Marie", "? CURIE Marie"],
  ["Lev Nikolayevich Tolstoy", "? Lev Nikolayevich Tolstoy"],
  ["أحمد زويل", "P زويل | أحمد"],
  // In these scripts the family name comes first; without a space nobody can tell where it ends.
  ["山田 太郎", "P 山田 | 太郎"],
  ["山田、太郎", "P 山田 | 太郎"],
  ["毛 泽东", "P 毛 | 泽东"],
  ["김 정은", "P 김 | 정은"],
  ["山田太郎", "? 山田太郎"],
  ["毛泽东", "? 毛泽东"],
  ["김정은", "? 김정은"],
  // Several names in one text.
  ["Ada Lovelace; Grace Hopper", "P Lovelace | Ada", "P Hopper | Grace"],
  ["Lovelace, Ada; Hopper, Grace", "P Lovelace | Ada", "P Hopper | Grace"],
  ["Ada Lovelace and Grace Hopper", "P Lovelace | Ada", "P Hopper | Grace"],
  ["Ada Lovelace & Grace Hopper", "P Lovelace | Ada", "P Hopper | Grace"],
  ["Ada Lovelace, Grace Hopper", "P Lovelace | Ada", "P Hopper | Grace"],
  [
    "Ada Lovelace, Grace Hopper and Alan Turing",
    "P Lovelace | Ada",
    "P Hopper | Grace",
    "P Turing | Alan",
  ],
  [
    "Ada Lovelace, Grace Hopper, and Alan Turing",
    "P Lovelace | Ada",
    "P Hopper | Grace",
    "P Turing | Alan",
  ],
  ["Lovelace, Ada and Hopper, Grace", "P Lovelace | Ada", "P Hopper | Grace"],
  [
    "Lovelace, A., Hopper, G., & Turing, A. M.",
    "P Lovelace | A.",
    "P Hopper | G.",
    "P Turing | A. M.",
  ],
  ["Lovelace A, Hopper G, Turing AM", "P Lovelace | A", "P Hopper | G", "P Turing | AM"],
  ["Smith AG, Hopper G", "? Smith AG", "P Hopper | G"],
  ["Alexander von Humboldt and Aimé Bonpland", "P von Humboldt | Alexander", "P Bonpland | Aimé"],
  [
    "European Commission; NASA; Ada Lovelace",
    "O European Commission",
    "? NASA",
    "P Lovelace | Ada",
  ],
  ["Ada Lovelace and the Analytical Society", "O Ada Lovelace and the Analytical Society"],
  // What stands around a name.
  ["Ada Lovelace <ada@example.org>", "P Lovelace | Ada"],
  ["Ada Lovelace (ada@example.org)", "P Lovelace | Ada"],
  ["Ada Lovelace (editor)", "P Lovelace | Ada"],
  ["Ada Lovelace (0000-0002-1825-0097)", "P Lovelace | Ada"],
  ["Ada Lovelace, https://orcid.org/0000-0002-1825-0097", "P Lovelace | Ada"],
  ["<b>Ada</b> Lovelace", "P Lovelace | Ada"],
  ["Andr&eacute; Weil", "P Weil | André"],
  // No name at all.
  ["https://orcid.org/0000-0002-1825-0097"],
  ["0000-0002-1825-0097"],
  ["orcid:0000-0002-1825-0097"],
  ["urn:uuid:2f4b8c52-7a10-4a3e-9a51-0d6f1f6f6001"],
  ["2f4b8c52-7a10-4a3e-9a51-0d6f1f6f6001"],
  ["ada@example.org"],
  ["mailto:ada@example.org"],
  ["https://ror.org/02mhbdp94"],
  ["ror.org/02mhbdp94"],
  ["ark:99999/person-ada"],
  ["#anon"],
  ["_:b0"],
  ["./people/ada"],
  ["10.1000/182"],
  ["12345"],
  ["-"],
  ["  "],
];

const written = (name: ReturnType<typeof nameOf>): string =>
  `${name.kind === "organization" ? "O" : name.kind === "person" ? "P" : "?"} ` +
  (name.family === undefined
    ? name.name
    : [name.family, name.given, ...(name.suffix === undefined ? [] : [name.suffix])].join(" | "));

describe("a text with names", () => {
  it("has 200 examples from many cultures", () => {
    expect(TABLE.length).toBeGreaterThan(200);
    expect(new Set(TABLE.map(([text]) => text)).size).toBe(TABLE.length);
  });

  it.each(TABLE)("%j names %j", (text, ...names) => {
    expect(namesIn(text).map(written)).toEqual(names.filter((name) => name !== undefined));
  });

  it("loses no letter of any name", () => {
    const word = fc.stringMatching(/^[A-ZÀ-Ö]?[a-zà-ö'.-]{0,8}$/);
    const between = fc.constantFrom(" ", ", ", " and ", "; ", " de ", " van ", " & ");
    fc.assert(
      fc.property(fc.array(fc.tuple(word, between), { minLength: 1, maxLength: 6 }), (parts) => {
        for (const { name, given, family, kind } of namesIn(parts.flat().join(""))) {
          expect(isIdentifier(name)).toBe(false);
          if (kind === "organization") expect(family).toBeUndefined();
          // Both parts come from the name, and neither is empty.
          if (family !== undefined) {
            expect(name).toContain(family);
            expect(name).toContain(given);
            expect(family.trim()).not.toBe("");
            expect(given!.trim()).not.toBe("");
          }
        }
      }),
    );
  });

  it.each([", ", "Aa ", "A., ", "and ", "; ", "(", "A-"])(
    "takes linear time for %j, repeated",
    async (part) => {
      const text = part.repeat(30_000 / part.length);
      expect(await cpuTimeOf(() => namesIn(text))).toBeLessThan(15_000);
    },
  );
});

describe("an object that describes an agent", () => {
  it.each<[JsonObject, string | undefined]>([
    [{ "@type": "Person", name: "Ada Lovelace" }, "P Lovelace | Ada"],
    [{ "@type": "Person", name: ["Ada Lovelace"] }, "P Lovelace | Ada"],
    [
      { "@type": "Person", name: { "@value": "Ada Lovelace", "@language": "en" } },
      "P Lovelace | Ada",
    ],
    [
      { "@type": "Person", givenName: "María José", familyName: "García Márquez" },
      "P García Márquez | María José",
    ],
    [
      { "@type": "Person", name: "Ada", givenName: ["Ada"], familyName: ["Lovelace"] },
      "P Lovelace | Ada",
    ],
    [{ "@type": "Person", familyName: "Lovelace" }, "P Lovelace"],
    [{ "@type": "Person", alternateName: "Enchantress" }, "P Enchantress"],
    [{ "@type": "Person", name: "", email: "ada@example.org" }, undefined],
    [{ "@type": "Person", name: "ada@example.org" }, undefined],
    [{ "@type": "Person", name: "0000-0002-1825-0097" }, undefined],
    [{ "@type": "Person" }, undefined],
    [{ "@type": "Person", name: "Plato" }, "P Plato"],
    [{ "@type": "Person", name: "Peter School" }, "P School | Peter"],
    [{ "@type": "Person", name: "Adam Hospital" }, "P Hospital | Adam"],
    // What the name says is certain, although the type says something else.
    [{ "@type": "Person", name: "LHCb Collaboration" }, "O LHCb Collaboration"],
    [{ "@type": "Organization", name: "Ada Lovelace" }, "O Ada Lovelace"],
    [{ "@type": "Organization", legalName: "ACME, Inc." }, "O ACME, Inc."],
    [{ "@type": ["schema:ResearchProject"], name: "Cells" }, "O Cells"],
    [{ "schema:name": "Ada Lovelace" }, "P Lovelace | Ada"],
    [{ name: "Ada Lovelace and Grace Hopper" }, "? Ada Lovelace and Grace Hopper"],
  ])("%j is named %j", (agent, name) => {
    const found = nameOfAgent(agent);
    expect(found && written(found)).toBe(name);
  });
});
