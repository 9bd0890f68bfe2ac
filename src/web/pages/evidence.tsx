import { nameText } from "../../model/labels.js";
import type { ComponentChildren } from "preact";
import { ServiceError } from "../../errors.js";
import { type EvidenceLine, evidenceLines } from "../../services/evidence/picture/drawing.js";
import type { DrawnPicture } from "../../services/evidence/picture/svg.js";
import { type EvidenceGraph, MAX_EXPANDED } from "../../services/evidence/types.js";
import { askedArk } from "../../services/records/find.js";
import { assetUrl } from "../assets.js";
import { Empty, Notice, Section, When } from "../components.js";
import { KindLabel, RecordLink, StatusBadge } from "../record-components.js";
import {
  EvidenceDocument,
  EvidencePathDocument,
  type EvidencePathQuery,
  ImpactDocument,
  type ImpactQuery,
  type RecordKind,
} from "../documents.js";
import { kindOf, type Names, namesOf } from "../format.js";
import { counted, countText, kindText, shortened } from "../words.js";
import type { Page, PageRequest, Redirect, Route } from "../page.js";
import { recordPath, withQuery } from "../paths.js";

/** Like siblings that become one group, unless the reader asks for single ones. */
const COLLAPSE = 4;
const DEPTHS = ["1", "2", "3", "5", ""] as const;
const IMPACT_PAGE = 200;

type Direction = "UPSTREAM" | "DOWNSTREAM" | "BOTH";
const DIRECTIONS: readonly (readonly [Direction, string])[] = [
  ["BOTH", "where it came from and what it supports"],
  ["UPSTREAM", "where it came from"],
  ["DOWNSTREAM", "what it supports"],
];

interface View {
  direction: Direction;
  depth: string;
  siblings: "grouped" | "single";
  owner: boolean;
  /** Kinds that are shown; all when empty. */
  kinds: RecordKind[];
  /** Groups that are open, and records with one step more, in the order in which they were chosen. */
  expand: string[];
}

/** Kinds that evidence consists of. */
const KINDS_SHOWN: readonly RecordKind[] = [
  "DATASET",
  "DATA_DOWNLOAD",
  "COMPUTATION",
  "EXPERIMENT",
  "SOFTWARE",
  "ML_MODEL",
  "SAMPLE",
  "INSTRUMENT",
  "SCHEMA",
  "USER",
  "ENTITY",
];

function viewOf(query: URLSearchParams): View {
  const direction = query.get("direction")?.toUpperCase();
  const depth = query.get("depth") ?? "";
  return {
    direction: DIRECTIONS.find(([name]) => name === direction)?.[0] ?? "BOTH",
    depth: /^\d{1,3}$/.test(depth) && depth !== "0" ? depth : "",
    siblings: query.get("siblings") === "single" ? "single" : "grouped",
    owner: query.get("by") === "owner",
    kinds: KINDS_SHOWN.filter((kind) => query.getAll("kind").includes(kindOf(kind))),
    expand: [...new Set(query.getAll("expand"))].slice(0, MAX_EXPANDED),
  };
}

/** Names of groups have no colon. */
const isRecord = (expanded: string): boolean => expanded.includes(":");

/** Address of the same picture with something changed. */
function addressOf(id: string, view: View, change: Partial<View> = {}): string {
  const { direction, depth, siblings, owner, kinds, expand } = { ...view, ...change };
  const query = new URLSearchParams();
  if (direction !== "BOTH") query.set("direction", direction.toLowerCase());
  if (depth !== "") query.set("depth", depth);
  if (siblings !== "grouped") query.set("siblings", siblings);
  if (owner) query.set("by", "owner");
  for (const kind of kinds) query.append("kind", kindOf(kind));
  for (const each of expand) query.append("expand", each);
  const text = query.toString();
  return recordPath(id, "evidence") + (text === "" ? "" : `?${text}`);
}

