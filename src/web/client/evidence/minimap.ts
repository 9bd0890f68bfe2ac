// A small map of a picture that is larger than its frame. Keys and search do the same for those who
// use no pointer.
import { drawing, DRAWN, frame, MOVED, nodes } from "./drawing.js";

const SVG = "http://www.w3.org/2000/svg";
/** Of the longer side, in pixels; a very long picture is less thin than it would be. */
const [LENGTH, LEAST_SHARE] = [180, 0.3];

const map = document.getElementById("minimap")!;
/** What is seen of the picture. */
let view: SVGRectElement | undefined;

function rect(x: number, y: number, width: number, height: number): SVGRectElement {
  const element = document.createElementNS(SVG, "rect");
  place(element, { x, y, width, height });
  return element;
}

function place(element: SVGElement, sides: Record<string, number>): void {
  for (const [name, value] of Object.entries(sides)) element.setAttribute(name, String(value));
}

function draw(): void {
  const svg = drawing();
  if (!svg) return;
  const { width, height } = svg.viewBox.baseVal;
  const longer = Math.max(width, height);
  const [across, down] = [width, height].map((side) => Math.max(LEAST_SHARE, side / longer));
  const small = document.createElementNS(SVG, "svg");
  place(small, { width: across! * LENGTH, height: down! * LENGTH });
  small.setAttribute("viewBox", `0 0 ${width} ${height}`);
  small.setAttribute("preserveAspectRatio", "none");
  for (const node of nodes()) {
    const [x = 0, y = 0] = (node.getAttribute("transform")?.match(/-?[\d.]+/g) ?? []).map(Number);
    const dot = rect(x, y, 190, 44);
    dot.setAttribute("fill", getComputedStyle(node).stroke);
    if (node.dataset["root"] !== undefined) dot.setAttribute("class", "root");
    small.append(dot);
  }
  view = rect(0, 0, 0, 0);
  view.setAttribute("class", "view");
  small.append(view);
  map.replaceChildren(small);
}

function showView(): void {
  const svg = drawing();
  if (!svg || !view) return;
  const { width, height } = svg.viewBox.baseVal;
  const { scrollLeft, scrollTop, scrollWidth, scrollHeight, clientWidth, clientHeight } = frame;
  map.hidden = scrollWidth <= clientWidth + 1 && scrollHeight <= clientHeight + 1;
  place(view, {
    x: (scrollLeft / scrollWidth) * width,
    y: (scrollTop / scrollHeight) * height,
    width: (clientWidth / scrollWidth) * width,
    height: (clientHeight / scrollHeight) * height,
  });
}

function moveTo({ clientX, clientY }: PointerEvent): void {
  const { left, top, width, height } = map.firstElementChild!.getBoundingClientRect();
  frame.scrollTo(
    ((clientX - left) / width) * frame.scrollWidth - frame.clientWidth / 2,
    ((clientY - top) / height) * frame.scrollHeight - frame.clientHeight / 2,
  );
}

export function enableMinimap(): void {
  frame.addEventListener(DRAWN, draw);
  frame.addEventListener(MOVED, showView);
  map.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    map.setPointerCapture(event.pointerId);
    moveTo(event);
  });
  map.addEventListener("pointermove", (event) => {
    if (map.hasPointerCapture(event.pointerId)) moveTo(event);
  });
}
