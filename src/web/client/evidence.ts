// The evidence explorer: groups and steps in place, also one step from a single record; zoom, pan,
// walking along edges by keys, facts beside the picture, PNG.

const frame = document.getElementById("picture")!;
const facts = document.getElementById("facts")!;
const said = document.getElementById("said")!;

/** The smallest scale at which a picture is shown at first. */
const READABLE = 0.8;

interface Facts {
  record: {
    id: string;
    name: string | null;
    kind: string | null;
    description: string | null;
    license: string | null;
    owner: { name: string | null } | null;
  } | null;
}

const drawingOf = (): SVGSVGElement | null => frame.querySelector<SVGSVGElement>("svg");
const widthOf = (drawing: SVGSVGElement): number => drawing.viewBox.baseVal.width;

let scale = 1;
function resize(next: number): void {
  const drawing = drawingOf();
  if (!drawing) return;
  scale = Math.min(4, Math.max(0.1, next));
  drawing.classList.add("zoomed");
  drawing.setAttribute("width", String(widthOf(drawing) * scale));
  drawing.setAttribute("height", String(drawing.viewBox.baseVal.height * scale));
}

const fitting = (): number => {
  const drawing = drawingOf();
  return drawing ? Math.min(1, frame.clientWidth / widthOf(drawing)) : 1;
};

function zoom(factor: number): void {
  const [x, y] = [
    (frame.scrollLeft + frame.clientWidth / 2) / scale,
    (frame.scrollTop + frame.clientHeight / 2) / scale,
  ];
  resize(scale * factor);
  frame.scrollTo(x * scale - frame.clientWidth / 2, y * scale - frame.clientHeight / 2);
}

const ZOOM: Record<string, () => void> = {
  in: () => zoom(1.3),
  out: () => zoom(1 / 1.3),
  fit: () => resize(fitting()),
};

function enableZoom(): void {
  for (const button of document.querySelectorAll<HTMLElement>("[data-zoom]"))
    button.addEventListener("click", ZOOM[button.dataset["zoom"]!]!);
  // Names stay readable: a wide picture is wider than its frame, and scrolls.
  scale = fitting();
  if (scale < READABLE) resize(READABLE);
  frame.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
    },
    { passive: false },
  );
}

/** Dragging moves the picture; a click stays a click. */
function pan(): void {
  let from: { x: number; y: number; left: number; top: number } | undefined;
  frame.addEventListener("pointerdown", ({ clientX, clientY, pointerType }) => {
    if (pointerType === "mouse")
      from = { x: clientX, y: clientY, left: frame.scrollLeft, top: frame.scrollTop };
  });
  addEventListener("pointermove", ({ clientX, clientY }) => {
    if (!from) return;
    if (Math.abs(clientX - from.x) + Math.abs(clientY - from.y) > 4) frame.classList.add("panning");
    frame.scrollTo(from.left - (clientX - from.x), from.top - (clientY - from.y));
  });
  addEventListener("pointerup", () => {
    from = undefined;
    setTimeout(() => frame.classList.remove("panning"));
  });
  frame.addEventListener(
    "click",
    (event) => {
      if (!frame.classList.contains("panning")) return;
      event.preventDefault();
      event.stopPropagation();
    },
    { capture: true },
  );
}

const nodeOf = (target: EventTarget | null): SVGElement | null =>
  target instanceof Element ? target.closest<SVGElement>("[data-id]") : null;
const nodeIn = (element: Element | null): SVGElement | null =>
  element?.querySelector<SVGElement>("[data-id]") ?? null;

/** The identifier of the node that has the focus. */
const focused = (): string | undefined =>
  frame.contains(document.activeElement)
    ? (nodeOf(document.activeElement) ?? nodeIn(document.activeElement))?.dataset["id"]
    : undefined;

const nodeBy = (id: string): SVGElement | null =>
  frame.querySelector<SVGElement>(`[data-id="${CSS.escape(id)}"]`);