async function evidencePage(request: PageRequest): Promise<Page> {
  const { ask, query, params } = request;
  const view = viewOf(query);
  const id = params["ark"]!;
  const link = addressOf(id, view);
  const expandLink = `${link}${link.includes("?") ? "&" : "?"}expand=`;
  const [{ record }, { drawn, graph }] = await Promise.all([
    ask(EvidenceDocument, { id }),
    request.drawEvidence(
      {
        ark: askedArk(id),
        direction: view.direction.toLowerCase() as Lowercase<Direction>,
        assertedBy: view.owner ? "owner" : "anyone",
        expand: view.expand,
        ...(view.depth === "" ? {} : { depth: Number(view.depth) }),
        ...(view.siblings === "grouped" ? { collapse: COLLAPSE } : {}),
        ...(view.kinds.length === 0 ? {} : { kinds: view.kinds.map(kindOf) }),
      },
      view.expand.length < MAX_EXPANDED ? expandLink : null,
    ),
  ]);
  const lines = evidenceLines(graph, view.direction === "DOWNSTREAM");
  const owners = await namesOf(
    ask,
    lines.flatMap((line) => (line.thirdParty ? line.owners : [])),
  );
  if (!record) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  const name = nameText(record);
  const to = (query.get("to") ?? "").trim();
  return {
    title: `Evidence of ${shortened(name, 80)}`,
    description: `Where “${shortened(name, 120)}” came from, and what it supports: ${counted(
      drawn.nodes.length,
      "object",
    )} and ${counted(drawn.edges.length, "relation")}.`,
    layout: "wide",
    styles: [assetUrl("picture.css")],
    scripts: ["evidence", "picker"],
    body: (
      <>
        <p class="crumb">
          <RecordLink record={record} glyph /> › Evidence
        </p>
        <h1 dir="auto">
          {shortened(name, 200)}{" "}
          <StatusBadge status={record.publicationStatus} embargoEndsAt={record.embargoEndsAt} />
        </h1>
        <Toolbar id={record.id} view={view} />
        <Drawing picture={drawn} graph={graph} id={record.id} view={view} />
        <PathSection
          {...{ request, id: record.id, to }}
          path={await pathTo(request, record.id, to)}
        />
        <Outline lines={lines} owners={owners} id={record.id} view={view} />
        <Exports id={record.id} view={view} />
      </>
    ),
  };
}

const depthsWith = (depth: string): readonly string[] =>
  (DEPTHS as readonly string[]).includes(depth) ? DEPTHS : [depth, ...DEPTHS];

