import { ServiceError } from "../../../errors.js";
import { Empty, EntryTable, Notice, Section } from "../../components.js";
import { KindLabel, RecordLink } from "../../record-components.js";
import {
  type CratePartsFragment,
  type RecordPageQuery,
  ShapePageDocument,
  type ShapePageQuery,
} from "../../documents.js";
import { nameText } from "../../../model/labels.js";
import { kindOf } from "../../format.js";
import {
  agentOf,
  capitalized,
  counted,
  countText,
  kindText,
  labelOf,
  shortened,
} from "../../words.js";
import { ownValue } from "../../../own.js";
import type { Page, PageRequest, Route } from "../../page.js";
import { pathOf, recordPath, withQuery } from "../../paths.js";
import { Back } from "./related.js";

type Contents = NonNullable<RecordPageQuery["contents"]>;

interface ContentsProps {
  id: string;
  counts: readonly { kind: string; count: number }[];
  contents: Contents;
  entities: RecordPageQuery["entities"];
}

/** What a crate consists of: how many of each kind, the first by name, and who and what is named. */
export function Contents({ id, counts, contents, entities }: ContentsProps) {
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const groups = groupsOf(entities);
  const grouped = new Set(groups.flatMap(({ records }) => records.map((record) => record.id)));
  const members = contents.nodes.filter(
    (member) =>
      member.id !== id && !member.id.endsWith("/ro-crate-metadata.json") && !grouped.has(member.id),
  );
  return (
    <Section id="contents" title="Contents" count={countText(total)}>
      {total === 0 ? (
        <p class="quiet">The crate describes nothing besides itself.</p>
      ) : (
        <>
          <ul class="numbers">
            {counts.map(({ kind, count }) => (
              <Count crate={id} kind={kind} count={count} groups={groups} entities={entities} />
            ))}
          </ul>
          <ul class="records members">
            {members.map((member) => (
              <li>
                <RecordLink record={member} glyph />
              </li>
            ))}
          </ul>
          {groups.map(({ anchor, many, records }) => (
            <div class="relation" id={anchor}>
              <h3>{capitalized(many)}</h3>
              <Records records={records.slice(0, MAX_NAMED)} />
              {records.length > MAX_NAMED && (
                <details class="more">
                  <summary>{countText(records.length - MAX_NAMED)} more</summary>
                  <Records records={records.slice(MAX_NAMED)} />
                </details>
              )}
            </div>
          ))}
          {contents.pageInfo.hasNextPage && (
            <p>
              <a href={contentsPath(id)}>All {countText(total)}</a>
            </p>
          )}
        </>
      )}
    </Section>
  );
}

/** People, organizations and licences that are shown at once. */
const MAX_NAMED = 12;

const Records = ({ records }: { records: readonly EntityNode[] }) => (
  <ul class="records">
    {records.map((record) => (
      <li>
        <RecordLink record={record} glyph />
      </li>
    ))}
  </ul>
);

type EntityNode = NonNullable<RecordPageQuery["entities"]>["nodes"][number];

/** Entities that have a name of their own among the contents; the first that fits. */
const GROUPS: readonly {
  one: string;
  many: string;
  /** Where the list is on the page. */
  anchor: string;
  has(entity: EntityNode): boolean;
}[] = [
  {
    one: "person",
    many: "people",
    anchor: "people",
    has: ({ types }) => agentOf(types) === "person",
  },
  {
    one: "organization",
    many: "organizations",
    anchor: "organizations",
    has: ({ types }) => agentOf(types) === "organization",
  },
  {
    one: "licence",
    many: "licences",
    anchor: "licences",
    has: ({ links }) => links.nodes.some(({ predicate }) => predicate === "schema:license"),
  },
];

type Group = Omit<(typeof GROUPS)[number], "has"> & { records: EntityNode[] };

function groupsOf(entities: RecordPageQuery["entities"]): Group[] {
  const groups = GROUPS.map((group) => ({ ...group, records: [] as EntityNode[] }));
  for (const entity of entities?.nodes ?? [])
    groups.find(({ has }) => has(entity))?.records.push(entity);
  return groups.filter(({ records }) => records.length > 0);
}

interface CountProps extends Pick<ContentsProps, "entities"> {
  crate: string;
  kind: string;
  count: number;
  groups: readonly Group[];
}

