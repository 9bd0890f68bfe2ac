import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDemoCrate } from "../../cli/demo/crate.js";
import { unnamed } from "../support/bodies.js";
import { CHROMIUM, launch, signIn, watchedPage } from "../support/chromium.js";
import { crate } from "../support/crates.js";
import { LiveRegistry } from "../support/live-registry.js";
import type { User } from "../support/registry-client.js";

const DESKTOP = { viewport: { width: 1280, height: 900 } };
/** Name of the crate of the demo. */
const DEMO = "Cells from images to clusters";
const PASSWORD = "correct horse battery staple";

/** A tutorial: what its sections print in bold is what the pages call their links, buttons and fields. */
class Tutorial {
  readonly #sections = new Map<string, string[]>();

  constructor(text: string) {
    for (const section of text.split(/^## /m).slice(1)) {
      const [title = ""] = section.split("\n", 1);
      const labels = [...section.matchAll(/\*\*([^*]+)\*\*/g)].map(([, label]) => label!);
      this.#sections.set(title.replace(/^\d+\. /, ""), labels);
    }
  }

  /** The labels of a section, in their order, each as a function that takes it from the list. */
  section(title: string): (label: string) => string {
    const labels = this.#sections.get(title);
    expect(labels, `the section “${title}”`).toBeDefined();
    return (label) => {
      expect(labels, `bold words of “${title}”`).toContain(label);
      labels!.splice(labels!.indexOf(label), 1);
      return label.replace(/\.$/, "");
    };
  }

  /** Labels that no test has looked for on a page. */
  get unseen(): string[] {
    return [...this.#sections.values()].flat();
  }
}

const tutorialNamed = async (name: string): Promise<Tutorial> =>
  new Tutorial(await readFile(new URL(`../../docs/tutorials/${name}.md`, import.meta.url), "utf8"));

/** A link, button, tab or menu of a page with exactly this label; those that open a form end with “…”. */
function control(scope: Page | Locator, label: string): Locator {
  const whole = new RegExp(`^\\s*${label.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}…?\\s*$`);
  return scope
    .locator("a, button, summary, label")
    .filter({ hasText: whole, visible: true })
    .first();
}
const press = (scope: Page | Locator, label: string): Promise<void> =>
  control(scope, label).click();
const isShown = (scope: Page | Locator, label: string): Promise<void> =>
  control(scope, label).waitFor();
/** An entry of the menu of the account. */
async function account(page: Page, label: string): Promise<void> {
  await page.locator("header .menu:not(.all) summary:has(.name)").click();
  await press(page.locator("header"), label);
}

describe.skipIf(!CHROMIUM)("the tutorials, word for word in a browser", () => {
  let registry: LiveRegistry;
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    registry = await LiveRegistry.start();
    browser = await launch();
    folder = await mkdtemp(join(tmpdir(), "arkgraph-tutorials-"));
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await registry?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function opened(user?: User): Promise<Page> {
    const { page } = await watchedPage(browser, registry.url, DESKTOP);
    page.setDefaultTimeout(10_000);
    page.on("dialog", (dialog) => void dialog.accept());
    if (user) await signIn(page, registry.url, user);
    return page;
  }
  async function dataset(owner: User, name: string): Promise<string> {
    const body = unnamed("dataset", owner.ark, { name });
    const made = await registry.ask("/dataset", { token: owner.token, body });
    expect(made.status, made.text).toBe(200);
    return made.body["@id"] as string;
  }

  test("bring a crate and share a result", async () => {
    const tutorial = await tutorialNamed("researcher");
    const page = await opened(await registry.user("Ada"));
    await mkdir(join(folder, "result"));
    await writeFile(join(folder, "result", "a.csv"), "id,x\n1,2\n");

    let label = tutorial.section("Upload");
    await press(page.locator("header"), label("Upload"));
    await page.setInputFiles("#folder", join(folder, "result"));
    await page.fill("#steps #field-name", "A result");
    await page.fill("#steps #field-description", "One table.");
    await press(page.locator("#steps"), "Continue");
    await page.locator("#steps", { hasText: "This is what will happen" }).waitFor();
    // Of the evidence, the crate of the demo has more to show.
    await writeFile(join(folder, "demo.zip"), await buildDemoCrate());
    await page.goto(`${registry.url}/upload`);
    await page.setInputFiles("#file", join(folder, "demo.zip"));
    await press(page.locator("#steps"), label("Upload"));
    await page.locator("h1", { hasText: "Your crate is here" }).waitFor();
    const arrived = page.url();
    await account(page, label("My work"));
    await page.locator("main", { hasText: DEMO }).waitFor();

    label = tutorial.section("Look at it");
    await page.goto(arrived);
    await press(page, label("Open the crate."));
    await page.locator("h1", { hasText: DEMO }).waitFor();
    const address = page.url();
    await page.locator("#files a", { hasText: "samples.csv" }).first().waitFor();
    await press(page, label("Explore the evidence"));
    await page.locator("#picture svg [data-id]").first().waitFor();

    label = tutorial.section("Share it");
    await page.goto(address);
    await isShown(page.locator("main"), label("Publish"));
    await press(page, label("Cite"));
    for (const form of ["BibTeX", "RIS"]) await isShown(page.locator("#cite"), form);
    await press(page, "⋯");
    await press(page, label("Review links"));
    await page.getByLabel(label("Hide who made it")).check();
    await press(page, "Create a link");
    const link = await page.locator("main .notice code").textContent();
    const reviewer = await opened();
    await reviewer.goto(link!);
    await reviewer.locator("h1", { hasText: DEMO }).waitFor();
    await reviewer.context().close();
    await page.goto(address);
    await press(page, "⋯");
    await press(page, label("Embargo"));
    await page.fill("[name=until]", "2099-01-01");
    await press(page.locator("main"), "Embargo");
    await page.locator(".badge.embargoed").first().waitFor();

    label = tutorial.section("Bring a new version");
    await press(page, "New version");
    await page.waitForURL(/\/upload\?crate=/);
    await page.goto(address);
    await press(page.locator("main"), label("History"));
    await page.locator("h1", { hasText: "History" }).waitFor();
    expect(tutorial.unseen).toEqual([]);
    await page.context().close();
  }, 90_000);

  test("curate, publish, withdraw", async () => {
    const tutorial = await tutorialNamed("data-manager");
    const grace = await registry.user("Grace");
    const [first = ""] = await Promise.all(
      ["One", "Two", "Three"].map((name) => dataset(grace, `Plate ${name}`)),
    );
    const page = await opened(grace);

    let label = tutorial.section("A group");
    await account(page, label("My work"));
    await press(page, label("Groups and projects"));
    await page.fill("main [name=name]", "Plates");
    await page.fill("main [name=description]", "Those who look after plates.");
    await press(page, label("Create the group"));
    await page.locator("main h3 a", { hasText: "Plates" }).waitFor();
    await account(page, label("My work"));
    await press(page, label("Records"));
    await page.check("[aria-label='Choose Plate One']");
    await press(page.locator(".chosen-bar"), label("Hand over"));
    await page.getByLabel(label("New owner")).selectOption({ label: "Plates" });
    await press(page.locator("main"), "Hand over");
    await page.locator("main", { hasText: "1 record handed over." }).waitFor();

    label = tutorial.section("Find what needs work");
    await account(page, "My work");
    await press(page, label("Records"));
    await page.locator("[name=of]").selectOption({ label: "Plates" });
    await page.locator("main td, main th", { hasText: "Plate One" }).first().waitFor();
    await page.goto(`${registry.url}/${first}`);
    await press(page, label("Edit"));
    await page.locator("main form").first().waitFor();
    await account(page, "My work");
    await press(page, label("References"));

    label = tutorial.section("Publish many at once");
    await press(page, "Records");
    await page.check("[aria-label='Choose Plate Two']");
    await isShown(page.locator(".chosen-bar"), label("Embargo"));
    await press(page.locator(".chosen-bar"), label("Publish"));
    await press(page.locator("main"), "Publish");
    await page.locator("main", { hasText: "1 record published." }).waitFor();
    await account(page, "My work");
    await isShown(page, label("Reserve an identifier"));
    // Only where the registry has a DOI service.
    label("Reserve DOIs");

    label = tutorial.section("Let one person read what is closed");
    const archive = await crate([], { "closed.csv": "id\n1\n" }, { name: "Closed plates" });
    const { rocrateIdentifier: draft } = await registry.take(archive, grace.token);
    const asks = label("Ask for access");
    const access = label("Access");
    for (const [name, decision] of [
      ["Reader-one", label("Decline")],
      ["Reader-two", label("Grant")],
    ] as const) {
      const reader = await opened(await registry.user(name));
      await reader.goto(`${registry.url}/${String(draft)}`);
      await press(reader, asks);
      await reader.fill("[name=reason]", "To compare.");
      await press(reader.locator("main"), asks);
      await reader.locator("main", { hasText: "Nobody has decided yet." }).waitFor();
      await reader.context().close();
      await account(page, "My work");
      await press(page.locator("main .tabs"), access);
      await press(page, decision);
      await page.waitForLoadState();
    }
    await press(page, label("Revoke"));
    await page.locator("main", { hasText: "Nobody waits for an answer." }).waitFor();

    label = tutorial.section("Withdraw");
    const used = await dataset(grace, "Wrong plate");
    await page.goto(`${registry.url}/${used}`);
    await press(page, label("What depends on it"));
    await page.goto(`${registry.url}/${used}`);
    await press(page, "⋯");
    await isShown(page, label("Archive"));
    await press(page, label("Withdraw"));
    await page.fill("[name=reason]", "The wrong plate.");
    await press(page.locator("main"), "Withdraw");
    await page.locator("main", { hasText: "withdrawn" }).first().waitFor();
    expect(tutorial.unseen).toEqual([]);
    await page.context().close();
  }, 90_000);

  test("set up, accounts, backups", async () => {
    const tutorial = await tutorialNamed("administrator");
    const member = await registry.user("Joan");
    const page = await opened();

    let label = tutorial.section("Become administrator");
    await page.goto(`${registry.url}/signup?admin=${registry.running.adminToken}`);
    await page.fill("#field-name", "Root");
    await page.fill("#field-email", "root@example.org");
    await page.fill("#field-password", PASSWORD);
    await press(page.locator("main"), "Create the account");
    await page.waitForURL(({ pathname }) => pathname !== "/signup");
    await account(page, label("Administration"));

    label = tutorial.section("Accounts");
    await account(page, label("Administration"));
    const row = page.locator("tr", { hasText: member.email });
    for (const [action, after] of [
      [label("Disable"), "Enable"],
      ["Enable", "Disable"],
      [label("Make administrator"), "Make member"],
      [label("Make member"), "Make administrator"],
    ] as const) {
      await press(row, action);
      await isShown(row, after);
    }
    await press(row, label("Reset link"));
    await page.locator("pre", { hasText: "/reset" }).waitFor();
    // Only beside a submission that runs, or has failed: other tests look at these.
    label("Cancel");
    label("Retry");

    label = tutorial.section("Who did what");
    const [area, log] = label("Administration → Audit log").split(" → ") as [string, string];
    await account(page, area);
    await press(page, log);
    await page
      .locator("td", { hasText: "root@example.org" })
      .or(page.locator("tr"))
      .first()
      .waitFor();
    for (const form of ["CSV", "NDJSON"]) await isShown(page, `Export as ${form}`);
    expect(tutorial.unseen).toEqual([]);
    await page.context().close();
  }, 60_000);
});
