/** How ready a crate is for AI: groups of criteria with a meter, and what is fixed with least effort. */
import { ServiceError, ValidationError } from "../../../errors.js";
import type { KindName } from "../../../model/kind.js";
import { nameText } from "../../../model/labels.js";
import { Field, Form, Notice, Section, When } from "../../components.js";
import {
  ChangeRecordDocument,
  type CratePartsFragment,
  ScoreMembersDocument,
  type ScoreMembersQuery,
  ScorePageDocument,
  type ScorePageQuery,
} from "../../documents.js";
import { kindOf } from "../../format.js";
import { LICENCES } from "../../licences.js";
import type { Page, PageRequest, Redirect, Route } from "../../page.js";
import { recordPath, withQuery } from "../../paths.js";
import { problemOf } from "../../problems.js";
import { counted, labelOf, shortened } from "../../words.js";
import { Back } from "./related.js";

type Score = NonNullable<CratePartsFragment["score"]>;
type Category = Score["categories"][number];
type Criterion = Category["criteria"][number];

const STATES = {
  MET: "● met",
  PARTLY: "◐ partly",
  NOT_MET: "○ not met",
  NOT_APPLICABLE: "– does not apply",
} as const;

/** What a member of the crate answers: a fix of a criterion that names the member is one field. */
interface Question {
  term: string;
  label: string;
  help?: string;
  /** Lines of the field; absent: one. */
  lines?: number;
  options?: readonly (readonly [string, string])[];
  suggestions?: readonly (readonly [string, string])[];
  /** Criteria that it helps; absent: those whose fix names the term. */
  helps?: readonly string[];
  /** Asked only where nothing is answered yet: an answer would replace the earlier ones. */
  isFirst?: true;
}

/** Profiles that readers choose from; any other may be typed. */
const PROFILES = [
  ["https://w3id.org/ro/wfrun/process/0.5", "Process Run Crate"],
  ["https://w3id.org/ro/wfrun/workflow/0.5", "Workflow Run Crate"],
  ["https://w3id.org/ro/wfrun/provenance/0.5", "Provenance Run Crate"],
  ["https://w3id.org/workflowhub/workflow-ro-crate/1.0", "Workflow RO-Crate"],
  ["https://w3id.org/5s-crate/0.4", "Five Safes Crate"],
] as const;

const QUESTIONS: readonly Question[] = [
  { term: "name", label: "Name", helps: ["findable", "contextualized"] },
  { term: "license", label: "Licence", options: [["", "Choose one"], ...LICENCES] },
  { term: "keywords", label: "Keywords", lines: 3, help: "One per line." },
  { term: "description", label: "Description", lines: 4 },
  { term: "datePublished", label: "When were they published?", help: "For example: 2026-01-31." },
  {
    term: "about",
    label: "What are they about?",
    lines: 2,
    isFirst: true,
    help: "Addresses of terms of a vocabulary, one per line: http://purl.obolibrary.org/obo/…",
  },
  {
    term: "conformsTo",
    label: "Which profile of RO-Crate do they follow?",
    suggestions: PROFILES,
    help: "Its address.",
  },
  { term: "rai:dataUseCases", label: "What are the data good for?", lines: 2 },
  { term: "rai:dataLimitations", label: "What are they not good for?", lines: 2 },
  { term: "rai:dataCollection", label: "How were they collected?", lines: 2 },
  { term: "rai:dataBiases", label: "Which biases are known?", lines: 2 },
  {
    term: "rai:dataCollectionMissingData",
    label: "Which data are missing, and why?",
    lines: 2,
  },
  {
    term: "rai:personalSensitiveInformation",
    label: "Which personal or sensitive information is in them?",
    lines: 2,
  },
  {
    term: "humanSubjectResearch",
    label: "Is it research on human subjects?",
    help: "Write “No” where there are none.",
  },
  { term: "ethicalReview", label: "Who reviewed the ethics, and when?" },
  { term: "dataGovernanceCommittee", label: "Who decides about the use of the data?" },
  {
    term: "confidentialityLevel",
    label: "How confidential are they?",
    help: "For example: unrestricted.",
  },
  { term: "rai:dataReleaseMaintenancePlan", label: "How are they maintained?", lines: 2 },
  {
    term: "publisher",
    label: "Who publishes them?",
    help: "A name, or better the address at ROR: https://ror.org/…",
  },
];

const questionsOf = ({ name, status, fix }: Criterion): Question[] =>
  QUESTIONS.filter(
    ({ term, helps, isFirst }) =>
      (helps?.includes(name) ?? true) &&
      !(isFirst && status === "PARTLY") &&
      new RegExp(`(?:^|\\s)${term}\\b`).test(fix ?? ""),
  );