/** How many there are of a kind; of entities those of each group, where all of them were read. */
function Count({ crate, kind, count, groups, entities }: CountProps) {
  const path = contentsPath(crate, kind);
  if (kind !== "ENTITY")
    return <Amount path={path} count={count} one={kindText(kind)} many={kindText(kind, true)} />;
  if (entities?.pageInfo.hasNextPage && groups.length > 0) {
    const many = [...groups.map((group) => group.many), "other objects"].join(", ");
    return <Amount path={path} count={count} one={many} many={many} />;
  }
  const rest = groups.reduce((left, { records }) => left - records.length, count);
  return (
    <>
      {groups.map(({ one, many, anchor, records }) => (
        <Amount path={`#${anchor}`} count={records.length} one={one} many={many} />
      ))}
      {rest > 0 && <Amount path={path} count={rest} one="other object" many="other objects" />}
    </>
  );
}

interface AmountProps {
  path: string;
  count: number;
  one: string;
  many: string;
}

const Amount = ({ path, count, one, many }: AmountProps) => (
  <li>
    <a href={path}>
      <strong>{countText(count)}</strong> {(count === 1 ? one : many).toLowerCase()}
    </a>
  </li>
);

type Section = CratePartsFragment["datasheet"][number];

interface DatasheetProps {
  sections: readonly Section[];
  /** Only who may answer the open questions sees them. */
  mayChange: boolean;
}

/** Whether a reader finds something in the datasheet, and who may change the crate an open question. */
export const hasDatasheet = ({ sections, mayChange }: DatasheetProps): boolean =>
  sections.some(
    ({ answers, notStated }) => answers.length > 0 || (mayChange && notStated.length > 0),
  );

/** What the crate says about itself for those who want to use it: a datasheet for datasets. */
export function Datasheet(props: DatasheetProps) {
  if (!hasDatasheet(props)) return null;
  const { sections, mayChange } = props;
  const stated = sections.filter(({ answers }) => answers.length > 0);
  const open = mayChange ? sections.filter(({ notStated }) => notStated.length > 0) : [];
  return (
    <Section id="datasheet" title="Datasheet">
      {stated.length === 0 && (
        <p class="quiet">
          The crate answers none of the questions of a datasheet, for example what it may be used
          for and what its limits are.
        </p>
      )}
      {stated.map(({ title, answers }) => (
        <>
          <h3>{title === "Motivation" ? "Overview" : title}</h3>
          <dl class="facts metadata">
            {answers.map(({ question, texts }) => (
              <div>
                <dt>{question}</dt>
                <dd class="text" dir="auto">
                  {shortened(texts.slice(0, 20).join("\n\n"), 3000)}
                </dd>
              </div>
            ))}
          </dl>
        </>
      ))}
      {open.length > 0 && (
        <details class="more">
          <summary>
            {counted(open.flatMap(({ notStated }) => notStated).length, "question")} not answered
          </summary>
          <p class="quiet">
            {open
              .map(({ title, notStated }) => `${title}: ${notStated.join(", ").toLowerCase()}.`)
              .join(" ")}
          </p>
        </details>
      )}
    </Section>
  );
}

interface SubcratesProps {
  id: string;
  subcrates: RecordPageQuery["subcrates"];
}

/** The crates in a crate. */
export function Subcrates({ id, subcrates }: SubcratesProps) {
  const inner = subcrates?.nodes.filter((crate) => crate.id !== id) ?? [];
  if (inner.length === 0) return null;
  return (
    <Section id="crates" title="Crates in it">
      <ul class="records">
        {inner.map((crate) => (
          <li>
            <RecordLink record={crate} glyph />{" "}
            <span class="quiet" dir="auto">
              {shortened(crate.description ?? "", 120)}
            </span>
          </li>
        ))}
      </ul>
      {subcrates?.pageInfo.hasNextPage && (
        <p>
          <a href={contentsPath(id, "rocrate")}>All crates in it</a>
        </p>
      )}
    </Section>
  );
}

/** The page that came with the crate, in a sandbox: without scripts, forms or an origin. */
export function OwnPage({ address, name }: { address: string; name: string }) {
  return (
    <Section id="own-page" title="Its own page">
      <details class="more">
        <summary>Show the page that came with the crate</summary>
        <iframe
          class="own-page"
          sandbox=""
          loading="lazy"
          src={pathOf(address)}
          title={`Page of ${shortened(name, 80)}`}
        />
      </details>
      <p class="quiet small">
        It was written by others and is shown in a sandbox: its scripts do not run, and pictures
        that it loads are missing.
      </p>
    </Section>
  );
}