function focus(node: SVGElement | null): void {
  const link = node?.closest<SVGElement>("a") ?? node?.querySelector<SVGElement>("a") ?? node;
  link?.focus({ preventScroll: true });
  node?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** Arrow keys move along edges: left to what was used, right to what came of it. */
function walk(): void {
  frame.addEventListener("keydown", (event) => {
    const { key } = event;
    if (key === "+" || key === "=") return ZOOM["in"]!();
    if (key === "-") return ZOOM["out"]!();
    if (key === "0") return ZOOM["fit"]!();
    const id = focused();
    if (id === undefined || !key.startsWith("Arrow")) return;
    event.preventDefault();
    const edges = [...frame.querySelectorAll<SVGElement>("[data-from][data-to]")].map(
      ({ dataset }) => [dataset["from"]!, dataset["to"]!] as const,
    );
    const go = (to: string | undefined): void => {
      if (to !== undefined) focus(nodeBy(to));
    };
    const before = edges.filter(([, to]) => to === id).map(([from]) => from);
    const after = edges.filter(([from]) => from === id).map(([, to]) => to);
    if (key === "ArrowLeft") return go(before[0]);
    if (key === "ArrowRight") return go(after[0]);
    // Up and down: what stands beside it, with the same neighbour.
    const beside = edges
      .filter(([from, to]) => after.includes(to) || before.includes(from))
      .map(([from, to]) => (after.includes(to) ? from : to));
    const siblings = [...new Set([id, ...beside])].sort();
    const at = siblings.indexOf(id) + (key === "ArrowDown" ? 1 : -1);
    go(siblings[(at + siblings.length) % siblings.length]);
  });
}

/** Parts of the page that belong to a picture, besides the picture itself. */
const PARTS = ["tools", "empty", "legend", "list", "formats"];
const partOf = (page: Document, name: string): Element | null =>
  page.querySelector(`[data-part="${name}"]`);

/** What the newest change waits for: a slower answer to an earlier one is not shown. */
let newest = 0;

/** Shows the picture of another address in place: zoom, place and focus stay. */
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
  const had = new Set(
    [...frame.querySelectorAll<SVGElement>("[data-id]")].map(({ dataset }) => dataset["id"]),
  );
  // What was clicked stays where it is; what was elsewhere, where the picture begins.
  const active = focused();
  const pinned = active ?? frame.querySelector<SVGElement>("[data-root]")?.dataset["id"];
  const before = pinned === undefined ? undefined : nodeBy(pinned)?.getBoundingClientRect();
  const outside = active === undefined ? labelOf(document.activeElement) : undefined;
  const zoomed = drawingOf()?.classList.contains("zoomed") === true;
  takeParts(page, picture);
  if (zoomed) resize(scale);
  else if ((scale = fitting()) < READABLE) resize(READABLE);
  const added = [...frame.querySelectorAll<SVGElement>("[data-id]")].find(
    ({ dataset }) => !had.has(dataset["id"]),
  );
  const stays = pinned === undefined ? null : nodeBy(pinned);
  const after = (stays ?? added ?? null)?.getBoundingClientRect();
  if (before && after) frame.scrollBy(after.left - before.left, after.top - before.top);
  if (active !== undefined) focus(nodeBy(active) ?? added ?? nodeIn(frame));
  else if (outside !== undefined) focusAgain(outside);
}

function takeParts(page: Document, picture: HTMLElement): void {
  frame.replaceChildren();
  while (picture.firstChild) frame.append(picture.firstChild);
  for (const name of PARTS) {
    const [old, now] = [partOf(document, name), partOf(page, name)];
    if (old && now) old.replaceWith(now);
  }
}

/** A control of a part that is replaced, by what people call it. */
const labelOf = (element: Element | null): string | undefined =>
  element?.closest("[data-part]")
    ? (element.getAttribute("name") ?? element.textContent?.trim())
    : undefined;

