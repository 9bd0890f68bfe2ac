// Arrow keys move along edges: left to what was used, right to what came of it.
import { arrows, focused, frame, nodeBy } from "./drawing.js";
import { reveal } from "./viewport.js";

export function focus(node: SVGElement | null): void {
  (node?.querySelector<SVGElement>("a") ?? node)?.focus({ preventScroll: true });
  reveal(node);
}

export function enableArrowKeys(): void {
  frame.addEventListener("keydown", (event) => {
    const id = focused();
    if (id === undefined || !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const to = neighbour(id, event.key);
    if (to !== undefined) focus(nodeBy(to));
  });
}

function neighbour(id: string, key: string): string | undefined {
  const edges = arrows();
  const before = edges.filter(({ to }) => to === id).map(({ from }) => from);
  const after = edges.filter(({ from }) => from === id).map(({ to }) => to);
  if (key === "ArrowLeft") return before[0];
  if (key === "ArrowRight") return after[0];
  // Up and down: what stands beside it, with the same neighbour.
  const beside = edges
    .filter(({ from, to }) => after.includes(to) || before.includes(from))
    .map(({ from, to }) => (after.includes(to) ? from : to));
  const siblings = [...new Set([id, ...beside])].sort();
  const at = siblings.indexOf(id) + (key === "ArrowDown" ? 1 : -1);
  return siblings[(at + siblings.length) % siblings.length];
}
