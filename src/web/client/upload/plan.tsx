// What an upload would come to, as the dry run answers it.
import { type Difference, Differences } from "../../differences.js";
import { type Finding, Findings } from "../../findings.js";
import { counted, countText, kindText, sizeText } from "../../words.js";

interface PlannedRecord {
  identifier: string;
  kind: string;
  entity?: string;
}
interface ChangedRecord extends PlannedRecord {
  name: string | null;
  differences: (Difference & { shortened: boolean })[] | null;
  furtherDifferences: number | null;
}
interface Changes {
  counts: Record<"created" | "changed" | "removed" | "revived", number>;
  created: PlannedRecord[];
  changed: ChangedRecord[];
  removed: PlannedRecord[];
  revived: PlannedRecord[];
}
export interface Plan {
  conforms: boolean;
  records: { kind: string; count: number }[];
  counts: { minted: number; kept: number; known: number; conflicting: number };
  refused: Finding[];
  warned: Finding[];
  conflicting: (Finding & { identifier: string; entity: string })[];
  changes: Changes | null;
  /** The first of those that get an identifier, and of those that bring one. */
  minted: PlannedRecord[];
  kept: PlannedRecord[];
}

/** Records of each list, and entries of each value, that are shown. */
const [RECORDS, ENTRIES] = [100, 20];

const kindName = (kind: string, count: number): string => kindText(kind, count !== 1).toLowerCase();

interface PlanViewProps {
  plan: Plan;
  /** Bytes of the archive. */
  size: number;
  onUpload(): void;
  /** The user agrees that linked crates lose every statement. */
  onEmptyLinked(): void;
}

export function PlanView({ plan, size, onUpload, onEmptyLinked }: PlanViewProps) {
  const { conforms, records, refused, warned, conflicting, counts, changes } = plan;
  const problems = refused.length + conflicting.length;
  const emptied = conflicting.filter(({ code }) => code === "CRATE_EMPTIED");
  const taken = conflicting.filter(({ code }) => code !== "CRATE_EMPTIED");
  const parts = records.map(({ kind, count }) => `${countText(count)} ${kindName(kind, count)}`);
  return (
    <div class="panel">
      <h2>{conforms ? "This is what will happen" : "This cannot be uploaded yet"}</h2>
      {records.length > 0 && (
        <p>
          {sizeText(size)}. {parts.join(", ")}. {counted(counts.minted, "new identifier")}
          {counts.known > 0 && `, ${counted(counts.known, "record")} that you have already`}.
        </p>
      )}
      {changes ? <ChangesView changes={changes} /> : <Created plan={plan} />}
      <Findings title="What has to be corrected" findings={refused} level={3} open />
      <Findings
        title="Linked crates that would lose every statement"
        findings={emptied}
        level={3}
        open
      />
      {taken.length > 0 && (
        <section>
          <h3>Identifiers that are taken ({countText(taken.length)})</h3>
          <ul>
            {taken.slice(0, RECORDS).map(({ identifier }) => (
              <li>{identifier}</li>
            ))}
          </ul>
          <MoreOf count={taken.length - RECORDS} />
        </section>
      )}
      <Findings title="Advice" findings={warned} level={3} open={false} />
      <p class="actions">
        {conforms ? (
          <button type="button" onClick={onUpload}>
            Upload
          </button>
        ) : (
          <button type="button" class="secondary" onClick={() => location.reload()}>
            Choose again
          </button>
        )}
        {emptied.length > 0 && emptied.length === problems && (
          <button type="button" class="secondary" onClick={onEmptyLinked}>
            Remove these statements
          </button>
        )}
        {!conforms && <span class="quiet">{countText(problems)} to correct</span>}
      </p>
    </div>
  );
}

/** So many names are seen without a click. */
const SEEN = 8;

/** What a new crate would create, by kind and name. */
function Created({ plan: { records, minted, kept } }: { plan: Plan }) {
  const all = [...minted, ...kept];
  return (
    <>
      {records.map(({ kind, count }) => {
        const listed = all.filter((record) => record.kind === kind).slice(0, RECORDS);
        return (
          <details class="more" open={count <= SEEN}>
            <summary>
              {kindText(kind, count !== 1)} to create ({countText(count)})
            </summary>
            <ul>
              {listed.map((record) => (
                <li>
                  <bdi>{entityName(record)}</bdi>
                </li>
              ))}
            </ul>
            <MoreOf count={count - listed.length} />
          </details>
        );
      })}
    </>
  );
}

