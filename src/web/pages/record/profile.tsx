/** The sections of a crate's profiles, at the top of its page. */
import type { ComponentChildren } from "preact";
import { ServiceError } from "../../../errors.js";
import { isObject, type JsonObject, type JsonValue } from "../../../model/field.js";
import { textOf } from "../../../model/texts.js";
import { Facts, isWebAddress, Outside, Section } from "../../components.js";
import { RecordLink } from "../../record-components.js";
import { counted, labelOf, licenceText, shortened, timeText } from "../../words.js";
import { Markdown } from "../../markdown.js";
import type { PageRequest } from "../../page.js";
import { recordPath, withQuery } from "../../paths.js";
import type { Stored } from "./access.js";
import { Value } from "./details.js";
import { Entities, typesOf } from "./entities.js";
import { type Profile, type ProfileSection, PROFILES, type Source } from "./profiles.js";

/** Entities that a section describes, rows of a table, values of a cell, members of a tree. */
const [MAX_DESCRIBED, MAX_ROWS, MAX_CELL, MAX_MEMBERS] = [20, 100, 12, 150];
/** Levels of a tree, and characters of a text that are shown at once. */
const [TREE_DEPTH, LEAD_CHARS] = [3, 1200];

/** A crate with the profiles that it follows, and what their sections need. */
export interface Profiled {
  id: string;
  entities: Entities;
  profiles: readonly Profile[];
}