function Toolbar({ id, view }: { id: string; view: View }) {
  return (
    <form class="row toolbar" action={recordPath(id, "evidence")} data-part="tools">
      {view.expand.map((each) => (
        <input type="hidden" name="expand" value={each} />
      ))}
      <label>
        Show{" "}
        <select name="direction">
          {DIRECTIONS.map(([value, text]) => (
            <option value={value.toLowerCase()} selected={value === view.direction}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        Steps{" "}
        <select name="depth">
          {depthsWith(view.depth).map((depth) => (
            <option value={depth} selected={depth === view.depth}>
              {depth === "" ? "all" : depth}
            </option>
          ))}
        </select>
      </label>
      <label>
        Like siblings{" "}
        <select name="siblings">
          <option value="grouped">in groups</option>
          <option value="single" selected={view.siblings === "single"}>
            one by one
          </option>
        </select>
      </label>
      <label>
        Stated by{" "}
        <select name="by">
          <option value="">anyone</option>
          <option value="owner" selected={view.owner}>
            owners only
          </option>
        </select>
      </label>
      <details class="kinds" open={view.kinds.length > 0}>
        <summary>Kinds: {view.kinds.length === 0 ? "all" : countText(view.kinds.length)}</summary>
        {KINDS_SHOWN.map((kind) => (
          <label>
            <input
              type="checkbox"
              name="kind"
              value={kindOf(kind)}
              checked={view.kinds.includes(kind)}
            />{" "}
            {kindText(kind, true)}
          </label>
        ))}
      </details>
      <button class="secondary">Show</button>
      {view.depth !== "" && (
        <a href={addressOf(id, view, { depth: String(Number(view.depth) + 1) })}>One step more</a>
      )}
      {Number(view.depth) > 1 && (
        <a href={addressOf(id, view, { depth: String(Number(view.depth) - 1) })}>One step less</a>
      )}
      {view.expand.length > 1 && (
        <a href={addressOf(id, view, { expand: view.expand.slice(0, -1) })}>
          Close the last {isRecord(view.expand.at(-1)!) ? "step" : "group"}
        </a>
      )}
      {view.expand.length > 0 && (
        <a href={addressOf(id, view, { expand: [] })}>{closeAllText(view.expand)}</a>
      )}
      <a href={recordPath(id, "impact")}>What is affected if this is withdrawn?</a>
    </form>
  );
}

function closeAllText(expand: readonly string[]): string {
  const steps = expand.filter(isRecord).length;
  if (steps === 0) return "Close the groups";
  return steps === expand.length ? "Close the added steps" : "Close the groups and added steps";
}

interface DrawingProps {
  picture: DrawnPicture;
  graph: EvidenceGraph;
  id: string;
  view: View;
}

function Drawing({ picture, graph, id, view }: DrawingProps) {
  const { svg, nodes, edges, left } = picture;
  const [nodeCount, edgeCount] = [nodes.length, edges.length];
  return (
    <section class="evidence">
      <div data-part="empty">
        {nodeCount <= 1 && (
          <Notice>
            <p>
              No record here states where this came from or what it supports.
              {view.direction !== "BOTH" && (
                <>
                  {" "}
                  <a href={addressOf(id, view, { direction: "BOTH" })}>Look in both directions.</a>
                </>
              )}
            </p>
          </Notice>
        )}
      </div>
      {/* Scripts say here what a change in place has come to. */}
      <p class="visually-hidden" id="said" role="status" />
      <div class="picture-frame">
        <div class="picture-tools" data-script hidden>
          <button type="button" class="secondary" data-zoom="in" aria-label="Zoom in">
            +
          </button>
          <button type="button" class="secondary" data-zoom="out" aria-label="Zoom out">
            −
          </button>
          <button type="button" class="secondary" data-zoom="fit">
            Fit
          </button>
          <button type="button" class="secondary" data-save="png">
            PNG
          </button>
        </div>
        {/* Drawn by the service, which escapes every name. */}
        <div
          class="picture"
          id="picture"
          tabIndex={0}
          role="group"
          aria-label="Picture of the evidence; the list below has the same content"
          dangerouslySetInnerHTML={{ __html: svg }}
        />
        <aside class="panel picture-facts" id="facts" aria-live="polite" hidden />
      </div>
      <p
        class="legend quiet small"
        data-part="legend"
        data-said={`The picture shows ${counted(nodeCount, "object")} and ${counted(edgeCount, "relation")}.`}
      >
        Arrows lead from what was used to what came of it. Dashed: stated by others than the owner.
        Struck through: withdrawn.
        {left.map(({ count, about }) => ` ${countText(count)} ${about}.`)}
        {graph.dangling.length > 0 &&
          ` ${counted(graph.dangling.length, "reference")} to objects that are not stored here.`}
        {graph.truncated && " The graph is larger than what is shown: choose fewer steps."}
      </p>
    </section>
  );
}

type PathAnswer = EvidencePathQuery["supportPath"];

async function pathTo({ ask }: PageRequest, from: string, to: string): Promise<PathAnswer | Error> {
  if (to === "") return null;
  try {
    return (await ask(EvidencePathDocument, { from, to })).supportPath;
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return error;
    throw error;
  }
}

/** "Why?": the shortest chain between two records. */
function PathSection(props: {
  request: PageRequest;
  id: string;
  to: string;
  path: PathAnswer | Error;
}) {
  const { id, to, path } = props;
  return (
    <Section id="why" title="How is it connected to another record?">
      <form class="row" action={`${recordPath(id, "evidence")}#why`}>
        <label for="to">Name or identifier</label>
        <input id="to" name="to" value={to} placeholder="ark:…" data-picker />
        <datalist id="picker-options" />
        <button class="secondary">Find the path</button>
      </form>
      {path instanceof Error ? (
        <Notice tone="warning">{path.message}</Notice>
      ) : path ? (
        <ol class="path">
          {path.nodes.map((node, index) => (
            <li>
              <RecordLink record={node} glyph />
              {path.edges[index] && (
                <span class="quiet"> — {edgeText(path.edges[index].name)}</span>
              )}
            </li>
          ))}
        </ol>
      ) : (
        to !== "" && <p>Neither supports the other, as far as the records here say.</p>
      )}
    </Section>
  );
}

/** `generatedBy` as `generated by`. */
const edgeText = (name: string): string =>
  name.replace(
    /([a-z])([A-Z])/g,
    (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
  );

/** The same graph as an indented list: for print, for screen readers, and to copy. */
function Outline(props: { lines: readonly EvidenceLine[]; owners: Names; id: string; view: View }) {
  const { lines, owners, id, view } = props;
  if (lines.length <= 1) return <div data-part="list" />;
  return (
    <Section id="outline" data-part="list" title="The same as a list">
      <ol class="outline">
        {lines.map((row) => (
          <li class={`depth-${Math.min(row.depth, 12)}`}>
            {row.property && (
              <span class="quiet">
                {row.inverse ? "← " : ""}
                {edgeText(row.property)}{" "}
              </span>
            )}
            {row.group !== null ? (
              <ExpandLink {...{ id, view }} expand={row.group}>
                {countText(row.count ?? 0)} like objects
              </ExpandLink>
            ) : row.missing === null ? (
              <RecordLink record={row} />
            ) : (
              <span>
                <bdi>{shortened(nameText(row), 120)}</bdi>{" "}
                <span class="quiet">
                  ({row.missing === "deleted" ? "withdrawn" : "not stored here"})
                </span>
              </span>
            )}
            {row.thirdParty && (
              <span class="quiet">
                {" "}
                stated by {row.owners.map((owner) => owners.get(owner)?.name ?? owner).join(", ")}
              </span>
            )}
            {row.repeated && <span class="quiet"> (see above)</span>}
            {row.further > 0 && (
              <>
                {" "}
                <ExpandLink {...{ id, view }} expand={row.id}>
                  Show one step more
                  <span class="visually-hidden"> from {shortened(nameText(row), 120)}</span>
                </ExpandLink>{" "}
                <span class="quiet">(+{countText(row.further)})</span>
              </>
            )}
            {row.continues && (
              <>
                {" "}
                <a href={recordPath(row.id, "evidence")}>continue from here</a>
              </>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** A link to the same with one more group or record expanded; text where there are too many. */
function ExpandLink(props: {
  id: string;
  view: View;
  expand: string;
  children: ComponentChildren;
}) {
  const { id, view, expand, children } = props;
  if (view.expand.length >= MAX_EXPANDED) return <span>{children}</span>;
  return <a href={addressOf(id, view, { expand: [...view.expand, expand] })}>{children}</a>;
}

const EXPORTS: readonly (readonly [format: string, name: string])[] = [
  ["svg", "SVG"],
  ["dot", "DOT (Graphviz)"],
  ["mermaid", "Mermaid"],
  ["prov-json", "PROV-JSON"],
  ["turtle", "Turtle"],
  ["jsonld", "JSON-LD"],
];

function Exports({ id, view }: { id: string; view: View }) {
  const query = new URLSearchParams({ direction: view.direction.toLowerCase() });
  if (view.depth !== "") query.set("depth", view.depth);
  if (view.siblings === "grouped") query.set("collapse", String(COLLAPSE));
  if (view.owner) query.set("assertedBy", "owner");
  if (view.kinds.length > 0) query.set("kind", view.kinds.map(kindOf).join(","));
  if (view.expand.length > 0) query.set("expand", view.expand.join(","));
  return (
    <Section data-part="formats" title="Formats">
      <ul class="keywords">
        {EXPORTS.map(([format, name]) => (
          <li>
            <a href={`/evidencegraph/query/${encodeURI(id)}?${query.toString()}&format=${format}`}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}

type Affected = ImpactQuery["evidence"]["nodes"][number];

async function impactPage(request: PageRequest): Promise<Page> {
  const { ask, params, query, res } = request;
  const id = params["ark"]!;
  const wantsTable = query.get("as") === "csv";
  const { record, impact, evidence } = await ask(ImpactDocument, {
    id,
    first: wantsTable ? 10_000 : IMPACT_PAGE,
    after: query.get("after"),
  });
  if (!record) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  const affected = evidence.nodes.filter((node) => node.id !== record.id);
  if (wantsTable) {
    res
      .writeHead(200, {
        "Content-Type": "text/csv; charset=utf-8; header=present",
        "Content-Disposition": 'attachment; filename="affected.csv"',
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-cache, private",
      })
      .end(csvOf(affected));
    return { title: "", body: null };
  }
  const name = nameText(record);
  return {
    title: `What depends on ${shortened(name, 80)}`,
    description: `${counted(impact.total, "record")} depend on “${shortened(name, 120)}”.`,
    body: (
      <>
        <p class="crumb">
          <RecordLink record={record} glyph /> ›{" "}
          <a href={recordPath(record.id, "evidence")}>Evidence</a> › What depends on it
        </p>
        <h1>What is affected if this is withdrawn?</h1>
        {impact.total === 0 ? (
          <Empty title="No record here depends on it.">
            <p>
              <a href={recordPath(record.id)}>Back to the record</a>
            </p>
          </Empty>
        ) : (
          <>
            <p>
              <strong>{counted(impact.total, "record")}</strong> depend on it,{" "}
              {countText(impact.direct)} directly, the furthest in{" "}
              {counted(impact.furthest, "step")}:{" "}
              {impact.byKind
                .map(
                  ({ kind, count }) =>
                    `${countText(count)} ${kindText(kind, count !== 1).toLowerCase()}`,
                )
                .join(", ")}
              . They belong to{" "}
              {impact.byOwner
                .slice(0, 10)
                .map(
                  ({ owner, name: ownerName, count }) =>
                    `${ownerName ?? owner?.id ?? "nobody"} (${countText(count)})`,
                )
                .join(", ")}
              .
            </p>
            <p class="actions">
              <a
                class="button secondary"
                href={`${recordPath(record.id, "impact")}?as=csv`}
                download
              >
                Download as CSV
              </a>
            </p>
            <div class="scroll">
              <table>
                <thead>
                  <tr>
                    <th>Record</th>
                    <th>Kind</th>
                    <th>Owner</th>
                    <th>Changed</th>
                  </tr>
                </thead>
                <tbody>
                  {affected.map((node) => (
                    <tr>
                      <td>
                        <RecordLink record={node} />
                      </td>
                      <td>
                        <KindLabel kind={node.kind} />
                      </td>
                      <td>{node.owner && <RecordLink record={node.owner} />}</td>
                      <td>
                        <When at={node.modifiedAt} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            {evidence.pageInfo.hasNextPage && evidence.pageInfo.endCursor && (
              <nav class="pager" aria-label="Pages">
                <a
                  rel="next"
                  href={withQuery(recordPath(record.id, "impact"), {
                    after: evidence.pageInfo.endCursor,
                  })}
                >
                  Next →
                </a>
              </nav>
            )}
          </>
        )}
      </>
    ),
  };
}

/** RFC 4180. A cell that a spreadsheet would compute is made text. */
function csvOf(nodes: readonly Affected[]): string {
  const cell = (value: string): string => {
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = nodes.map((node) =>
    [
      node.id,
      node.name ?? "",
      node.kind === null ? "" : kindOf(node.kind),
      node.owner?.name ?? node.owner?.id ?? "",
    ]
      .map(cell)
      .join(","),
  );
  return ["identifier,name,kind,owner", ...rows, ""].join("\r\n");
}

const toEvidence = async ({ params, query }: PageRequest): Promise<Redirect> => {
  const direction = query.get("direction");
  return {
    redirect:
      recordPath(params["ark"]!, "evidence") +
      (direction === null ? "" : `?${new URLSearchParams({ direction }).toString()}`),
  };
};

export const evidenceRoutes: readonly Route[] = [
  { path: "/evidence/*ark", get: evidencePage },
  { path: "/impact/*ark", get: impactPage },
  { path: "/evidencegraph/query/*ark", get: toEvidence },
  {
    path: "/evidencegraph/impact/*ark",
    get: async ({ params }) => ({ redirect: recordPath(params["ark"]!, "impact") }),
  },
];
