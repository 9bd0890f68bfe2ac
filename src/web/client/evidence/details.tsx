// A click on a node shows what it is beside the picture, with the ways on.
import { render } from "preact";
import { isWebAddress } from "../../components.js";
import { recordPath } from "../../paths.js";
import { kindText, licenceText, shortened } from "../../words.js";
import { ask } from "../shared/ask.js";
import { DRAWN, frame, idOf, nodeBy, nodeOf } from "./drawing.js";
import { focus } from "./keys.js";
import { reveal } from "./viewport.js";
import { lightWays } from "./ways.js";

const QUERY = `query ($id: ID!) {
  record(id: $id) { id name: label kind description license owner { name: label } }
}`;

interface Known {
  name: string | null;
  kind: string | null;
  description: string | null;
  license: string | null;
  owner: { name: string | null } | null;
}

const panel = document.getElementById("details")!;
/** The node that is shown. */
let shown: string | undefined;

function Details({ id, node, known }: { id: string; node: SVGElement; known?: Known }) {
  const [name, note] = [".ev-name", ".ev-note"].map(
    (part) => node.querySelector(part)?.textContent,
  );
  const further = node.querySelector<SVGAElement>("a.ev-plus")?.href.baseVal;
  return (
    <>
      <div class="details-head">
        <h2 dir="auto" tabIndex={-1}>
          {shortened(known?.name ?? fullName(node) ?? name ?? id, 300)}
        </h2>
        <button type="button" class="secondary" aria-label="Close the details" onClick={close}>
          ×
        </button>
      </div>
      <div class="details-body">
        <p class="quiet">
          {[known ? kindText(known.kind) : note, known?.owner?.name].filter(Boolean).join(" · ")}
        </p>
        {known?.license && <p class="quiet">{shortened(licenceText(known.license), 120)}</p>}
        {known?.description && <p dir="auto">{shortened(known.description, 600)}</p>}
        <p class="quiet small">{shortened(id, 300)}</p>
      </div>
      <p class="actions">
        {id.startsWith("ark:") ? (
          <>
            <a class="button" href={recordPath(id)}>
              Open the record
            </a>
            {further !== undefined && <a href={further}>One step more</a>}
            {node.dataset["root"] === undefined && (
              <>
                <a href={recordPath(id, "evidence")}>Evidence from here</a>
                <a href={`${location.pathname}?to=${encodeURIComponent(id)}#why`}>
                  How it is connected
                </a>
              </>
            )}
          </>
        ) : (
          isWebAddress(id) && (
            <a class="button" href={id} rel="nofollow noopener">
              Leave for {new URL(id).host} ↗
            </a>
          )
        )}
      </p>
    </>
  );
}

/** The title of a node begins with its name; its kind follows the last comma. */
const fullName = (node: SVGElement): string | undefined =>
  node.querySelector("title")?.textContent?.replace(/, [^,]*$/, "");

async function show(node: SVGElement, byKey: boolean): Promise<void> {
  const id = idOf(node);
  shown = id;
  render(<Details id={id} node={node} />, panel);
  panel.hidden = false;
  lightWays(id);
  reveal(node);
  if (byKey) panel.querySelector("h2")!.focus();
  if (!id.startsWith("ark:")) return;
  // What cannot be read stays as the picture has it; its page says why.
  const answer = await ask<{ record: Known | null }>(QUERY, { id }).catch(() => undefined);
  if (answer?.record && shown === id)
    render(<Details id={id} node={node} known={answer.record} />, panel);
}

function close(): void {
  const had = panel.contains(document.activeElement) ? shown : undefined;
  shown = undefined;
  panel.hidden = true;
  lightWays(undefined);
  if (had !== undefined) focus(nodeBy(had));
}

export function enableDetails(): void {
  frame.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const node = nodeOf(event.target);
    if (!node || node.dataset["group"] !== undefined) return;
    if ((event.target as Element).closest("[data-further]")) return;
    event.preventDefault();
    void show(node, event.detail === 0);
  });
  addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && shown !== undefined) close();
  });
  frame.addEventListener(DRAWN, () => {
    const node = shown === undefined ? null : nodeBy(shown);
    if (node) lightWays(shown);
    else if (shown === undefined) lightWays(frame.dataset["marked"]);
    else close();
  });
}
