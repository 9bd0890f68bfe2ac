/** What is affected if a record is withdrawn. */
import { nameText } from "../../../model/labels.js";
import { ServiceError } from "../../../errors.js";
import { Empty, EntryTable, When } from "../../components.js";
import { ImpactDocument, type ImpactQuery } from "../../documents.js";
import { kindOf } from "../../format.js";
import type { Page, PageRequest } from "../../page.js";
import { recordPath, withQuery } from "../../paths.js";
import { KindLabel, RecordLink } from "../../record-components.js";
import { counted, countText, kindText, shortened } from "../../words.js";

const IMPACT_PAGE = 200;

type Affected = ImpactQuery["evidence"]["nodes"][number];

export async function impactPage(request: PageRequest): Promise<Page> {
  const { ask, param, query, res } = request;
  const id = param("ark");
  const wantsTable = query.get("as") === "csv";
  const { record, impact, evidence } = await ask(ImpactDocument, {
    id,
    first: wantsTable ? 10_000 : IMPACT_PAGE,
    after: query.get("after"),
  });
  if (!record) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  const affected = evidence.nodes.filter((node) => node.id !== record.id);
  if (wantsTable) {
    res
      .writeHead(200, {
        "Content-Type": "text/csv; charset=utf-8; header=present",
        "Content-Disposition": 'attachment; filename="affected.csv"',
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-cache, private",
      })
      .end(csvOf(affected));
    return { title: "", body: null };
  }
  const name = nameText(record);
  return {
    title: `What depends on ${shortened(name, 80)}`,
    description: `${counted(impact.total, "record")} depend on “${shortened(name, 120)}”.`,
    body: (
      <>
        <p class="crumb">
          <RecordLink record={record} glyph /> ›{" "}
          <a href={recordPath(record.id, "evidence")}>Evidence</a> › What depends on it
        </p>
        <h1>What is affected if this is withdrawn?</h1>
        {impact.total === 0 ? (
          <Empty title="No record here depends on it.">
            <p>
              <a href={recordPath(record.id)}>Back to the record</a>
            </p>
          </Empty>
        ) : (
          <>
            <p>
              <strong>{counted(impact.total, "record")}</strong> depend on it,{" "}
              {countText(impact.direct)} directly, the furthest in{" "}
              {counted(impact.furthest, "step")}:{" "}
              {impact.byKind
                .map(
                  ({ kind, count }) =>
                    `${countText(count)} ${kindText(kind, count !== 1).toLowerCase()}`,
                )
                .join(", ")}
              . They belong to{" "}
              {impact.byOwner
                .slice(0, 10)
                .map(
                  ({ owner, name: ownerName, count }) =>
                    `${ownerName ?? owner?.id ?? "nobody"} (${countText(count)})`,
                )
                .join(", ")}
              .
            </p>
            <p class="actions">
              <a
                class="button secondary"
                href={`${recordPath(record.id, "impact")}?as=csv`}
                download
              >
                Download as CSV
              </a>
            </p>
            <EntryTable
              rows={affected}
              columns={[
                ["Record", (node) => <RecordLink record={node} />],
                ["Kind", ({ kind }) => <KindLabel kind={kind} />],
                ["Owner", ({ owner }) => owner && <RecordLink record={owner} />],
                ["Changed", ({ modifiedAt }) => <When at={modifiedAt} />],
              ]}
            />
            {evidence.pageInfo.hasNextPage && evidence.pageInfo.endCursor && (
              <nav class="pager" aria-label="Pages">
                <a
                  rel="next"
                  href={withQuery(recordPath(record.id, "impact"), {
                    after: evidence.pageInfo.endCursor,
                  })}
                >
                  Next →
                </a>
              </nav>
            )}
          </>
        )}
      </>
    ),
  };
}

/** RFC 4180. A cell that a spreadsheet would compute is made text. */
function csvOf(nodes: readonly Affected[]): string {
  const cell = (value: string): string => {
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = nodes.map((node) =>
    [
      node.id,
      node.name ?? "",
      node.kind === null ? "" : kindOf(node.kind),
      node.owner?.name ?? node.owner?.id ?? "",
    ]
      .map(cell)
      .join(","),
  );
  return ["identifier,name,kind,owner", ...rows, ""].join("\r\n");
}
