import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { crate, type Entity } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import {
  collectionCrate,
  notebookCrate,
  reviewCrate,
  runCrate,
  workflowCrate,
} from "../support/profiled-crates.js";
import type { User } from "../support/registry-client.js";

let registry: LiveRegistry;
let ada: User;
beforeAll(async () => {
  registry = await LiveRegistry.start();
  ada = await registry.user("Ada");
});
afterAll(() => registry?.stop());

async function pageOf(archive: Buffer): Promise<string> {
  const answer = await registry.take(archive, ada.token);
  const headers = { Accept: "text/html" };
  const path = `/${answer["rocrateIdentifier"] as string}`;
  return (await registry.ask(path, { token: ada.token, headers })).text;
}

/** The text of a section of a profile, one line for each row, fact and heading. */
function linesOf(page: string, id: string): string[] {
  const [, section = ""] =
    new RegExp(`<section id="${id}"[^>]*>([^]*?)</section>`).exec(page) ?? [];
  return section
    .replace(/<\/(?:h\d|tr|dl|p|li|dd)>/g, "\n")
    .replace(/<\/(?:t[dh]|dt)>/g, " | ")
    .replace(/<svg[^]*?<\/svg>/g, "")
    .replace(/<[^>]*>/g, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

describe("the page of a crate has at its top", () => {
  it("of a workflow: diagram, language, inputs, outputs, tools, steps, tests and creators", async () => {
    const page = await pageOf(await workflowCrate());
    const lines = linesOf(page, "workflow");
    expect(page).toMatch(/<img src="\/view\/ark:[^"]*diagram\.png" alt="Diagram of the workflow"/);
    expect(lines).toEqual(
      expect.arrayContaining([
        "Count cells",
        "Language | Common Workflow Language",
        "Version of the language | v1.2",
        "Version | 2.1.0",
        "Creators | Josiah Carberry, María de la Cruz",
        "Licence | Apache-2.0",
        "Counts cells in images.",
        "images | Collection |  | Yes | Microscope images |",
        "counts | File | text/csv |",
        "Segmenter | 4.0 | https://segmenter.example/ |",
        "1. Find the cells | Segmenter |",
        "Counts of known images | tests.yml | Planemo |",
      ]),
    );
    expect(page.indexOf('<section id="workflow"')).toBeLessThan(
      page.indexOf('<section id="files"'),
    );
  });

  it("of a run: parameters with values, engine, steps and durations", async () => {
    const lines = linesOf(await pageOf(await runCrate()), "run");
    expect(lines).toEqual(
      expect.arrayContaining([
        "Count of 4 May",
        "Program | Count cells",
        "Run by | Josiah Carberry",
        "Duration | 2 h 5 min",
        "State | Completed",
        "images | Images of plate 7 |",
        "threshold | 0.75 |",
        "counts | Counts of plate 7 |",
        "Flow engine | 24.10 | 4 May 2026, 09:59 UTC |",
        "1. Find the cells | Segmenter | Segmentation | 4 May 2026, 10:00 UTC | 12.5 s |",
      ]),
    );
  });

  it("of a notebook: entries with text, fields, steps and comments", async () => {
    const page = await pageOf(await notebookCrate());
    const lines = linesOf(page, "notebook");
    expect(lines).toEqual(
      expect.arrayContaining([
        "Program | Paperless Notebook",
        "Staining of plate 7",
        "By | María de la Cruz",
        "Goal",
        "See the nuclei.",
        "Fix",
        "Stain",
        "Image: Plate",
        "Temperature | 21.5 | °C |",
        "1. Wash three times |",
        "By | Josiah Carberry",
        "Try less dye.",
      ]),
    );
    expect(page).not.toMatch(/alert\(1\)|<img src="https/);
  });

  it("of a collection: members as a tree, place, languages and speakers", async () => {
    const lines = linesOf(await pageOf(await collectionCrate()), "collection");
    expect(lines).toEqual(
      expect.arrayContaining([
        "Languages | Quechua",
        "Places | Ayacucho",
        "Speakers | María de la Cruz",
        "Stories Repository collectionThe tale of the river Repository objectTranscript",
      ]),
    );
  });

  it("of a Five Safes review: the request and its phases", async () => {
    const page = await pageOf(await reviewCrate());
    expect(linesOf(page, "review")).toEqual(
      expect.arrayContaining([
        "Project | Heart study",
        "Requested by | Josiah Carberry",
        "Affiliation | Brown University",
        expect.stringMatching(/^Check value \| The hash was checked \| Completed/),
        expect.stringMatching(/^Validation check \| The crate was validated \| Completed/),
        expect.stringMatching(/^Sign off \|.*\| 4 May 2026, 11:30 UTC \|$/),
        expect.stringMatching(/^Disclosure check \|.*\| Potential/),
      ]),
    );
    expect(linesOf(page, "run")).toContain("Least age | 18 | years |");
  });

  it("none of these where it follows no profile", async () => {
    const page = await pageOf(await crate([{ "@id": "a.csv", "@type": "File" }], { "a.csv": "a" }));
    expect(page).not.toContain('class="profile"');
  });
});

describe("a hostile crate of a profile", () => {
  it("with members in a circle, 1,000 parameters and values of other types has a page", async () => {
    const inputs = Array.from({ length: 1000 }, (_, at): Entity => ({
      "@id": `#input-${at}`,
      "@type": "FormalParameter",
      name: `Input ${at} <script>alert(1)</script>`,
      additionalType: { "@id": "javascript:alert(1)" },
      defaultValue: "V".repeat(1000),
    }));
    const page = await pageOf(
      await crate(
        [
          {
            "@id": "w.cwl",
            "@type": ["File", "ComputationalWorkflow"],
            name: "W",
            programmingLanguage: { "@id": "w.cwl" },
            input: inputs.map((input) => ({ "@id": input["@id"] as string })),
            output: 7,
            image: "https://img.example/a.png",
          },
          ...inputs,
          { "@id": "#a", "@type": "RepositoryObject", hasPart: { "@id": "#b" } },
          { "@id": "#b", "@type": "RepositoryObject", hasPart: [{ "@id": "#a" }, false] },
        ],
        { "w.cwl": "a" },
        {
          "@type": ["Dataset", "RepositoryCollection"],
          mainEntity: { "@id": "w.cwl" },
          hasMember: [{ "@id": "#a" }, "words", { "@id": "./" }],
        },
      ),
    );
    expect(linesOf(page, "workflow").join(" ")).toMatch(/Input 0 .* There are more/);
    expect(linesOf(page, "collection").join(" ")).toContain("Repository object");
    expect(page).not.toMatch(/<script>alert|javascript:alert\(1\)"|<img[^>]*img\.example/);
    expect(page.length).toBeLessThan(1_000_000);
  }, 60_000);
});

test("the front page shows how a new public crate came about, and those with the highest scores", async () => {
  const html = { headers: { Accept: "text/html" } };
  expect((await registry.ask("/", html)).text).not.toContain("For example, from inputs");
  const answer = await registry.take(await runCrate(), ada.token);
  const ark = answer["rocrateIdentifier"] as string;
  await registry.publish(ark, ada.token);
  const { text } = await registry.ask("/", html);
  const [example] = /<h2>For example, from inputs to results[^]*?<\/section>/.exec(text)!;
  expect(example).toContain(`href="/${ark}"`);
  expect(example).toMatch(/Made in \d computations/);
  expect(example).toMatch(/<svg[^>]*class="ev"/);

  // Of a crate without evidence that is newer there is nothing to show; of six there is no choice.
  const score = (id: string) => registry.ask(`/rocrate/ai-ready-score/${id}`, { token: ada.token });
  await score(ark);
  for (let count = 0; count < 5; count++) {
    const simple = await registry.take(await crate([], {}, { name: `Plain ${count}` }), ada.token);
    await registry.publish(simple["rocrateIdentifier"] as string, ada.token);
  }
  const six = (await registry.ask("/", html)).text;
  expect(six).toContain("For example, from inputs");
  expect(six).not.toContain("highest AI-readiness");
  const draft = await registry.take(await crate([], {}, { name: "Hidden" }), ada.token);
  await score(draft["rocrateIdentifier"] as string);
  const last = await registry.take(await crate([], {}, { name: "Seventh" }), ada.token);
  await registry.publish(last["rocrateIdentifier"] as string, ada.token);
  const seven = (await registry.ask("/", { ...html, token: ada.token })).text;
  const [prepared] = /<h2>Crates with the highest AI-readiness<[^]*?<\/section>/.exec(seven)!;
  expect(prepared.match(/<article/g)).toHaveLength(1);
  expect(prepared).toContain(`href="/${ark}"`);
  expect(prepared).toMatch(/\d+ of \d+ criteria/);
});
