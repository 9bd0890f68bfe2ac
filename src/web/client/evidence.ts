// The evidence explorer: zoom, pan, walking along edges by keys, facts beside the picture, PNG.

const frame = document.getElementById("picture")!;
const facts = document.getElementById("facts")!;
const svg = frame.querySelector<SVGSVGElement>("svg");

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

function enable(drawing: SVGSVGElement): void {
  const [width, height] = [drawing.viewBox.baseVal.width, drawing.viewBox.baseVal.height];
  let scale = Math.min(1, frame.clientWidth / width);
  const resize = (next: number): void => {
    scale = Math.min(4, Math.max(0.1, next));
    drawing.classList.add("zoomed");
    drawing.setAttribute("width", String(width * scale));
    drawing.setAttribute("height", String(height * scale));
  };
  const zoom = (factor: number): void => {
    const [x, y] = [
      (frame.scrollLeft + frame.clientWidth / 2) / scale,
      (frame.scrollTop + frame.clientHeight / 2) / scale,
    ];
    resize(scale * factor);
    frame.scrollTo(x * scale - frame.clientWidth / 2, y * scale - frame.clientHeight / 2);
  };
  const fit = (): void => resize(Math.min(1, frame.clientWidth / width));
  const actions: Record<string, () => void> = {
    in: () => zoom(1.3),
    out: () => zoom(1 / 1.3),
    fit,
  };
  for (const button of document.querySelectorAll<HTMLElement>("[data-zoom]"))
    button.addEventListener("click", actions[button.dataset["zoom"]!]!);
  // Names stay readable: a wide picture is wider than its frame, and scrolls.
  if (scale < READABLE) resize(READABLE);
  for (const hidden of document.querySelectorAll<HTMLElement>("[data-script]"))
    hidden.hidden = false;

  frame.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
    },
    { passive: false },
  );
  pan();
  walk(drawing, actions);
  showFacts(drawing);
  document
    .querySelector("[data-save='png']")
    ?.addEventListener("click", () => void savePng(width, height));
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
      if (frame.classList.contains("panning")) event.preventDefault();
    },
    { capture: true },
  );
}

const nodeOf = (target: EventTarget | null): SVGElement | null =>
  target instanceof Element ? target.closest<SVGElement>("[data-id]") : null;

/** Arrow keys move along edges: left to what was used, right to what came of it. */
function walk(drawing: SVGSVGElement, actions: Record<string, () => void>): void {
  const edges = [...drawing.querySelectorAll<SVGElement>("[data-from][data-to]")].map(
    ({ dataset }) => [dataset["from"]!, dataset["to"]!] as const,
  );
  const focus = (id: string | undefined): void => {
    if (id === undefined) return;
    const node = drawing.querySelector<SVGElement>(`[data-id="${CSS.escape(id)}"]`);
    const link = node?.closest<SVGElement>("a") ?? node?.querySelector<SVGElement>("a") ?? node;
    link?.focus();
    node?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  frame.addEventListener("keydown", (event) => {
    const { key } = event;
    if (key === "+" || key === "=") return actions["in"]!();
    if (key === "-") return actions["out"]!();
    if (key === "0") return actions["fit"]!();
    const id = nodeOf(document.activeElement)?.dataset["id"] ?? nodeIn(document.activeElement);
    if (id === undefined || !key.startsWith("Arrow")) return;
    event.preventDefault();
    const before = edges.filter(([, to]) => to === id).map(([from]) => from);
    const after = edges.filter(([from]) => from === id).map(([, to]) => to);
    if (key === "ArrowLeft") return focus(before[0]);
    if (key === "ArrowRight") return focus(after[0]);
    // Up and down: what stands beside it, with the same neighbour.
    const beside = edges
      .filter(([from, to]) => after.includes(to) || before.includes(from))
      .map(([from, to]) => (after.includes(to) ? from : to));
    const siblings = [...new Set([id, ...beside])].sort();
    const at = siblings.indexOf(id) + (key === "ArrowDown" ? 1 : -1);
    focus(siblings[(at + siblings.length) % siblings.length]);
  });
}

const nodeIn = (element: Element | null): string | undefined =>
  element?.querySelector<SVGElement>("[data-id]")?.dataset["id"];

const QUERY = `query ($id: ID!) {
  record(id: $id) { id name kind description license owner { name } }
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
function showFacts(drawing: SVGSVGElement): void {
  let shown: string | undefined;
  drawing.addEventListener("click", (event) => {
    const node = nodeOf(event.target);
    const id = node?.dataset["id"] ?? nodeIn((event.target as Element).closest("a"));
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
          line("p", [record.kind?.toLowerCase(), record.owner?.name].filter(Boolean).join(" · ")),
          ...(record.description ? [line("p", record.description.slice(0, 400))] : []),
          ways,
        );
        facts.hidden = false;
      })
      .catch(() => (location.href = `/${encodeURI(id)}`));
  });
}

/** The drawing as the service saves it, as an image of twice its size. */
async function savePng(width: number, height: number): Promise<void> {
  const exported = document.querySelector<HTMLAnchorElement>("a[href*='format=svg']");
  if (!exported) return;
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

if (svg) enable(svg);
