// Links and the form that change the picture of this record change it in place: scale, place, focus
// and history stay.
import { announce, DRAWN, focused, frame, idOf, nodeBy, nodes, rootNode } from "./drawing.js";
import { focus } from "./keys.js";
import { rescale } from "./viewport.js";

const said = document.getElementById("said")!;

/** Parts of the page that belong to a picture, besides the picture itself. */
const PARTS = ["tools", "chips", "empty", "legend", "list", "formats"];
const partOf = (page: Document, name: string): Element | null =>
  page.querySelector(`[data-part="${name}"]`);

/** What the newest change waits for: a slower answer to an earlier one is not shown. */
let newest = 0;

async function showPicture(address: string, isBack = false): Promise<void> {
  const mine = ++newest;
  frame.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(address, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const picture = page.getElementById("picture");
    if (!response.ok || !picture) throw new Error("no picture");
    if (mine !== newest) return;
    if (!isBack) history.pushState(null, "", address);
    replaceBy(page, picture);
    said.textContent =
      partOf(document, "legend")?.getAttribute("data-said") ?? "The picture has changed.";
  } catch {
    // The page itself says what is wrong.
    if (mine === newest) location.assign(address);
  } finally {
    if (mine === newest) frame.removeAttribute("aria-busy");
  }
}

function replaceBy(page: Document, picture: HTMLElement): void {
  const had = new Set(nodes().map(idOf));
  // What was clicked stays where it is; what was elsewhere, where the record is.
  const active = focused();
  const root = rootNode();
  const pinned = active ?? (root ? idOf(root) : undefined);
  const before = pinned === undefined ? undefined : nodeBy(pinned)?.getBoundingClientRect();
  const outside = active === undefined ? labelOf(document.activeElement) : undefined;
  takeParts(page, picture);
  rescale();
  const added = nodes().find((node) => !had.has(idOf(node)));
  const stays = pinned === undefined ? null : nodeBy(pinned);
  const after = (stays ?? added ?? null)?.getBoundingClientRect();
  if (before && after) frame.scrollBy(after.left - before.left, after.top - before.top);
  announce(DRAWN);
  if (active !== undefined) focus(nodeBy(active) ?? added ?? nodes()[0] ?? null);
  else if (outside !== undefined) focusAgain(outside);
}

function takeParts(page: Document, picture: HTMLElement): void {
  frame.replaceChildren();
  while (picture.firstChild) frame.append(picture.firstChild);
  for (const name of PARTS) {
    const [old, now] = [partOf(document, name), partOf(page, name)];
    if (!old || !now) continue;
    for (const part of now.querySelectorAll<HTMLElement>("[data-without-script]"))
      part.hidden = true;
    old.replaceWith(now);
  }
}

/** A control of a part that is replaced, by what people call it. */
const labelOf = (element: Element | null): string | undefined =>
  element?.closest("[data-part]")
    ? (element.getAttribute("name") ??
      element.getAttribute("data-name") ??
      element.textContent?.trim())
    : undefined;

function focusAgain(label: string): void {
  const controls = document.querySelectorAll<HTMLElement>(
    "[data-part] :is(a, button, select, summary, input:not([type=hidden]))",
  );
  const same = [...controls].find((control) => labelOf(control) === label);
  // A link that has done its work is gone: the picture shows what came of it.
  (same ?? frame).focus({ preventScroll: true });
}

export function changeInPlace(): void {
  const isPlain = (event: MouseEvent): boolean =>
    event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || !isPlain(event) || !(event.target instanceof Element)) return;
    const link = event.target.closest("a[href]");
    if (!link?.closest("[data-part], #picture, #details")) return;
    const url = new URL(link.getAttribute("href")!, location.href);
    if (url.origin !== location.origin || url.pathname !== location.pathname || url.hash !== "")
      return;
    event.preventDefault();
    void showPicture(url.pathname + url.search);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target as HTMLFormElement;
    if (form.dataset["part"] !== "tools") return;
    event.preventDefault();
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form))
      if (typeof value === "string" && value !== "") query.append(name, value);
    const text = query.toString();
    void showPicture(location.pathname + (text === "" ? "" : `?${text}`));
  });
  addEventListener("popstate", () => {
    if (location.hash === "") void showPicture(location.pathname + location.search, true);
  });
}