/** What is missing in members of the crate: the fields of their forms that it is filled in by. */
interface Repair {
  /** What to fill in. */
  text: string;
  fields: Partial<Record<KindName, readonly string[]>>;
  /** Places of evidence that it is about; absent: all. */
  places?: RegExp;
}

const files = (...fields: string[]) => ({ dataset: fields, datadownload: fields });
const FORMATS = { ...files("encodingFormat"), software: ["encodingFormat"], mlmodel: ["format"] };
const PART = { ...files("isPartOf"), software: ["isPartOf"], mlmodel: ["isPartOf"] };

const REPAIRS: Readonly<Record<string, Repair>> = {
  accessible: { text: "Say where the content is.", fields: files("contentUrl") },
  associated: {
    text: "Say which folder or crate each is a part of.",
    fields: { ...PART, rocrate: ["isPartOf"] },
    places: /#$/,
  },
  interoperable: {
    text: "Write formats as registered media types, for example text/csv.",
    fields: FORMATS,
    places: /format$/i,
  },
  interpretable: {
    text: "Name the software of each run, and where the software is.",
    fields: { computation: ["usedSoftware"], software: ["url"] },
  },
  portable: {
    text: "Say what the software needs to run.",
    fields: { software: ["softwareRequirements"] },
  },
  standardized: { text: "Say in which format each file is.", fields: FORMATS },
  standards: {
    text: "Name the schema that describes the columns of each table.",
    fields: files("schema"),
  },
  statistics: {
    text: "State the size of each file, and the statistics of each table.",
    fields: files("hasSummaryStatistics", "contentSize"),
  },
  traceable: {
    text: "Name what each run used, and what it made.",
    fields: {
      computation: ["usedDataset", "generated"],
      experiment: ["usedSample", "generated"],
    },
  },
  transparent: {
    text: "Say where each comes from.",
    fields: { ...files("isBasedOn"), mlmodel: ["derivedFrom"] },
  },
};

/** Most members that a page leads to for one criterion. */
const MAX_MEMBERS = 5;

const repairOf = ({ name }: Criterion): Repair | undefined =>
  Object.hasOwn(REPAIRS, name) ? REPAIRS[name] : undefined;

/** Identifiers of the members in which something is missing. */
const membersOf = (criterion: Criterion): string[] => {
  const { places = /^/ } = repairOf(criterion) ?? {};
  return criterion.evidence
    .filter((place) => places.test(place))
    .map((place) => place.slice(0, place.indexOf("#")));
};

const isOpen = ({ status }: Criterion): boolean => status === "NOT_MET" || status === "PARTLY";

interface ScorecardProps {
  id: string;
  score: CratePartsFragment["score"];
  history: CratePartsFragment["scoreHistory"];
  /** Whether the reader may fix what is missing. */
  mayChange: boolean;
}

/** How ready the crate is for AI, by groups; each unfolds to its criteria. */
export function Scorecard({ id, score, history, mayChange }: ScorecardProps) {
  if (!score)
    return (
      <Section id="score" title="AI-readiness">
        <p>
          The current version has no score yet.{" "}
          <a href={recordPath(id, "score")}>Compute how ready it is for AI</a>
        </p>
      </Section>
    );
  const { met, partly, total } = score.totals;
  const hasFixes = mayChange && score.categories.some(({ criteria }) => criteria.some(isOpen));
  return (
    <Section id="score" title="AI-readiness" count={`${met} of ${total} met, ${partly} partly`}>
      {hasFixes && (
        <p>
          <a href={`${recordPath(id, "score")}#fix`}>Fix this first</a>: what takes least effort.
        </p>
      )}
      <div class="score-groups">
        {score.categories.map((category) => (
          <Group category={category} />
        ))}
      </div>
      {history.length > 1 && <Earlier history={history} />}
    </Section>
  );
}

