import type { TableSummary } from "../../../../src/tabular/summary.js";
import { textTable } from "../../../render/table.js";

/** Counts by property and keyword; to standard error where standard output is for programs. */
export async function writeSummary(file: string, summary: TableSummary, format: string, several: boolean): Promise<void> {
  const stream = format === "table" ? process.stdout : process.stderr;
  const { rows, errors, rowsWithErrors } = summary;
  const sorted = summary.counts.toSorted((a, b) => b.count - a.count);
  const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;
  const counted = `${several ? `${file}: ` : ""}${plural(rows, "row")}, ${plural(errors, "error")} in ${plural(rowsWithErrors, "row")}\n`;
  stream.write(counted + (errors === 0 ? "" : textTable(["property", "keyword", "errors"], sorted.map(({ property, keyword, count }) => [property ?? "(row)", keyword ?? "None", String(count)]))));
}