/** Reads what the profiles of a crate show; null where it follows none. */
export async function readProfiles(
  ask: PageRequest["ask"],
  id: string,
  document: JsonObject,
): Promise<Profiled | null> {
  const entities = new Entities(ask, id, document);
  try {
    const profiles: Profile[] = [];
    for (const profile of PROFILES)
      if (await follows(entities, profile)) {
        if (profile.needsRuns) await entities.readRuns();
        for (const section of profile.sections) await prepare(entities, [entities.root], section);
        profiles.push(profile);
      }
    return profiles.length === 0 ? null : { id, entities, profiles };
  } catch (error) {
    // The page shows all metadata below.
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

async function follows(entities: Entities, { conformsTo, when }: Profile): Promise<boolean> {
  const { root } = entities;
  if (conformsTo) {
    await entities.readAlong([root], ["@descriptor"]);
    const stated = ["conformsTo", "@descriptor.conformsTo"].flatMap((path) =>
      entities.at(root, path),
    );
    if (
      stated.some((value) => conformsTo.test(textOf(isObject(value) ? value["@id"] : value) ?? ""))
    )
      return true;
  }
  for (const path of when) {
    await entities.readAlong([root], [path]);
    if (entities.at(root, path).length === 0) return false;
  }
  return true;
}

const pathOf = (source: Source): string => (typeof source === "string" ? source : source.from);

/** Reads the entities that a section shows, and those that its values lead to. */
async function prepare(
  entities: Entities,
  holders: readonly JsonValue[],
  section: ProfileSection,
): Promise<void> {
  const { from = "@self", values = {}, text, members, parts = [] } = section;
  await entities.readAlong(holders, [from]);
  const shown = holders.flatMap((holder) => entities.at(holder, from)).slice(0, MAX_ROWS);
  const sources = Object.values(values).map(pathOf);
  await entities.readAlong(shown, text === undefined ? sources : [...sources, text]);
  if (members !== undefined) {
    let level = shown;
    for (let depth = 1; depth < TREE_DEPTH; depth++) {
      await entities.readAlong(level, [members]);
      level = level.flatMap((member) => entities.at(member, members)).slice(0, MAX_MEMBERS);
    }
  }
  for (const part of parts) await prepare(entities, shown.slice(0, MAX_DESCRIBED), part);
}

export function ProfileSections({ profiled }: { profiled: Profiled }) {
  const { profiles, entities, id } = profiled;
  return (
    <>
      {profiles.map((profile) => {
        const sections = profile.sections.map((section) => (
          <Part
            crate={id}
            entities={entities}
            holder={entities.root}
            section={section}
            about={profile.title}
            level={3}
          />
        ));
        return (
          <Section id={profile.id} title={profile.title} class="profile">
            {sections}
          </Section>
        );
      })}
    </>
  );
}

interface PartProps {
  crate: string;
  entities: Entities;
  holder: JsonValue;
  section: ProfileSection;
  /** What the section is about, for its tables. */
  about: string;
  /** Of its heading. */
  level: 3 | 5;
}

/** A section, or nothing where it has nothing to show. */
function Part(props: PartProps) {
  const { entities, holder, section, level } = props;
  const shown = entities.at(holder, section.from ?? "@self");
  if (shown.length === 0) return null;
  const body = bodyOf(props, shown);
  if (body === null) return null;
  const Heading = `h${level}` as const;
  return (
    <div class="part">
      <Heading>{section.title}</Heading>
      {body}
    </div>
  );
}

function bodyOf(props: PartProps, shown: readonly JsonValue[]): ComponentChildren {
  const { section, entities, crate, about } = props;
  switch (section.form) {
    case "facts":
      return described(props, shown);
    case "table":
      return <Table {...{ entities, section, crate, about }} rows={shown} />;
    case "pictures":
      return pictures(entities, shown);
    case "tree":
      return <Tree {...props} members={shown} depth={1} seen={new Set()} />;
  }
}

/** Facts about each entity, with its text and the sections about it. */
function described(props: PartProps, shown: readonly JsonValue[]): ComponentChildren {
  const { entities, section, crate } = props;
  const { from, values = {}, text, isUnnamed, parts = [] } = section;
  const isNamed = from !== undefined && !isUnnamed;
  const blocks = shown.slice(0, MAX_DESCRIBED).flatMap((value) => {
    const rows = Object.entries(values).map(
      ([name, source]) => [name, cell(entities, value, source)] as const,
    );
    const words = text === undefined ? null : textOf(entities.at(value, text));
    const further = parts.map((part) => (
      <Part
        {...props}
        holder={value}
        section={part}
        about={shortened(entities.labelOf(value) ?? props.about, 80)}
        level={5}
      />
    ));
    if (!isNamed && words === null && rows.every(([, content]) => content === null)) return [];
    return [
      <div class={isNamed ? "panel described" : "described"}>
        {isNamed && (
          <h4>
            <Name entities={entities} value={value} />
          </h4>
        )}
        <Facts rows={rows} />
        {words !== null && <Markdown text={words} lead={LEAD_CHARS} />}
        {further}
      </div>,
    ];
  });
  if (blocks.length === 0) return null;
  return (
    <>
      {blocks}
      {shown.length > MAX_DESCRIBED && <More crate={crate} />}
    </>
  );
}

/** Where the rest of what is shown in part is. */
function More({ crate }: { crate: string }) {
  const contents = withQuery(recordPath(crate, "related"), { relation: "contents" });
  return (
    <p class="quiet">
      There are more: <a href={contents}>see the contents of the crate</a>.
    </p>
  );
}

type TableProps = Pick<PartProps, "entities" | "section" | "crate" | "about"> & {
  rows: readonly JsonValue[];
};

/** A row for each entity; columns without any value are left out. */
function Table({ entities, section: { title, values = {} }, rows, crate, about }: TableProps) {
  const cells = rows
    .slice(0, MAX_ROWS)
    .map((row) => Object.values(values).map((source) => cell(entities, row, source)));
  const columns = Object.keys(values)
    .map((name, index) => ({ name, index }))
    .filter(({ index }) => cells.some((row) => row[index] !== null));
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${title}: ${about}`}>
        <table class="wide stack entries">
          <thead>
            <tr>
              {columns.map(({ name }) => (
                <th scope="col">{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {cells.map((row) => (
              <tr>
                {columns.map(({ name, index }) => (
                  <td data-label={name}>{row[index]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > MAX_ROWS && <More crate={crate} />}
    </>
  );
}

/** What a value is called, with a link where it has a record. */
function Name({ entities, value }: { entities: Entities; value: JsonValue }) {
  const entity = entities.of(value);
  if (entity) return <RecordLink record={{ ...entity, name: entity.label }} glyph />;
  const stated = textOf(isObject(value) ? value["@id"] : value);
  if (stated !== null && isWebAddress(stated))
    return <Outside href={stated}>{shortened(licenceText(stated), 120)}</Outside>;
  return <Value value={value} names={entities.names} />;
}

/** The values that a source leads to; null where there is none. */
function cell(entities: Entities, from: JsonValue, source: Source): ComponentChildren {
  const found = entities.at(from, pathOf(source));
  const as = typeof source === "string" ? null : source.as;
  const shown = as === "first" ? found.slice(0, 1) : found;
  const contents = shown
    .slice(0, MAX_CELL)
    .map((value) => written(entities, value, as))
    .filter((content) => content !== null);
  if (contents.length === 0) return null;
  return (
    <>
      {contents.map((content, index) => (
        <>
          {index > 0 && ", "}
          {content}
        </>
      ))}
      {shown.length > MAX_CELL && ` and ${counted(shown.length - MAX_CELL, "more", "more")}`}
    </>
  );
}

function written(
  entities: Entities,
  value: JsonValue,
  as: Exclude<Source, string>["as"] | null,
): ComponentChildren {
  const text = textOf(isObject(value) && !entities.of(value) ? (value["@id"] ?? value) : value);
  if (as === "duration") return durationOf(entities.documentOf(value));
  if (as === "time") return text === null ? null : <time dateTime={text}>{timeText(text)}</time>;
  if (as === "word") return entities.labelOf(value) ?? (text === null ? null : wordOf(text));
  return <Name entities={entities} value={value} />;
}

/** `Completed` of `http://schema.org/CompletedActionStatus`. */
const wordOf = (term: string): string => shortened(labelOf(term.replace(/ActionStatus$/, "")), 100);

/** `2 h 5 min`, of a run that says when it began and ended. */
function durationOf(document: JsonObject): string | null {
  const [start, end] = ["startTime", "endTime"].map((name) =>
    Date.parse(textOf(document[name]) ?? ""),
  );
  const seconds = ((end ?? NaN) - (start ?? NaN)) / 1000;
  if (!(seconds >= 0)) return null;
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48
    ? `${hours} h ${minutes % 60} min`
    : `${Math.floor(hours / 24)} days ${hours % 24} h`;
}

/** Stored images that the reader may see. */
function pictures(entities: Entities, shown: readonly JsonValue[]): ComponentChildren {
  const images = shown.flatMap((value) => {
    const entity = entities.of(value);
    const content = entity && "content" in entity ? (entity.content as Stored) : undefined;
    return entity && content?.readable && content.mediaType?.startsWith("image/") ? [entity] : [];
  });
  if (images.length === 0) return null;
  return images.slice(0, MAX_CELL).map(({ id, label }) => (
    <a class="preview-image" href={recordPath(id)}>
      <img src={recordPath(id, "view")} alt={shortened(label ?? "Diagram", 120)} loading="lazy" />
    </a>
  ));
}

interface TreeProps extends PartProps {
  members: readonly JsonValue[];
  depth: number;
  /** Members that the tree has: a hostile one may lead in circles. */
  seen: Set<string>;
}

/** Members with their members. */
function Tree({ members, depth, seen, ...props }: TreeProps): ComponentChildren {
  const { entities, section, crate } = props;
  const fresh = members.filter((member) => {
    const id = entities.of(member)?.id ?? JSON.stringify(member);
    if (seen.has(id) || seen.size >= MAX_MEMBERS) return false;
    seen.add(id);
    return true;
  });
  return (
    <>
      <ul class={depth === 1 ? "tree" : "tree inner"}>
        {fresh.map((member) => {
          const inner = depth < TREE_DEPTH ? entities.at(member, section.members ?? "") : [];
          const types = typesOf(entities.documentOf(member)).filter((type) =>
            MEMBER_TYPES.test(type),
          );
          return (
            <li>
              <Name entities={entities} value={member} />{" "}
              <span class="quiet small">{types.map(labelOf).join(", ")}</span>
              {inner.length > 0 && (
                <Tree {...props} members={inner} depth={depth + 1} seen={seen} />
              )}
            </li>
          );
        })}
      </ul>
      {depth === 1 && fresh.length < members.length && <More crate={crate} />}
    </>
  );
}

/** Types that say more than the shape before a name does. */
const MEMBER_TYPES = /^(?:Repository|Collection|Primary|Derived|Annotation)/;
