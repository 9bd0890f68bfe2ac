/** The page of a record's evidence: the picture, the way to another record, the list, the formats. */
import type { ComponentChildren } from "preact";
import { ServiceError } from "../../../errors.js";
import { nameText } from "../../../model/labels.js";
import { type EvidenceLine, evidenceLines } from "../../../services/evidence/picture/drawing.js";
import { MAX_EXPANDED } from "../../../services/evidence/types.js";
import { askedArk } from "../../../services/records/find.js";
import { assetUrl } from "../../assets.js";
import { Notice, Section } from "../../components.js";
import { EvidenceDocument, EvidencePathDocument, type EvidencePathQuery } from "../../documents.js";
import { type Names, namesOf } from "../../format.js";
import type { Page, PageRequest, Redirect, Route } from "../../page.js";
import { recordPath } from "../../paths.js";
import { RecordLink, StatusBadge } from "../../record-components.js";
import { counted, countText, shortened } from "../../words.js";
import { impactPage } from "./impact.js";
import { Chips, Drawing, Toolbar } from "./picture.js";
import { addressOf, COLLAPSE, kindsShown, type View, viewOf } from "./view.js";

async function evidencePage(request: PageRequest): Promise<Page> {
  const { ask, query, param } = request;
  const view = viewOf(query);
  const id = param("ark");
  const link = addressOf(id, view);
  const expandLink = `${link}${link.includes("?") ? "&" : "?"}expand=`;
  const to = (query.get("to") ?? "").trim();
  const [{ record }, { drawn, graph, kinds, names }, path] = await Promise.all([
    ask(EvidenceDocument, { id }),
    request.drawEvidence(
      {
        ark: askedArk(id),
        direction: view.direction,
        assertedBy: view.owner ? "owner" : "anyone",
        expand: view.expand,
        ...(view.depth === "" ? {} : { depth: Number(view.depth) }),
        ...(view.siblings === "grouped" ? { collapse: COLLAPSE } : {}),
      },
      {
        without: view.hidden,
        foldHubs: !view.hubs,
        ...(view.expand.length < MAX_EXPANDED && { groupLink: expandLink }),
      },
    ),
    pathTo(request, id, to),
  ]);
  const lines = evidenceLines(graph, view.direction === "downstream");
  const owners = await namesOf(
    ask,
    lines.flatMap((line) => (line.thirdParty ? line.owners : [])),
  );
  if (!record) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  const name = nameText(record);
  const marked = path instanceof Error ? undefined : path?.nodes.at(-1)?.id;
  return {
    title: `Evidence of ${shortened(name, 80)}`,
    description: `Where “${shortened(name, 120)}” came from, and what it supports: ${counted(
      drawn.nodes.length,
      "object",
    )} and ${counted(drawn.edges.length, "relation")}.`,
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
        <Chips id={record.id} picture={drawn} {...{ view, graph, kinds, names }} />
        <Drawing id={record.id} picture={drawn} {...{ view, graph, marked }} />
        <PathSection id={record.id} to={to} path={path} />
        <Outline lines={lines} owners={owners} id={record.id} view={view} />
        <Exports id={record.id} view={view} />
      </>
    ),
  };
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
function PathSection({ id, to, path }: { id: string; to: string; path: PathAnswer | Error }) {
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
  const query = new URLSearchParams({ direction: view.direction });
  if (view.depth !== "") query.set("depth", view.depth);
  if (view.siblings === "grouped") query.set("collapse", String(COLLAPSE));
  if (view.owner) query.set("assertedBy", "owner");
  const kinds = kindsShown(view);
  if (kinds) query.set("kind", kinds.join(","));
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

const toEvidence = async ({ param, query }: PageRequest): Promise<Redirect> => {
  const direction = query.get("direction");
  return {
    redirect:
      recordPath(param("ark"), "evidence") +
      (direction === null ? "" : `?${new URLSearchParams({ direction }).toString()}`),
  };
};

export const evidenceRoutes: readonly Route[] = [
  { path: "/evidence/*ark", get: evidencePage },
  { path: "/impact/*ark", get: impactPage },
  { path: "/evidencegraph/query/*ark", get: toEvidence },
  {
    path: "/evidencegraph/impact/*ark",
    get: async ({ param }) => ({ redirect: recordPath(param("ark"), "impact") }),
  },
];
