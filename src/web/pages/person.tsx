/** The page of a person by ORCID: the works that name them, whoever states it. */
import { ServiceError } from "../../errors.js";
import { isObject, type JsonObject, type JsonValue, listOf } from "../../model/field.js";
import { nameText } from "../../model/labels.js";
import { textOf } from "../../model/texts.js";
import { Empty, Outside, Pager, Section } from "../components.js";
import { PersonPageDocument, type PersonPageQuery } from "../documents.js";
import type { Page, PageRequest, Route } from "../page.js";
import { orcidIn, personPath } from "../paths.js";
import { type Named, RecordLink } from "../record-components.js";
import { counted, countText, labelOf, shortened } from "../words.js";

type Statement = PersonPageQuery["people"]["nodes"][number];

/** A work with what it names the person as. */
interface Work {
  record: Named;
  roles: Set<string>;
  crate: Named | null;
}

/** The ORCID of the person that a document describes. */
export function orcidOf(document: JsonObject): string | null {
  const stated = ["sameAs", "identifier", "url"].flatMap((name) => listOf(document[name]));
  for (const value of stated) {
    const orcid = orcidIn(textOf(isObject(value) ? (value["@id"] ?? value["value"]) : value));
    if (orcid !== null) return orcid;
  }
  return null;
}

/** Works by the records of the person that they name, and works that state the ORCID themselves. */
function worksOf(
  statements: readonly Statement[],
  works: PersonPageQuery["works"]["nodes"],
  orcid: string,
) {
  const found = new Map<string, Work>();
  const add = (record: Named, role: string, crate: Named | null) => {
    const work = found.get(record.id) ?? { record, roles: new Set(), crate };
    work.roles.add(role);
    found.set(record.id, work);
  };
  for (const { links, crate } of statements)
    for (const { predicate, record } of links.nodes)
      if (!record.id.endsWith("/ro-crate-metadata.json")) add(record, labelOf(predicate), crate);
  for (const work of works)
    if (work.creators.some(({ id }) => orcidIn(id) === orcid)) add(work, "Author", null);
  return [...found.values()];
}

async function personPage({ ask, param, query }: PageRequest): Promise<Page> {
  const orcid = orcidIn(param("orcid"));
  if (orcid === null)
    throw new ServiceError("NOT_FOUND", "The address names no ORCID, such as 0000-0002-1825-0097.");
  const { people, works } = await ask(PersonPageDocument, {
    words: `"${orcid}"`,
    after: query.get("after"),
  });
  const statements = people.nodes.filter(({ document }) => {
    const stated = document as JsonValue;
    return isObject(stated) && orcidOf(stated) === orcid;
  });
  const all = worksOf(statements, works.nodes, orcid);
  const called = namesOf(statements, works.nodes, orcid);
  const [name = `ORCID ${orcid}`] = called.keys();
  return {
    title: shortened(name, 120),
    section: "browse",
    body: (
      <>
        <header class="record-head">
          <h1 dir="auto">{shortened(name, 200)}</h1>
          <p class="byline">
            Person <span class="dot">·</span>
            <Outside href={`https://orcid.org/${orcid}`}>ORCID {orcid}</Outside>
            <span class="dot">·</span> {counted(all.length, "work")} here
          </p>
        </header>
        {all.length === 0 ? (
          <Empty title="No work here names this person.">
            <p>
              <a href={`https://orcid.org/${orcid}`}>See what ORCID knows of them.</a>
            </p>
          </Empty>
        ) : (
          <Section id="works" title="Works" count={countText(all.length)}>
            <ul class="records">
              {all.map(({ record, roles, crate }) => (
                <li>
                  <RecordLink record={record} glyph />
                  {crate && crate.id !== record.id && (
                    <>
                      {" "}
                      in <RecordLink record={crate} />
                    </>
                  )}{" "}
                  <span class="quiet">as {roleText(roles)}</span>
                </li>
              ))}
            </ul>
          </Section>
        )}
        <Statements statements={statements} />
        <Pager path={personPath(orcid)} query={query} pageInfo={people.pageInfo} />
      </>
    ),
  };
}

/** `author, editor`; provenance repeats an agent in other words. */
function roleText(roles: ReadonlySet<string>): string {
  const stated = [...roles].filter((role) => role !== "Associated with");
  return shortened((stated.length > 0 ? stated : [...roles]).join(", ").toLowerCase(), 80);
}

/** What the person is called, the most frequent name first. */
function namesOf(
  statements: readonly Statement[],
  works: PersonPageQuery["works"]["nodes"],
  orcid: string,
): Map<string, number> {
  const counts = new Map<string, number>();
  const stated = [
    ...statements.map(({ name }) => name),
    ...works.flatMap(({ creators }) =>
      creators.filter(({ id }) => orcidIn(id) === orcid).map(({ name }) => name),
    ),
  ];
  for (const name of stated) if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map([...counts].sort(([, a], [, b]) => b - a));
}

/** Who describes the person: each crate speaks for itself. */
function Statements({ statements }: { statements: readonly Statement[] }) {
  if (statements.length === 0) return null;
  return (
    <Section id="statements" title="Described by" count={countText(statements.length)}>
      <ul class="records">
        {statements.map((statement) => (
          <li>
            <RecordLink record={statement} glyph />
            {statement.crate && (
              <>
                {" "}
                in <RecordLink record={statement.crate} />
              </>
            )}
            {statement.links.pageInfo.hasNextPage && (
              <span class="quiet"> More works name {nameText(statement)} there.</span>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

export const personRoutes: readonly Route[] = [{ path: "/person/:orcid", get: personPage }];
