import { RecordLink } from "../../components.js";
import type { RecordPageQuery } from "../../documents.js";
import { countText, kindText } from "../../format.js";
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

/** The address of all records of a crate, or of those of a kind. */
const contentsPath = (id: string, kind?: string): string =>
  withQuery(recordPath(id, "related"), { relation: "contents", kind: kind?.toLowerCase() });
