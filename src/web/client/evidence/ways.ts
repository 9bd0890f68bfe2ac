// The ways of a node light up: those between it and the record that the picture is about.
import { arrows, drawing, frame, idOf, nodeBy, nodeOf, nodes, rootNode } from "./drawing.js";

/** What can be reached from a node by these steps. */
function reached(start: string, steps: ReadonlyMap<string, string[]>): Set<string> {
  const all = new Set([start]);
  // A set grows while it is walked.
  for (const node of all) for (const next of steps.get(node) ?? []) all.add(next);
  return all;
}

/** The steps along the arrows, and against them. */
function stepsOfArrows(): [forward: Map<string, string[]>, backward: Map<string, string[]>] {
  const [forward, backward] = [new Map<string, string[]>(), new Map<string, string[]>()];
  const add = (steps: Map<string, string[]>, start: string, end: string): void => {
    const known = steps.get(start);
    if (known) known.push(end);
    else steps.set(start, [end]);
  };
  for (const arrow of arrows()) {
    add(forward, arrow.from, arrow.to);
    add(backward, arrow.to, arrow.from);
  }
  return [forward, backward];
}

/**
 * Every node on a way between a node and the record, along the arrows. Without such a way all that
 * the node came from and led to: no arrow leads to a crate.
 */
function waysOf(id: string, root: string): Set<string> {
  const [forward, backward] = stepsOfArrows();
  const [after, before] = [reached(id, forward), reached(id, backward)];
  for (const [own, back] of [
    [after, backward],
    [before, forward],
  ] as const)
    if (own.has(root)) {
      const ofRoot = reached(root, back);
      return new Set([...own].filter((node) => ofRoot.has(node)));
    }
  for (const node of before) after.add(node);
  return after.size > 1 ? after : new Set();
}

/** Lights the ways of a node, of the record itself nothing; undefined: none. */
export function lightWays(id: string | undefined): void {
  const root = rootNode();
  const isNode = id !== undefined && root !== null && nodeBy(id) !== null;
  const way = isNode && id !== idOf(root) ? waysOf(id, idOf(root)) : new Set<string>();
  drawing()?.classList.toggle("lighting", way.size > 0);
  for (const node of nodes()) {
    node.classList.toggle("ev-lit", way.has(idOf(node)));
    node.classList.toggle("ev-chosen", isNode && idOf(node) === id);
  }
  for (const { from, to, path } of arrows()) light(path, "ev-lit", way.has(from) && way.has(to));
}

/** What is lit is drawn last: no other arrow crosses it. */
function light(path: SVGElement, as: "ev-lit" | "ev-near", on: boolean): void {
  if (path.classList.contains(as) === on) return;
  path.classList.toggle(as, on);
  if (on) path.parentElement!.append(path);
}

/** The arrows of the node under the pointer or with the focus light up: nobody finds them in a crowd. */
export function enableNearArrows(): void {
  const lightNear = (node: SVGElement | null): void => {
    const id = node && CSS.escape(idOf(node));
    for (const path of frame.querySelectorAll<SVGElement>(".ev-near"))
      light(path, "ev-near", false);
    for (const path of frame.querySelectorAll<SVGElement>(
      `.ev-edge:is([data-from="${id}"], [data-to="${id}"])`,
    ))
      light(path, "ev-near", true);
  };
  for (const event of ["pointerover", "focusin"])
    frame.addEventListener(event, ({ target }) => lightNear(nodeOf(target)));
  for (const event of ["pointerleave", "focusout"])
    frame.addEventListener(event, () => lightNear(null));
}
