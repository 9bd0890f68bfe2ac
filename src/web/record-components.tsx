/** Parts of pages that show records. */
import type { ComponentChildren } from "preact";
import type { KindName } from "../model/kind.js";
import { COLLECTIVES } from "../model/kinds.js";
import { plainText } from "../model/texts.js";
import { Outside, When } from "./components.js";
import { kindOf } from "./format.js";
import { nameText } from "../model/labels.js";
import { orcidIn, personPath, recordPath } from "./paths.js";
import { agentOf, dateText, licenceText, recordText, shortened } from "./words.js";

/** What is known of a record that a page names. */
export interface Named {
  id: string;
  name?: string | null;
  kind?: string | null;
  /** Types that it states. */
  types?: readonly string[];
}

/** A link to a record, by its name where one is known. */
export function RecordLink({ record, glyph = false }: { record: Named; glyph?: boolean }) {
  return (
    <a href={recordPath(record.id)} title={record.name ? undefined : record.id}>
      {glyph && <KindGlyph kind={record.kind ?? null} types={record.types} />}
      <bdi>{shortened(nameText(record), record.name ? 200 : 80)}</bdi>
    </a>
  );
}

/** Shapes of the kinds, the same as in the pictures of evidence; 16 by 16. */
const SHAPES: Readonly<Record<string, string>> = {
  dataset: "M3 3h10a2 2 0 0 1 2 2v6a2 2 0 0 1-2 2H3a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z",
  datadownload: "M3 1h7l4 4v10H3zM10 1v4h4",
  computation: "M8 3.5c3.9 0 7 2 7 4.5s-3.1 4.5-7 4.5S1 10.500 1 8s3.100-4.500 7-4.500z",
  experiment: "M6 1h4M7 1v5L2 15h12L9 6V1",
  software: "M4.500 2h7L15 8l-3.500 6h-7L1 8z",
  user: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1z",
  group: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1zM5 8h6",
  organization: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1zM5 6h6M5 10h6",
  project: "M1 4h5l2 2h7v8H1z",
  schema: "M1 2h14v12H1zM1 6h14M1 10h14M6 2v12",
  rocrate: "M1 5l7-4 7 4v7l-7 4-7-4zM1 5l7 4 7-4M8 9v7",
  mlmodel: "M8 1l7 7-7 7-7-7zM5 8h6M8 5v6",
  sample: "M5 1h6M6 1v11a2 2 0 0 0 4 0V1M6 8h4",
  instrument: "M2 14h12M5 14V8l5-6 3 2-4 6v4",
  annotation: "M1 2h14v9H7l-4 4v-4H1z",
  evidencegraph: "M2 2h4v4H2zM10 10h4v4h-4zM6 4h6v6",
  entity: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 6v4",
};

interface KindProps {
  kind: string | null;
  types?: readonly string[] | undefined;
}

/** Shape and colour of a kind; the name stands beside it or is read aloud. */
export function KindGlyph({ kind, types = [] }: KindProps) {
  const agent = kind === "ENTITY" ? agentOf(types) : null;
  const name = agent === "person" ? "user" : (agent ?? (kind === null ? "entity" : kindOf(kind)));
  return (
    <svg class={`glyph k-${name}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={SHAPES[name] ?? SHAPES["entity"]!} />
    </svg>
  );
}

/** Kind of a record, by shape, colour and word. */
export function KindLabel({ kind, types }: KindProps) {
  return (
    <span class="kind">
      <KindGlyph kind={kind} types={types} />
      {recordText(kind, types)}
    </span>
  );
}

/** They own records, and are open for good: nobody publishes them. */
export const AGENTS: ReadonlySet<KindName> = new Set(["user", ...COLLECTIVES]);

interface BadgeProps {
  status: string | null;
  visibility?: "OPEN" | "PRIVATE" | null | undefined;
  embargoEndsAt?: string | null | undefined;
  deleted?: boolean;
}

/** Who may read the content, in one or two words. */
export function StatusBadge({ status, visibility, embargoEndsAt, deleted = false }: BadgeProps) {
  const [tone, text] = deleted
    ? ["withdrawn", "Withdrawn"]
    : status === "PUBLISHED"
      ? ["public", "Public"]
      : status === "EMBARGOED"
        ? ["embargoed", embargoEndsAt ? `Embargoed until ${dateText(embargoEndsAt)}` : "Embargoed"]
        : status === "ARCHIVED"
          ? ["archived", "Archived"]
          : status === "DRAFT"
            ? ["draft", visibility === "PRIVATE" ? "Private draft" : "Draft"]
            : ["draft", "Restricted"];
  return <span class={`badge ${tone}`}>{text}</span>;
}

/** @param known the record of the licence, where the crate describes it */
export function Licence({ licence, known }: { licence: string; known?: Named | undefined }) {
  const text = licenceText(licence);
  // A licence that people know by its short name is called so everywhere.
  if (known?.name && /^https?:/i.test(text)) return <RecordLink record={known} />;
  return <Outside href={licence.trim()}>{shortened(text, 120)}</Outside>;
}

/** A person or organization by name; behind a person's the ORCID, which has a page of their works. */
export function Agent({ agent }: { agent: { id: string | null; name: string | null } }) {
  const { id, name } = agent;
  if (id === null) return <bdi>{name}</bdi>;
  const orcid = orcidIn(id);
  if (orcid !== null)
    return (
      <span class="agent">
        {name && (
          <a href={personPath(orcid)}>
            <bdi>{name}</bdi>
          </a>
        )}{" "}
        <a class="orcid" href={id} rel="nofollow noopener" title={`ORCID ${orcid}`}>
          {name ? "ORCID" : `ORCID ${orcid}`}
        </a>
      </span>
    );
  if (id.startsWith("ark:")) return <RecordLink record={{ id, name }} />;
  return <Outside href={id}>{name ?? id}</Outside>;
}

export interface Card extends Named {
  description: string | null;
  keywords: readonly string[];
  license: string | null;
  modifiedAt: string | null;
  publicationStatus: string | null;
  visibility: "OPEN" | "PRIVATE" | null;
  embargoEndsAt: string | null;
  owner: Named | null;
}

interface CardProps {
  record: Card;
  /** Level of its heading, one below that of the list. */
  level?: 2 | 3;
  /** In place of the description, for example a fragment. */
  children?: ComponentChildren;
}

/** A record in a list. */
export function RecordCard({ record, level = 3, children }: CardProps) {
  const Heading = `h${level}` as const;
  return (
    <article class="card">
      <Heading class="card-title">
        <RecordLink record={record} glyph />
      </Heading>
      <p class="meta">
        {recordText(record.kind ?? null, record.types)}
        {record.owner && (
          <>
            {" owned by "}
            <RecordLink record={record.owner} />
          </>
        )}
        {" · changed "}
        <When at={record.modifiedAt} />
        {record.license && (
          <>
            {" · "}
            {shortened(licenceText(record.license), 60)}
          </>
        )}{" "}
        {record.publicationStatus !== "PUBLISHED" &&
          !AGENTS.has(kindOf(record.kind ?? "ENTITY")) && (
            <StatusBadge
              status={record.publicationStatus}
              visibility={record.visibility}
              embargoEndsAt={record.embargoEndsAt}
            />
          )}
      </p>
      {children ??
        (record.description && <p dir="auto">{shortened(plainText(record.description), 280)}</p>)}
    </article>
  );
}
