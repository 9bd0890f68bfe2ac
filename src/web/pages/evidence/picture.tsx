/** The picture of the evidence, and what a reader may change about it. */
import type { ComponentChildren } from "preact";
import { type Glyph, GLYPHS } from "../../../services/evidence/picture/glyphs.js";
import { sequence } from "../../../services/evidence/origin.js";
import type { Kinds } from "../../../services/evidence/picture/drawing.js";
import type { PictureKind } from "../../../services/evidence/picture/picture.js";
import type { DrawnPicture } from "../../../services/evidence/picture/svg.js";
import type { EvidenceGraph } from "../../../services/evidence/types.js";
import { Notice } from "../../components.js";
import { recordPath } from "../../paths.js";
import { counted, countText } from "../../words.js";
import { addressOf, DIRECTIONS, type View } from "./view.js";

const DEPTHS = ["1", "2", "3", "5", ""] as const;

const depthsWith = (depth: string): readonly string[] =>
  (DEPTHS as readonly string[]).includes(depth) ? DEPTHS : [depth, ...DEPTHS];

/** Names of groups have no colon. */
const isRecord = (expanded: string): boolean => expanded.includes(":");

export function Toolbar({ id, view }: { id: string; view: View }) {
  const last = view.expand.at(-1);
  return (
    <form class="row toolbar" action={recordPath(id, "evidence")} data-part="tools">
      {view.owner && <input type="hidden" name="by" value="owner" />}
      {view.hubs && <input type="hidden" name="hubs" value="all" />}
      {view.hidden.map((kind) => (
        <input type="hidden" name="hide" value={kind} />
      ))}
      {view.expand.map((each) => (
        <input type="hidden" name="expand" value={each} />
      ))}
      <label>
        Show{" "}
        <select name="direction" data-send>
          {DIRECTIONS.map(([value, text]) => (
            <option value={value} selected={value === view.direction}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        Steps{" "}
        <select name="depth" data-send>
          {depthsWith(view.depth).map((depth) => (
            <option value={depth} selected={depth === view.depth}>
              {depth === "" ? "all" : depth}
            </option>
          ))}
        </select>
      </label>
      <label>
        Like siblings{" "}
        <select name="siblings" data-send>
          <option value="grouped">in groups</option>
          <option value="single" selected={view.siblings === "single"}>
            one by one
          </option>
        </select>
      </label>
      <button class="secondary" data-without-script>
        Show
      </button>
      {view.depth !== "" && (
        <a href={addressOf(id, view, { depth: String(Number(view.depth) + 1) })}>One step more</a>
      )}
      {Number(view.depth) > 1 && (
        <a href={addressOf(id, view, { depth: String(Number(view.depth) - 1) })}>One step less</a>
      )}
      {last !== undefined && view.expand.length > 1 && (
        <a href={addressOf(id, view, { expand: view.expand.slice(0, -1) })}>
          Close the last {isRecord(last) ? "step" : "group"}
        </a>
      )}
      {view.expand.length > 0 && (
        <a href={addressOf(id, view, { expand: [] })}>{closeAllText(view.expand)}</a>
      )}
    </form>
  );
}

function closeAllText(expand: readonly string[]): string {
  const steps = expand.filter(isRecord).length;
  if (steps === 0) return "Close the groups";
  return steps === expand.length ? "Close the added steps" : "Close the groups and added steps";
}

interface ChipsProps extends Kinds {
  id: string;
  view: View;
  picture: DrawnPicture;
  graph: EvidenceGraph;
}

/** The legend of the picture, of which each entry can be left out. */
export function Chips({ id, view, picture, graph, kinds, names }: ChipsProps) {
  const thirdParty =
    picture.edges.filter((edge) => edge.thirdParty).length + (graph.hidden.thirdParty ?? 0);
  const present = [...kinds].filter(([, count]) => count > 0);
  return (
    <ul class="chips" data-part="chips" aria-label="What the picture shows">
      {present.map(([kind, count]) => {
        const shown = !view.hidden.includes(kind);
        const hidden = shown
          ? [...view.hidden, kind]
          : view.hidden.filter((other) => other !== kind);
        return (
          <Chip {...{ shown, count }} name={kind} href={addressOf(id, view, { hidden })}>
            <Swatch kind={kind} /> {kindText(kind, names.get(kind))}
          </Chip>
        );
      })}
      {(thirdParty > 0 || view.owner) && (
        <Chip
          shown={!view.owner}
          count={thirdParty}
          name="third-parties"
          href={addressOf(id, view, { owner: !view.owner })}
        >
          Statements of third parties
        </Chip>
      )}
      {picture.hubArrows > 0 && (
        <Chip
          shown={view.hubs}
          count={picture.hubArrows}
          name="hubs"
          href={addressOf(id, view, { hubs: !view.hubs })}
        >
          Arrows from what is used in many places
        </Chip>
      )}
      {graph.hidden.unknown !== undefined && (
        <li class="quiet">
          {graph.hidden.unknown === 1 ? "1 record" : `${graph.hidden.unknown} records`} that you may
          not see, or that nobody registered here.
        </li>
      )}
    </ul>
  );
}

function kindText(kind: PictureKind, names: readonly string[] = []): string {
  const text =
    kind === "absent" ? "not stored here" : names.length > 0 ? sequence(names) : GLYPHS[kind].many;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

interface ChipProps {
  shown: boolean;
  count: number;
  /** By which a script finds it again. */
  name: string;
  href: string;
  children: ComponentChildren;
}

function Chip({ shown, count, name, href, children }: ChipProps) {
  return (
    <li>
      <a class={shown ? "chip" : "chip off"} href={href} data-name={name} rel="nofollow">
        <span class="visually-hidden">{shown ? "Hide: " : "Show: "}</span>
        {children} <span class="count">{countText(count)}</span>
      </a>
    </li>
  );
}

/** A small node of a kind. */
function Swatch({ kind }: { kind: PictureKind }) {
  const absent = kind === "absent";
  const { outline, light }: Glyph = GLYPHS[absent ? "other" : kind];
  return (
    <svg class="swatch" viewBox="-3 -3 76 50" width="26" height="17" aria-hidden="true">
      <path
        class={`ev-${kind}`}
        d={outline(70, 44)}
        fill={absent ? "none" : light.fill}
        stroke={light.stroke}
        stroke-width="3"
        stroke-dasharray={absent ? "9 7" : undefined}
      />
    </svg>
  );
}

interface DrawingProps {
  picture: DrawnPicture;
  graph: EvidenceGraph;
  id: string;
  view: View;
  /** A record to which the way is marked. */
  marked: string | undefined;
}

export function Drawing({ picture, graph, id, view, marked }: DrawingProps) {
  const { svg, nodes, edges, left } = picture;
  const [nodeCount, edgeCount] = [nodes.length, edges.length];
  return (
    <section class="evidence">
      <div data-part="empty">
        {nodeCount <= 1 && (
          <Notice>
            <p>
              {view.hidden.length > 0
                ? "Nothing else is left of the picture."
                : "No record here states where this came from or what it supports."}
              {view.direction !== "both" && (
                <>
                  {" "}
                  <a href={addressOf(id, view, { direction: "both" })}>Look in both directions.</a>
                </>
              )}
            </p>
          </Notice>
        )}
        {view.siblings === "single" && nodes.some(({ count }) => count !== undefined) && (
          <Notice>
            <p>
              These are too many to draw one by one: like siblings are in groups. Open a group, or
              choose fewer steps.
            </p>
          </Notice>
        )}
      </div>
      {/* Scripts say here what a change in place has come to. */}
      <p class="visually-hidden" id="said" role="status" />
      <div class="picture-frame">
        <PictureTools />
        <div class="picture-stage">
          {/* Drawn by the service, which escapes every name. */}
          <div
            class="picture"
            id="picture"
            tabIndex={0}
            role="group"
            aria-label="Picture of the evidence; the list below has the same content"
            data-marked={marked}
            dangerouslySetInnerHTML={{ __html: svg }}
          />
          <div class="minimap" id="minimap" aria-hidden="true" hidden />
          <aside class="details" id="details" aria-label="Details" hidden />
        </div>
      </div>
      <p
        class="legend quiet small"
        data-part="legend"
        data-said={`The picture shows ${counted(nodeCount, "object")} and ${counted(edgeCount, "relation")}.`}
      >
        Arrows lead from what was used to what came of it. Dashed: stated by others than the owner.
        Struck through: withdrawn.
        {left.length > 0 &&
          ` Not shown: ${left.map(({ count, about }) => `${countText(count)} ${about}`).join(", ")}.`}
        {graph.dangling.length > 0 &&
          ` ${counted(graph.dangling.length, "reference")} to objects that are not stored here.`}
        {graph.truncated && " The graph is larger than what is shown: choose fewer steps."}
      </p>
      <p>
        <a href={recordPath(id, "impact")}>What is affected if this is withdrawn?</a>
      </p>
    </section>
  );
}

/** What works by scripts only. */
function PictureTools() {
  return (
    <div class="picture-tools" data-script hidden>
      <label class="visually-hidden" for="find">
        Find in the picture
      </label>
      <input id="find" type="search" placeholder="Find in the picture" autocomplete="off" />
      <output id="found" for="find" class="quiet small" />
      <span class="buttons">
        <button type="button" class="secondary" data-zoom="in" aria-label="Zoom in">
          +
        </button>
        <button type="button" class="secondary" data-zoom="out" aria-label="Zoom out">
          −
        </button>
        <button type="button" class="secondary" data-zoom="fit">
          Fit
        </button>
        <button type="button" class="secondary" data-zoom="centre">
          Centre
        </button>
        <button type="button" class="secondary" data-save="png">
          PNG
        </button>
      </span>
    </div>
  );
}