function Group({ category: { name, criteria } }: { category: Category }) {
  const counts = criteria.filter(({ status }) => status !== "NOT_APPLICABLE");
  const met = counts.filter(({ status }) => status === "MET").length;
  const partly = counts.filter(({ status }) => status === "PARTLY").length;
  return (
    <details class="more">
      <summary>
        <span class="group-name">{labelOf(name)}</span>{" "}
        <meter
          min={0}
          max={Math.max(1, counts.length)}
          value={met + partly / 2}
          aria-label={`${labelOf(name)}: ${met} of ${counts.length} met`}
        />{" "}
        <span class="quiet">
          {met} of {counts.length}
        </span>
      </summary>
      <dl class="facts">
        {criteria.map((criterion) => (
          <div>
            <dt>
              {labelOf(criterion.name)} <small>{STATES[criterion.status]}</small>
            </dt>
            <dd dir="auto">
              <CriterionText criterion={criterion} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

/** What was found; where questions are open, these instead of the names of members. */
function CriterionText({ criterion }: { criterion: Criterion }) {
  const { details, fix } = criterion;
  const questions = isOpen(criterion) ? questionsOf(criterion) : [];
  if (questions.length > 0)
    return <>Not answered: {questions.map(({ label }) => label).join(" ")}</>;
  return (
    <>
      {shortened(details ?? "", 400)}
      {fix && <p class="quiet">{shortened(fix, 400)}</p>}
    </>
  );
}

/** How the score has changed with the crate. */
function Earlier({ history }: Pick<ScorecardProps, "history">) {
  return (
    <details class="more">
      <summary>{counted(history.length, "score")} since the crate was registered</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Met</th>
            <th scope="col">Partly</th>
            <th scope="col">Of</th>
          </tr>
        </thead>
        <tbody>
          {history.map((point) => (
            <tr>
              <td>
                <When at={point.computedAt} minute />
              </td>
              <td class="number">{point.met}</td>
              <td class="number">{point.partly}</td>
              <td class="number">{point.total}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

type Crate = NonNullable<ScorePageQuery["roCrate"]>;
type Member = Extract<ScoreMembersQuery["nodes"][number], { mayChange: boolean }>;

/** The members that the reader may fix for a criterion, with the fields of each. */
function repairsOf(criterion: Criterion, known: ReadonlyMap<string, Member>) {
  const { fields = {} } = repairOf(criterion) ?? {};
  return membersOf(criterion)
    .flatMap((id) => known.get(id) ?? [])
    .flatMap((member) => {
      const asked = fields[kindOf(member.kind ?? "ENTITY")];
      return asked && member.mayChange ? [{ member, asked }] : [];
    });
}

/** What one field or one click fixes, before what needs another upload. */
function Fixes({
  crate,
  open,
  members,
  request,
}: {
  crate: Crate;
  /** Criteria that are not met, or in part. */
  open: readonly Criterion[];
  members: ReadonlyMap<string, Member>;
  request: PageRequest;
}) {
  const { csrf, form } = request;
  const asked = QUESTIONS.map((question) => ({
    ...question,
    helps: open.filter((criterion) => questionsOf(criterion).includes(question)),
  })).filter(({ helps }) => helps.length > 0);
  const clicks = open.flatMap(({ name, fix }): [string, string][] => {
    if (name === "persistent") return [["Reserve a DOI", recordPath(crate.id, "reserve")]];
    return crate.publicationStatus === "DRAFT" && fix?.includes("ublish the crate")
      ? [["Publish the crate", withQuery("/my/records/publish", { id: crate.id })]]
      : [];
  });
  const repairs = open
    .map((criterion) => ({ criterion, found: repairsOf(criterion, members) }))
    .filter(({ found }) => found.length > 0);
  const isRepaired = new Set(repairs.map(({ criterion }) => criterion));
  const uploads = open.filter(
    (criterion) =>
      questionsOf(criterion).length === 0 &&
      !isRepaired.has(criterion) &&
      criterion.name !== "persistent",
  );
  if (open.length === 0) return null;
  return (
    <Section id="fix" title="Fix this first">
      {asked.length > 0 && (
        <Form csrf={csrf} data-keep={`score of ${crate.id}`}>
          <h3>By a sentence</h3>
          <p>What you leave empty stays open.</p>
          <input type="hidden" name="revision" value={crate.revision ?? ""} />
          {asked.map(({ term, label, help, lines, options, suggestions, helps }) => (
            <Field
              label={label}
              name={term}
              value={form.get(term) ?? ""}
              {...(lines === undefined ? {} : { lines })}
              {...(options === undefined ? {} : { options })}
              suggestions={suggestions}
              help={[
                help,
                `For: ${helps.map(({ name }) => labelOf(name).toLowerCase()).join(", ")}.`,
              ]
                .filter(Boolean)
                .join(" ")}
            />
          ))}
          <button>Save the answers</button>
        </Form>
      )}
      {clicks.length > 0 && (
        <>
          <h3>By a click</h3>
          <p class="actions">
            {clicks.map(([text, href]) => (
              <a class="button secondary" href={href}>
                {text}
              </a>
            ))}
          </p>
        </>
      )}
      {repairs.length > 0 && (
        <>
          <h3>In the records of the crate</h3>
          <ul>
            {repairs.map(({ criterion, found }) => (
              <li>
                <strong>{labelOf(criterion.name)}.</strong> {repairOf(criterion)?.text}
                <ul>
                  {found.slice(0, MAX_MEMBERS).map(({ member, asked: fields }) => (
                    <li>
                      <a href={editPath(member.id, fields)}>
                        <bdi>{shortened(nameText(member), 120)}</bdi>
                      </a>
                    </li>
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        </>
      )}
      {uploads.length > 0 && (
        <>
          <h3>
            With the <a href={withQuery("/upload", { crate: crate.id })}>next upload</a>
          </h3>
          <ul>
            {uploads.map(({ name, fix }) => (
              <li>
                <strong>{labelOf(name)}.</strong> {shortened(fix ?? "", 400)}
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}

/** The form of a record with these fields first. */
const editPath = (id: string, fields: readonly string[]): string =>
  `${recordPath(id, "edit")}?${new URLSearchParams(fields.map((name) => ["field", name])).toString()}`;

/** The scorecard on a page of its own, with what to fix for those who may. */
async function scorePage(request: PageRequest, problem?: string): Promise<Page> {
  const { ask, param, query } = request;
  const id = param("ark");
  const { roCrate, aiReadyScore } = await ask(ScorePageDocument, { id });
  if (!roCrate) throw new ServiceError("NOT_FOUND", `No crate is stored under ${id}.`);
  const name = nameText(roCrate);
  const open = (aiReadyScore?.categories ?? []).flatMap(({ criteria }) => criteria).filter(isOpen);
  const ids = [...new Set(open.filter((each) => repairOf(each)).flatMap(membersOf))];
  const members =
    roCrate.mayChange && ids.length > 0 ? await ask(ScoreMembersDocument, { ids }) : null;
  const answered = Number(query.get("answered"));
  return {
    status: problem === undefined ? 200 : 422,
    title: `AI-readiness of ${shortened(name, 120)}`,
    section: "browse",
    body: (
      <>
        <Back record={roCrate} />
        <h1>AI-readiness</h1>
        {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
        {answered > 0 && (
          <Notice tone="success">{counted(answered, "answer was", "answers were")} saved.</Notice>
        )}
        <Scorecard
          id={roCrate.id}
          score={aiReadyScore}
          history={roCrate.scoreHistory}
          mayChange={false}
        />
        {roCrate.mayChange && (
          <Fixes
            crate={roCrate}
            open={open}
            members={
              new Map(
                members?.nodes.flatMap((node) =>
                  node && "mayChange" in node ? [[node.id, node] as const] : [],
                ),
              )
            }
            request={request}
          />
        )}
      </>
    ),
  };
}

/** Members of the context of every crate; the context of a crate need not explain the others. */
const PLAIN: ReadonlySet<string> = new Set([
  "name",
  "license",
  "keywords",
  "description",
  "publisher",
  "datePublished",
  "about",
  "conformsTo",
]);
/** Members whose addresses are references. */
const REFERENCES: ReadonlySet<string> = new Set(["publisher", "about", "conformsTo"]);

/** The member that an answer is written as: a whole IRI needs no context that explains it. */
const memberOf = ({ term }: Question): string =>
  PLAIN.has(term)
    ? term
    : term.startsWith("rai:")
      ? `http://mlcommons.org/croissant/RAI/${term.slice("rai:".length)}`
      : `https://w3id.org/EVI#${term}`;

/** The value of an answer as documents have it. */
function valueOf({ term }: Question, text: string): unknown {
  if (term === "keywords") return text.split(/\s*[\n,]\s*/).filter((word) => word !== "");
  if (!REFERENCES.has(term)) return text;
  const values = text
    .split(/\s*\n\s*/)
    .map((line) => (/^https?:\/\/\S+$/.test(line) ? { "@id": line } : line));
  return values.length === 1 ? values[0] : values;
}

/** Writes the answers into the crate. */
async function answer(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form, param } = request;
  const id = param("ark");
  const patch: Record<string, unknown> = {};
  for (const question of QUESTIONS) {
    const text = form.get(question.term)?.trim() ?? "";
    if (text !== "") patch[memberOf(question)] = valueOf(question, text);
  }
  const answered = Object.keys(patch).length;
  if (answered === 0) return scorePage(request, "Answer at least one question.");
  try {
    const expectedRevision = Number(form.get("revision")) || null;
    await ask(ChangeRecordDocument, { input: { id, patch, expectedRevision } });
  } catch (error) {
    if (error instanceof ServiceError && error.code === "REVISION_MISMATCH")
      return scorePage(
        request,
        "Somebody changed the crate meanwhile. Your answers are below: look at what is still open, and save them again.",
      );
    if (!(error instanceof ServiceError || error instanceof ValidationError)) throw error;
    const { form: sentence, fields } = problemOf(error);
    return scorePage(request, [sentence, ...Object.values(fields)].filter(Boolean).join(" "));
  }
  return { redirect: withQuery(recordPath(id, "score"), { answered: String(answered) }) };
}

export const scoreRoutes: readonly Route[] = [
  { path: "/score/*ark", get: (request) => scorePage(request), post: answer },
];
