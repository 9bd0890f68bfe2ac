/** Where a record comes from and what it leads to. */
import { Section } from "../../components.js";
import type { ComponentChildren } from "preact";
import { KINDS } from "../../../model/kinds.js";
import { KindGlyph, type Named, RecordLink } from "../../record-components.js";
import type { RecordPageQuery } from "../../documents.js";
import { kindOf } from "../../format.js";
import type { DrawnPicture } from "../../../services/evidence/picture/svg.js";
import { nameText } from "../../../model/labels.js";
import { counted, countText, kindText, shortened } from "../../words.js";
import { recordPath, withQuery } from "../../paths.js";

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
export const MAX_BRIEF = 3;

/** Some records in few lines: up to three names, else how many of which kind. */
function Briefly({ related, id, relation }: Omit<RelationProps, "title">) {
  if (!hasAny(related)) return null;
  const count = countOf(related);
  if (count <= MAX_BRIEF)
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
        <bdi>{nameText(related.nodes[0]!)}</bdi>, …
      </li>
    </ul>
  );
}

export type PageRecord = NonNullable<RecordPageQuery["record"]>;

interface ProvenanceProps {
  record: PageRecord;
  /** Absent where it is not known. */
  picture: DrawnPicture | undefined;
  /** In words, above the picture. */
  children?: ComponentChildren;
}

/**
 * What the record was made from, and what was made with it: drawn, and on narrow screens as three
 * steps.
 */
export function Provenance({ record, picture, children }: ProvenanceProps) {
  const activity = record.kind !== null && KINDS[kindOf(record.kind)].activity === true;
  const before = activity ? <Used record={record} /> : <Origins record={record} />;
  const after = activity ? (
    <Briefly id={record.id} relation="GENERATED" related={record.generated} />
  ) : (
    <Uses record={record} />
  );
  const drawn = picture !== undefined && picture.nodes.length > 1;
  return (
    <Section
      id="provenance"
      title={record.kind === "RO_CRATE" ? "From inputs to results" : "Where it came from"}
    >
      {children}
      {drawn && <Picture picture={picture} />}
      {hasProvenance(record) ? (
        <div class={drawn ? "flow narrow" : "flow"}>
          <Step title={activity ? "Used" : "Made from"}>{before}</Step>
          <Step title="This" current>
            <p>
              <KindGlyph kind={record.kind} />
              <bdi>{shortened(nameText(record), 80)}</bdi>
            </p>
          </Step>
          <Step title={activity ? "Generated" : "Used for"}>{after}</Step>
        </div>
      ) : drawn || picture === undefined ? null : (
        <p class="quiet">
          The record does not state what it was made from, and nothing stored here was made with it.
        </p>
      )}
      <p class="further">
        <a href={recordPath(record.id, "evidence")}>Explore the evidence</a> ·{" "}
        <a href={recordPath(record.id, "impact")}>What depends on it</a>
      </p>
    </Section>
  );
}

export function Picture({ picture: { svg, left } }: { picture: DrawnPicture }) {
  return (
    <figure class="picture">
      <div
        class={widthOf(svg) <= SHRUNK ? "scroll fits" : "scroll"}
        tabIndex={0}
        role="region"
        aria-label="Picture of what it was made from and what was made with it"
        // Drawn by the service, which escapes all texts of records.
        dangerouslySetInnerHTML={{ __html: svg }}
      />
      {left.length > 0 && (
        <figcaption>
          Not drawn: {left.map(({ count, about }) => `${countText(count)} ${about}`).join(", ")}.
        </figcaption>
      )}
    </figure>
  );
}

/** Up to this width a picture is made smaller to fit the page; a wider one scrolls. */
const SHRUNK = 1400;
const widthOf = (svg: string): number => Number(/^<svg[^>]*? width="([\d.]+)/.exec(svg)?.[1] ?? 0);

/** Whether anything is known on either side of the record. */
export const hasProvenance = (record: PageRecord): boolean =>
  [
    ...usedBy(record).map(([, related]) => related),
    record.generated,
    record.generatedBy,
    record.derivedFrom,
    record.usedBy,
    record.derivedTo,
  ].some(hasAny);

interface StepProps {
  title: string;
  current?: boolean;
  children: ComponentChildren;
}

function Step({ title, current = false, children }: StepProps) {
  return (
    <div class={current ? "step current" : "step"}>
      <h3>{title}</h3>
      {children}
    </div>
  );
}

const usedBy = (record: PageRecord): readonly (readonly [string, Related | undefined])[] => [
  ["USED_DATASET", record.usedDataset],
  ["USED_SOFTWARE", record.usedSoftware],
  ["USED_SAMPLE", record.usedSample],
  ["USED_INSTRUMENT", record.usedInstrument],
  ["USED_ML_MODEL", record.usedMLModel],
];

/** Of an activity: what it used. */
function Used({ record }: { record: PageRecord }) {
  if (!usedBy(record).some(([, related]) => hasAny(related)))
    return <p class="quiet">Nothing is stated.</p>;
  return (
    <>
      {usedBy(record).map(([relation, related]) => (
        <Briefly id={record.id} relation={relation} related={related} />
      ))}
    </>
  );
}

/** Of a thing: the activities that generated it with what they used, and its sources. */
function Origins({ record }: { record: PageRecord }) {
  const { generatedBy, derivedFrom } = record;
  if (!hasAny(generatedBy) && !hasAny(derivedFrom)) return <p class="quiet">Nothing is stated.</p>;
  return (
    <>
      {generatedBy?.nodes.map((activity) => (
        <div class="origin">
          <Briefly id={activity.id} relation="USED_DATASET" related={activity.inputs} />
          <Briefly id={activity.id} relation="USED_SOFTWARE" related={activity.software} />
          <p class="by">
            <span class="arrow">by </span>
            <RecordLink record={activity} glyph />
          </p>
        </div>
      ))}
      {generatedBy && countOf(generatedBy) > generatedBy.nodes.length && (
        <p>
          <a href={relatedPath(record.id, "GENERATED_BY")}>
            All {counted(countOf(generatedBy), "activity", "activities")}
          </a>
        </p>
      )}
      {hasAny(derivedFrom) && (
        <div class="origin">
          <p class="quiet">Derived from</p>
          <Briefly id={record.id} relation="DERIVED_FROM" related={derivedFrom} />
        </div>
      )}
    </>
  );
}

/** Of a thing: what used it, and what was derived from it. */
function Uses({ record }: { record: PageRecord }) {
  const { usedBy: used, derivedTo } = record;
  if (!hasAny(used) && !hasAny(derivedTo)) return <p class="quiet">Nothing that is stored here.</p>;
  return (
    <>
      <Briefly id={record.id} relation="USED_BY" related={used} />
      {hasAny(derivedTo) && (
        <>
          <p class="quiet">Source of {countText(countOf(derivedTo))}</p>
          <Briefly id={record.id} relation="DERIVED_TO" related={derivedTo} />
        </>
      )}
    </>
  );
}