/** What the author calls it: the path of a file, or the last part of an identifier. */
function entityName({ entity, identifier }: PlannedRecord): string {
  if (entity === undefined) return identifier;
  if (entity === "./") return "the crate itself";
  try {
    return decodeURI(entity.replace(/^\.\//, ""));
  } catch {
    return entity;
  }
}

/** What an update would do to the crate, folded by record. */
function ChangesView({ changes }: { changes: Changes }) {
  const { counts, created, changed, removed, revived } = changes;
  const lists: readonly [string, PlannedRecord[], number][] = [
    ["Withdrawn: the upload does not describe them any more", removed, counts.removed],
    ["Back again", revived, counts.revived],
    ["New", created, counts.created],
  ];
  const parts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([change, count]) => `${countText(count)} ${change}`);
  return (
    <section id="changes">
      <h3>What changes</h3>
      <p>{parts.join(", ")}.</p>
      {changed.slice(0, RECORDS).map((record) => (
        <ChangedRecordView record={record} />
      ))}
      <MoreOf count={counts.changed - Math.min(changed.length, RECORDS)} />
      {lists.map(
        ([title, records, count]) =>
          records.length > 0 && (
            <details class="more">
              <summary>
                {title} ({countText(count)})
              </summary>
              <ul>
                {records.slice(0, RECORDS).map((record) => (
                  <li>
                    {kindName(record.kind, 1)}: <bdi>{entityName(record)}</bdi>
                  </li>
                ))}
              </ul>
              <MoreOf count={count - Math.min(records.length, RECORDS)} />
            </details>
          ),
      )}
    </section>
  );
}

const MoreOf = ({ count }: { count: number }) =>
  count > 0 ? <p class="quiet">and {countText(count)} more</p> : null;

function ChangedRecordView({ record }: { record: ChangedRecord }) {
  const { name, entity, identifier, kind, differences, furtherDifferences } = record;
  const title = <bdi>{name ?? entity ?? identifier}</bdi>;
  if (differences === null)
    return (
      <p>
        {title} <span class="quiet">({kindName(kind, 1)}) changes</span>
      </p>
    );
  const further = furtherDifferences ?? 0;
  return (
    <details class="more">
      <summary>
        {title}{" "}
        <span class="quiet">
          {kindName(kind, 1)}, {counted(differences.length + further, "change")}
        </span>
      </summary>
      <Differences
        rows={differences.map(withNotes)}
        columns={["Stored", "Upload"]}
        Value={PlannedValue}
      />
      <MoreOf count={further} />
    </details>
  );
}

/** Says what the two values alone do not: a list is shortened, or a file has other bytes. */
function withNotes(difference: Difference & { shortened: boolean }): Difference {
  const { pointer, kind, before, after, shortened } = difference;
  const same = kind === "CHANGED" && JSON.stringify(before) === JSON.stringify(after);
  const lists = shortened && Array.isArray(before) && Array.isArray(after);
  return {
    ...difference,
    note: lists ? "entries that differ" : null,
    sentence: same && pointer === "/contentUrl" ? "The bytes of the file differ." : null,
  };
}

/** A value of a document; an object that names another stands as its identifier. */
function PlannedValue({ value }: { value: unknown }) {
  if (Array.isArray(value) && value.length > 0)
    return (
      <ul class="plain">
        {value.slice(0, ENTRIES).map((item: unknown) => (
          <li>
            <PlannedValue value={item} />
          </li>
        ))}
        {value.length > ENTRIES && (
          <li class="quiet">and {countText(value.length - ENTRIES)} more</li>
        )}
      </ul>
    );
  if (value === null || value === undefined || Array.isArray(value))
    return <span class="quiet">none</span>;
  if (typeof value === "string") return <bdi class="text">{value}</bdi>;
  if (typeof value !== "object") return <>{JSON.stringify(value)}</>;
  const { "@id": id, ...rest } = value as Record<string, unknown>;
  return typeof id === "string" && Object.keys(rest).length === 0 ? (
    <bdi class="text">{id}</bdi>
  ) : (
    <code>{JSON.stringify(value)}</code>
  );
}
