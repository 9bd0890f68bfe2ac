import { KindGlyph, type Named, RecordLink } from "../../components.js";
import { counted, countText, kindText } from "../../format.js";
import { recordPath, withQuery } from "../../page.js";

/** A page of related records, and how many there are in all. */
export interface Related<T extends Named = Named> {
  totalCount: number | null;
  nodes: readonly T[];
}

export const hasAny = (related: Related | undefined): related is Related =>
  related !== undefined && related.nodes.length > 0;

/** How many there are: as counted, else at least those that are shown. */
export const countOf = ({ totalCount, nodes }: Related): number => totalCount ?? nodes.length;

interface RelationProps {
  /** Identifier of the record. */
  id: string;
  /** As GraphQL names the relation. */
  relation: string;
  title: string;
  related: Related | undefined;
}

/** Records of one relation: the first of them by name, with a link to all. */
export function Relation({ id, relation, title, related }: RelationProps) {
  if (!hasAny(related)) return null;
  const count = countOf(related);
  return (
    <div class="relation">
      <h3>
        {title} <span class="count">{countText(count)}</span>
      </h3>
      <RecordList records={related.nodes} />
      {count > related.nodes.length && (
        <p>
          <a href={relatedPath(id, relation)}>All {countText(count)}</a>
        </p>
      )}
    </div>
  );
}

/** The address of all records of a relation. */
export const relatedPath = (id: string, relation: string): string =>
  withQuery(recordPath(id, "related"), { relation: relation.toLowerCase() });

export function RecordList({ records }: { records: readonly Named[] }) {
  return (
    <ul class="records">
      {records.map((record) => (
        <li>
          <RecordLink record={record} glyph />
          {record.kind === null && <span class="quiet"> not stored here</span>}
        </li>
      ))}
    </ul>
  );
}

/** Records that are named; of more their number is shown. */
export const MOST_BRIEF = 3;

/** Some records in few lines: up to three names, else how many of which kind. */
export function Briefly({ related, id, relation }: Omit<RelationProps, "title">) {
  if (!hasAny(related)) return null;
  const count = countOf(related);
  if (count <= MOST_BRIEF)
    return (
      <ul class="brief">
        {related.nodes.map((record) => (
          <li>
            <RecordLink record={record} glyph />
          </li>
        ))}
      </ul>
    );
  const kinds = new Set(related.nodes.map(({ kind }) => kind ?? null));
  const [kind = null] = kinds;
  const what = kinds.size === 1 && kind !== null ? kindText(kind, true).toLowerCase() : "records";
  return (
    <ul class="brief">
      <li>
        <a href={relatedPath(id, relation)}>
          <KindGlyph kind={kinds.size === 1 ? kind : null} />
          {counted(count, "record", what)}
        </a>
      </li>
      <li class="quiet">
        <bdi>{related.nodes[0]!.name ?? related.nodes[0]!.id}</bdi>, …
      </li>
    </ul>
  );
}