function focusAgain(label: string): void {
  const controls = document.querySelectorAll<HTMLElement>(
    "[data-part] :is(a, button, select, summary, input:not([type=hidden]))",
  );
  const same = [...controls].find((control) => labelOf(control) === label);
  // A link that has done its work is gone: the picture shows what came of it.
  (same ?? frame).focus({ preventScroll: true });
}

/** Links and the form that change the picture of this record change it in place. */
function changeInPlace(): void {
  const isPlain = (event: MouseEvent): boolean =>
    event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || !isPlain(event) || !(event.target instanceof Element)) return;
    const link = event.target.closest("a[href]");
    if (!link?.closest("[data-part], #picture")) return;
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

const QUERY = `query ($id: ID!) {
  record(id: $id) { id name: label kind description license owner { name } }
}`;

function line(name: string, text: string): HTMLElement {
  const element = document.createElement(name);
  element.textContent = text;
  element.dir = "auto";
  return element;
}

function link(href: string, text: string): HTMLElement {
  const anchor = document.createElement("a");
  anchor.href = href;
  anchor.textContent = text;
  return anchor;
}

/** A click shows what a node is, with the ways on; a second click opens its evidence. */
function showFacts(): void {
  let shown: string | undefined;
  frame.addEventListener("click", (event) => {
    if ((event.target as Element).closest("[data-further]")) return;
    const node = nodeOf(event.target) ?? nodeIn((event.target as Element).closest("a"));
    const id = node?.dataset["id"];
    if (id === undefined || !id.startsWith("ark:") || node?.dataset["group"] !== undefined) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (shown === id) {
      location.href = `/evidence/${encodeURI(id)}`;
      return;
    }
    shown = id;
    void fetch("/graphql", {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-CSRF-Token": document.querySelector<HTMLMetaElement>("meta[name=csrf]")?.content ?? "",
      },
      body: JSON.stringify({ query: QUERY, variables: { id } }),
    })
      .then((response) => response.json() as Promise<{ data?: Facts }>)
      .then(({ data }) => {
        const record = data?.record;
        if (!record || shown !== id) return;
        const ways = document.createElement("p");
        ways.className = "actions";
        ways.append(
          link(`/${encodeURI(record.id)}`, "Open the record"),
          link(`/evidence/${encodeURI(record.id)}`, "Evidence from here"),
          link(
            `${location.pathname}?to=${encodeURIComponent(record.id)}#why`,
            "How it is connected",
          ),
        );
        facts.replaceChildren(
          line("h2", record.name ?? record.id),
          line(
            "p",
            [record.kind?.toLowerCase().replaceAll("_", " "), record.owner?.name]
              .filter(Boolean)
              .join(" · "),
          ),
          ...(record.description ? [line("p", record.description.slice(0, 400))] : []),
          ways,
        );
        facts.hidden = false;
      })
      .catch(() => (location.href = `/${encodeURI(id)}`));
  });
}

/** The drawing as the service saves it, as an image of twice its size. */
async function savePng(): Promise<void> {
  const exported = document.querySelector<HTMLAnchorElement>("a[href*='format=svg']");
  const drawing = drawingOf();
  if (!exported || !drawing) return;
  const { width, height } = drawing.viewBox.baseVal;
  const response = await fetch(exported.href);
  const url = URL.createObjectURL(await response.blob());
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement("canvas");
  const factor = Math.min(2, 8000 / Math.max(width, height));
  canvas.width = Math.max(1, image.naturalWidth * factor);
  canvas.height = Math.max(1, image.naturalHeight * factor);
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  const anchor = link(canvas.toDataURL("image/png"), "") as HTMLAnchorElement;
  anchor.download = "evidence.png";
  anchor.click();
}

if (drawingOf()) {
  for (const hidden of document.querySelectorAll<HTMLElement>("[data-script]"))
    hidden.hidden = false;
  enableZoom();
  pan();
  walk();
  showFacts();
  changeInPlace();
  document.querySelector("[data-save='png']")?.addEventListener("click", () => void savePng());
}
