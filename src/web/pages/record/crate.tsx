import { RecordLink } from "../../components.js";
import type { CratePartsFragment, RecordPageQuery } from "../../documents.js";
import { countText, kindText, shortened } from "../../format.js";
import { labelOf } from "../../labels.js";
import { recordPath, withQuery } from "../../page.js";

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

/** How ready the crate is for AI: each criterion with its state, what was found and what to add. */
export function Scorecard({ score }: { score: CratePartsFragment["score"] }) {
  if (!score) return null;
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

/** The address of all records of a crate, or of those of a kind. */
const contentsPath = (id: string, kind?: string): string =>
  withQuery(recordPath(id, "related"), { relation: "contents", kind: kind?.toLowerCase() });
