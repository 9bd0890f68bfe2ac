// The drawing in the page: its nodes and arrows, and the node that has the focus.

/** Holds the drawing, and scrolls it. */
export const frame = document.getElementById("picture")!;

export const drawing = (): SVGSVGElement | null => frame.querySelector<SVGSVGElement>("svg.ev");

export const nodes = (): SVGElement[] => [...frame.querySelectorAll<SVGElement>("[data-id]")];

export const rootNode = (): SVGElement | null => frame.querySelector<SVGElement>("[data-root]");

export const nodeBy = (id: string): SVGElement | null =>
  frame.querySelector<SVGElement>(`[data-id="${CSS.escape(id)}"]`);

/** The node that an element is part of. */
export const nodeOf = (target: EventTarget | null): SVGElement | null =>
  target instanceof Element && frame.contains(target)
    ? target.closest<SVGElement>("[data-id]")
    : null;

export const idOf = (node: SVGElement): string => node.dataset["id"]!;

export interface Arrow {
  from: string;
  to: string;
  path: SVGElement;
}

export const arrows = (): Arrow[] =>
  [...frame.querySelectorAll<SVGElement>("[data-from][data-to]")].map((path) => ({
    from: path.dataset["from"]!,
    to: path.dataset["to"]!,
    path,
  }));

/** The identifier of the node that has the focus. */
export function focused(): string | undefined {
  const node = nodeOf(document.activeElement);
  return node ? idOf(node) : undefined;
}

/** Events on the frame: another drawing is in it; its part that is seen is another. */
export const DRAWN = "drawn";
export const MOVED = "moved";
export const announce = (event: typeof DRAWN | typeof MOVED): boolean =>
  frame.dispatchEvent(new Event(event));
