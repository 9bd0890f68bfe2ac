import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

export const CHROMIUM = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => existsSync(path));
if (!CHROMIUM)
  process.stderr.write(
    "\n!! SKIPPED: the web pages are looked at in Chromium; install it to run these tests.\n\n",
  );

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM!,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

/** Signs in by the form: at `url`, or where the page asks for it already. */
export async function signIn(
  page: Page,
  url: string,
  { email, password }: { email: string; password: string },
  to = "/my",
): Promise<void> {
  if (!page.url().includes("/signin"))
    await page.goto(`${url}/signin?to=${encodeURIComponent(to)}`);
  await page.fill("#field-username", email);
  await page.fill("#field-password", password);
  await page.click("main button:has-text('Sign in')");
  await page.waitForURL(({ pathname }) => !pathname.startsWith("/signin"));
}

/** A page that gathers what it asks for elsewhere and what goes wrong in it. */
export interface Watched {
  page: Page;
  outside: string[];
  faults: string[];
}

export async function watchedPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const page = await (await browser.newContext(options)).newPage();
  const outside: string[] = [];
  const faults: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !/^(?:data|blob):/.test(request.url()))
      outside.push(request.url());
  });
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(error.message));
  return { page, outside, faults };
}
