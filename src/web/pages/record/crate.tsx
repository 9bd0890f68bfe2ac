import { ServiceError } from "../../../errors.js";
import { RecordLink, When } from "../../components.js";
import {
  type CratePartsFragment,
  type RecordPageQuery,
  ScorePageDocument,
} from "../../documents.js";
import { countText, kindText, nameText, shortened } from "../../format.js";
import { labelOf } from "../../labels.js";
import { type Page, type PageRequest, recordPath, type Route, withQuery } from "../../page.js";
import { Back } from "./related.js";

type Contents = NonNullable<RecordPageQuery["contents"]>;

interface ContentsProps {
  id: string;
  counts: readonly { kind: string; count: number }[];
  contents: Contents;
}

/** What a crate consists of: how many of each kind, and the first by name. */
export function Contents({ id, counts, contents }: ContentsProps) {
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const members = contents.nodes.filter(
    (member) => member.id !== id && !member.id.endsWith("/ro-crate-metadata.json"),
  );
  return (
    <section id="contents">
      <h2>
        Contents <span class="count">{countText(total)}</span>
      </h2>
      {total === 0 ? (
        <p class="quiet">The crate describes nothing besides itself.</p>
      ) : (
        <>
          <ul class="numbers">
            {counts.map(({ kind, count }) => (
              <li>
                <a href={contentsPath(id, kind)}>
                  <strong>{countText(count)}</strong> {kindText(kind, count !== 1).toLowerCase()}
                </a>
              </li>
            ))}
          </ul>
          <ul class="records members">
            {members.map((member) => (
              <li>
                <RecordLink record={member} glyph />
              </li>
            ))}
          </ul>
          {contents.pageInfo.hasNextPage && (
            <p>
              <a href={contentsPath(id)}>All {countText(total)}</a>
            </p>
          )}
        </>
      )}
    </section>
  );
}

const STATES = {
  MET: "● met",
  PARTLY: "◐ partly",
  NOT_MET: "○ not met",
  NOT_APPLICABLE: "– does not apply",
} as const;

interface ScorecardProps {
  id: string;
  score: CratePartsFragment["score"];
}

/** How ready the crate is for AI: each criterion with its state, what was found and what to add. */
export function Scorecard({ id, score }: ScorecardProps) {
  if (!score)
    return (
      <section id="score">
        <h2>AI-readiness</h2>
        <p>
          The current version has no score yet.{" "}
          <a href={recordPath(id, "score")}>Compute how ready it is for AI</a>
        </p>
      </section>
    );
  const { met, partly, total } = score.score;
  return (
    <section id="score">
      <h2>
        AI-readiness <span class="count">{`${met} of ${total} met, ${partly} partly`}</span>
      </h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="AI-readiness">
        <table class="wide">
          <tbody>
            {score.categories.flatMap(({ name: category, criteria }) =>
              criteria.map(({ name, status, details, fix }) => (
                <tr>
                  <th scope="row">
                    {labelOf(name)}
                    <br />
                    <small class="quiet">{labelOf(category)}</small>
                  </th>
                  <td>{STATES[status]}</td>
                  <td dir="auto">
                    {shortened(details ?? "", 400)}
                    {fix && <p>{shortened(fix, 400)}</p>}
                  </td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The scorecard on a page of its own, with the scores of earlier revisions. */
async function scorePage({ ask, params }: PageRequest): Promise<Page> {
  const id = params["ark"]!;
  const { roCrate, aiReadyScore } = await ask(ScorePageDocument, { id });
  if (!roCrate) throw new ServiceError("NOT_FOUND", `No crate is stored under ${id}.`);
  const name = nameText(roCrate);
  return {
    title: `AI-readiness of ${shortened(name, 120)}`,
    section: "browse",
    body: (
      <>
        <Back record={roCrate} />
        <h1>AI-readiness</h1>
        <Scorecard id={roCrate.id} score={aiReadyScore} />
        {roCrate.scoreHistory.length > 1 && (
          <section>
            <h2>Earlier scores</h2>
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
                {roCrate.scoreHistory.map((point) => (
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
          </section>
        )}
      </>
    ),
  };
}

export const scoreRoutes: readonly Route[] = [
  { path: "/score/{ark}", get: scorePage },
  {
    path: "/rocrate/ai-ready-score/{ark}",
    get: async ({ params }) => ({ redirect: recordPath(params["ark"]!, "score") }),
  },
];

/** The address of all records of a crate, or of those of a kind. */
const contentsPath = (id: string, kind?: string): string =>
  withQuery(recordPath(id, "related"), { relation: "contents", kind: kind?.toLowerCase() });
