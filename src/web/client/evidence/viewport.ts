// The part of the picture that is seen: where it opens, zoom, dragging, a fade where it goes on.
import { announce, drawing, focused, frame, MOVED, nodeBy, rootNode } from "./drawing.js";

/** The smallest scale at which names can be read. */
const READABLE = 0.8;
const LARGEST = 4;
const SMALLEST = 0.02;
/** Room around a node that is brought into view. */
const AROUND = 24;
/** The least height of what is seen in which a node is shown with what is next to it. */
const LEAST_SEEN = 160;

let scale = 1;
/** The reader has chosen the scale. */
let chosen = false;

function resize(next: number): void {
  const svg = drawing();
  if (!svg) return;
  const { width, height } = svg.viewBox.baseVal;
  scale = Math.min(LARGEST, Math.max(SMALLEST, next));
  svg.classList.add("zoomed");
  svg.setAttribute("width", String(width * scale));
  svg.setAttribute("height", String(height * scale));
  announce(MOVED);
}

/** The scale at which the whole picture is seen; the frame is as high as it may be. */
function fitting(): number {
  const svg = drawing();
  if (!svg) return 1;
  const { width, height } = svg.viewBox.baseVal;
  const style = getComputedStyle(frame);
  const aside = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
  const above = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
  const highest = parseFloat(style.maxHeight) || frame.clientHeight;
  return Math.min(1, (frame.clientWidth - aside) / width, (highest - above) / height);
}

/** The part of the frame that nothing covers: neither the window's edge nor the sheet of details. */
function seen(): DOMRect {
  const { left, right, top, bottom } = frame.getBoundingClientRect();
  const details = document.getElementById("details")!;
  const covers = !details.hidden && getComputedStyle(details).position === "fixed";
  const lowest = covers ? details.getBoundingClientRect().top : innerHeight;
  const from = Math.max(top, 0);
  return new DOMRect(left, from, right - left, Math.max(0, Math.min(bottom, lowest) - from));
}

/** Moves the picture so that a node is in the middle of what is seen. */
export function centre(node: Element | null): void {
  if (!node) return;
  const at = node.getBoundingClientRect();
  const room = seen();
  frame.scrollBy(
    at.left + at.width / 2 - (room.left + room.width / 2),
    at.top + at.height / 2 - (room.top + room.height / 2),
  );
}

/** Moves the picture only where a node is not seen whole. */
export function reveal(node: Element | null): void {
  if (!node) return;
  // The sheet of details may cover all of the frame that the window shows.
  if (seen().height < LEAST_SEEN) frame.scrollIntoView({ block: "start" });
  const at = node.getBoundingClientRect();
  const room = seen();
  const isSeen =
    at.left >= room.left + AROUND &&
    at.right <= room.right - AROUND &&
    at.top >= room.top + AROUND &&
    at.bottom <= room.bottom - AROUND;
  if (!isSeen) centre(node);
}

/** A picture whose names can be read as a whole is seen whole; of others the record. */
export function open(): void {
  chosen = false;
  resize(Math.max(fitting(), READABLE));
  const box = frame.getBoundingClientRect();
  const at = rootNode()?.getBoundingClientRect();
  // Not by the part that is seen: the frame may be below the window's edge when the page opens.
  if (at)
    frame.scrollBy(
      at.left + at.width / 2 - (box.left + box.width / 2),
      at.top + at.height / 2 - (box.top + box.height / 2),
    );
  announce(MOVED);
}

/** After another picture came: the scale that the reader chose, or that of a picture that opens. */
export const rescale = (): void => resize(chosen ? scale : Math.max(fitting(), READABLE));

function zoom(factor: number): void {
  chosen = true;
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
  fit: () => {
    chosen = true;
    resize(fitting());
  },
  centre: () => centre(nodeBy(focused() ?? "") ?? rootNode()),
};
const KEYS: Record<string, string> = { "+": "in", "=": "in", "-": "out", "0": "fit", c: "centre" };

export function enableZoom(): void {
  for (const button of document.querySelectorAll<HTMLElement>("[data-zoom]"))
    button.addEventListener("click", ZOOM[button.dataset["zoom"]!]!);
  frame.addEventListener("keydown", ({ key, ctrlKey, metaKey, altKey }) => {
    if (!ctrlKey && !metaKey && !altKey) ZOOM[KEYS[key] ?? ""]?.();
  });
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
export function enableDragging(): void {
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
  // Links would be dragged in place of the picture.
  frame.addEventListener("dragstart", (event) => event.preventDefault());
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

/** The edges at which the picture goes on fade. */
export function fadeEdges(): void {
  const fade = (side: string, hidden: number): void =>
    frame.style.setProperty(`--more-${side}`, hidden > 1 ? "1" : "0");
  frame.addEventListener(MOVED, () => {
    const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = frame;
    fade("left", scrollLeft);
    fade("right", scrollWidth - clientWidth - scrollLeft);
    fade("top", scrollTop);
    fade("bottom", scrollHeight - clientHeight - scrollTop);
  });
  frame.addEventListener("scroll", () => announce(MOVED), { passive: true });
  new ResizeObserver(() => announce(MOVED)).observe(frame);
}
