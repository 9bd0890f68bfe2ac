import type { RecordGone } from "../../../services/records/find.js";
import { Facts, Identifier, RecordLink, StatusBadge, When } from "../../components.js";
import { shortened } from "../../format.js";
import { namesOf } from "../../names.js";
import { type Page, type PageRequest, recordPath } from "../../page.js";

/**
 * The page of a deleted record: who withdrew it, when and why, and what to use instead.
 * @param error what the record's address answers to programs
 */
export async function tombstonePage(
  { ask }: PageRequest,
  { ark: id, message, extra, status }: RecordGone,
): Promise<Page> {
  const { deletedAt, deletedBy, reason, successor } = extra;
  const ids = [deletedBy, successor].filter((id): id is string => typeof id === "string");
  const names = await namesOf(ask, ids);
  const named = (who: unknown) =>
    typeof who === "string" && <RecordLink record={{ ...names.get(who), id: who }} glyph />;
  return {
    status,
    title: `Withdrawn: ${shortened(id, 120)}`,
    description: message,
    section: "browse",
    links: [],
    body: (
      <>
        <h1>
          This record was withdrawn <StatusBadge status={null} deleted />
        </h1>
        <Facts
          rows={[
            ["When", typeof deletedAt === "string" && <When at={deletedAt} minute />],
            ["By", named(deletedBy)],
            [
              "Why",
              typeof reason === "string" ? (
                <bdi>{shortened(reason, 2000)}</bdi>
              ) : (
                <span class="quiet">No reason was given.</span>
              ),
            ],
            ["Use instead", named(successor)],
            ["Identifier", <Identifier id={id} />],
          ]}
        />
        {typeof successor === "string" && (
          <p class="further">
            <a class="button" href={recordPath(successor)}>
              Open what replaces it
            </a>
          </p>
        )}
        <p class="quiet">
          An identifier is never given to another object. Earlier revisions are shown to the
          record's owner and to administrators: <a href={recordPath(id, "history")}>history</a>.
        </p>
      </>
    ),
  };
}
