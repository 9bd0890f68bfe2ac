// Search in the picture: what matches stands out, Enter goes from one to the next.
import { DRAWN, drawing, frame, idOf, nodes } from "./drawing.js";
import { focus } from "./keys.js";
import { centre } from "./viewport.js";

const field = document.getElementById("find") as HTMLInputElement;
const output = document.getElementById("found")!;

let found: SVGElement[] = [];
let current = -1;

/** Name and kind; for words that are part of an identifier, that. */
const matches = (node: SVGElement, word: string): boolean =>
  (word.includes(":") || word.includes("/")
    ? idOf(node)
    : (node.querySelector("title")?.textContent ?? "")
  )
    .toLowerCase()
    .includes(word);

function find(): void {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const isSearch = words.length > 0;
  found = isSearch ? nodes().filter((node) => words.every((word) => matches(node, word))) : [];
  current = -1;
  drawing()?.classList.toggle("finding", found.length > 0);
  for (const node of nodes()) {
    node.classList.toggle("ev-found", found.includes(node));
    node.classList.remove("ev-current");
  }
  output.textContent = isSearch ? resultText() : "";
  if (found.length > 0) go(1);
}

const resultText = (): string => {
  if (found.length > 0) return `${current + 1} of ${found.length}`;
  return frame.querySelector("[data-group]")
    ? "Nothing found; groups are searched by their first name"
    : "Nothing found";
};

function go(step: number): void {
  found[current]?.classList.remove("ev-current");
  current = (current + step + found.length) % found.length;
  found[current]!.classList.add("ev-current");
  centre(found[current]!);
  output.textContent = resultText();
}

export function enableSearch(): void {
  field.addEventListener("input", find);
  frame.addEventListener(DRAWN, find);
  field.addEventListener("keydown", (event) => {
    const { key, shiftKey } = event;
    if (found.length === 0 || (key !== "Enter" && key !== "ArrowDown")) return;
    event.preventDefault();
    if (key === "Enter") go(shiftKey ? -1 : 1);
    else focus(found[current]!);
  });
}