type ShapeResult = NonNullable<
  NonNullable<ShapePageQuery["record"]>["shapeReport"]
>["results"][number];

/** A record, of a crate with its members, checked by the shapes of the kinds. */
async function validationPage({ ask, param }: PageRequest): Promise<Page> {
  const id = param("ark");
  const { record } = await ask(ShapePageDocument, { id });
  if (!record?.shapeReport) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  const { conforms, checked, truncated, results } = record.shapeReport;
  const faults = results.filter(({ severity }) => severity === "VIOLATION");
  const advice = results.filter(({ severity }) => severity !== "VIOLATION");
  return {
    title: `Validation of ${shortened(nameText(record), 120)}`,
    section: "browse",
    body: (
      <>
        <Back record={record} />
        <h1>Validation</h1>
        <Notice tone={conforms ? "success" : faults.length > 0 ? "danger" : "info"}>
          <p>
            {counted(checked, "record was", "records were")} checked by the shapes of their kinds:{" "}
            {results.length === 0
              ? "nothing was found."
              : `${counted(faults.length, "fault")} and ${counted(advice.length, "remark")}.`}
            {truncated && " There are more than these."}
          </p>
        </Notice>
        {results.length === 0 ? (
          <Empty title="Every field is as its kind asks.">
            <p>
              <a href={recordPath(record.id)}>Back to the record</a>
            </p>
          </Empty>
        ) : (
          <>
            <Found title="Faults" results={faults} />
            <Found title="Remarks" results={advice} />
          </>
        )}
      </>
    ),
  };
}

/** What a constraint of a shape asks, in words. */
const FAULTS: Readonly<Record<string, string>> = {
  MinCountConstraintComponent: "It is missing.",
  MaxCountConstraintComponent: "It is stated more than once.",
  DatatypeConstraintComponent: "It is of another type than this field takes.",
  NodeKindConstraintComponent: "It does not lead to a record or an address.",
  ClassConstraintComponent: "It leads to a record of another kind.",
  PatternConstraintComponent: "It has another form than this field asks for.",
  MinLengthConstraintComponent: "It is too short.",
  MaxLengthConstraintComponent: "It is too long.",
  HasValueConstraintComponent: "It lacks the value that this field must have.",
  InConstraintComponent: "It is none of the values that this field may have.",
};

/** What the model says of the field, behind the message of the engine. */
const aboutField = (message: string): string | undefined =>
  / \([^:()]+: (.+)\)$/.exec(message)?.[1];

function Found({ title, results }: { title: string; results: readonly ShapeResult[] }) {
  if (results.length === 0) return null;
  return (
    <Section title={title} count={countText(results.length)}>
      <EntryTable
        rows={results}
        columns={[
          [
            "Record",
            ({ node, kind }) => (
              <>
                <RecordLink record={{ id: node, name: nameText({ id: node }) }} />
                <br />
                <KindLabel kind={kind} />
              </>
            ),
          ],
          ["Field", ({ path }) => path !== null && labelOf(path)],
          [
            "What is wrong",
            ({ message, value, constraint }) => (
              <span dir="auto">
                {ownValue(FAULTS, constraint)}{" "}
                {shortened(
                  aboutField(message) ?? (Object.hasOwn(FAULTS, constraint) ? "" : message),
                  400,
                )}
                {value !== null && (
                  <span class="quiet">
                    {" "}
                    It is <bdi>{shortened(value, 120)}</bdi>
                  </span>
                )}
              </span>
            ),
          ],
        ]}
      />
    </Section>
  );
}

export const crateRoutes: readonly Route[] = [
  { path: "/validation/*ark", get: validationPage },
  {
    path: "/rocrate/ai-ready-score/*ark",
    get: async ({ param }) => ({ redirect: recordPath(param("ark"), "score") }),
  },
];

/** The address of all records of a crate, or of those of a kind. */
const contentsPath = (id: string, kind?: string): string =>
  withQuery(recordPath(id, "related"), { relation: "contents", kind: kind && kindOf(kind) });
