/**
 * Makes the pictures of docs/images anew, at twice the size of a screen: starts the demo and
 * photographs its pages in Chromium (CHROMIUM names it). Run `npm run build` before.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = new URL("..", import.meta.url);
const at = (path) => fileURLToPath(new URL(path, root));
const [WIDTH, HEIGHT] = [1280, 900];

const demo = spawn(process.execPath, [at("bin/arkgraph.js"), "demo"], {
  env: { ...process.env, PORT: process.env.PORT ?? "18199" },
  stdio: ["ignore", "pipe", "inherit"],
});
/** What the demo prints of its registry. */
async function started() {
  const found = {};
  for await (const line of createInterface({ input: demo.stdout })) {
    found.base ??= /Registry\s+(http:\S+),/.exec(line)?.[1];
    found.crate ??= /Crate\s+(ark:\S+),/.exec(line)?.[1];
    [, found.email, found.password] = /Sign in\s.* as (\S+), password: (.+)$/.exec(line) ?? [
      undefined,
      found.email,
      found.password,
    ];
    if (line.startsWith("    TOKEN=")) return found;
  }
  throw new Error("the demo ended before it was ready");
}

try {
  const { base, crate, email, password } = await started();
  demo.stdout.resume();
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  const context = await browser.newContext({
    viewport: { width: WIDTH, height: HEIGHT },
    deviceScaleFactor: 2,
    colorScheme: "light",
  });
  const page = await context.newPage();
  const shoot = async (name, path) => {
    await page.goto(base + path);
    await page.waitForLoadState("networkidle");
    await page.screenshot({ path: at(`docs/images/${name}.png`) });
  };
  await shoot("record", `/${crate}/results/clusters.png`);
  await shoot("search", "/search?q=cells");
  await shoot("evidence", `/evidence/${crate}/results/clusters.csv`);
  await page.goto(`${base}/signin`);
  await page.fill("#field-username", email);
  await page.fill("#field-password", password);
  await Promise.all([page.waitForURL("**/my"), page.press("#field-password", "Enter")]);
  await shoot("my-records", "/my/records");
  await browser.close();
} finally {
  demo.kill();
  await once(demo, "exit");
}
