import { isMet, ratioOf, type Figure, type Wanted } from "./bench.js";

export type Results = Record<string, Figure[]>;

const COLUMNS = [
  "bench",
  "figure",
  "value",
  "baseline",
  "its value",
  "ratio",
  "target",
  "",
] as const;

/** Three digits that matter. */
export function shown(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

function wantedText(wanted: Wanted | undefined, unit: string): string {
  if (!wanted) return "";
  if ("below" in wanted) return `< ${wanted.below} ${unit}`;
  if ("atLeast" in wanted) return `≥ ${shown(wanted.atLeast)}`;
  return `≤ ${wanted.atMost}`;
}

function row(bench: string, figure: Figure): string[] {
  const { name, value, unit, baseline, wanted } = figure;
  const ratio = ratioOf(figure);
  const met = isMet(figure);
  return [
    bench,
    name,
    `${shown(value)} ${unit}`,
    baseline?.name ?? "",
    baseline ? `${shown(baseline.value)} ${unit}` : "",
    ratio === undefined ? "" : ratio.toFixed(2),
    wantedText(wanted, unit),
    met === undefined ? "" : met ? "met" : "MISSED",
  ];
}

/** Every figure of a run as one table, for a terminal and as Markdown; then the notes. */
export function table(results: Results): string {
  const all = Object.entries(results).flatMap(([bench, figures]) =>
    figures.map((figure) => ({ bench, figure })),
  );
  const rows = all.map(({ bench, figure }) => row(bench, figure));
  const widths = COLUMNS.map((title, column) =>
    Math.max(...[title, ...rows.map((cells) => cells[column]!)].map((cell) => cell.length)),
  );
  const right = (column: number): boolean => column === 2 || column === 4 || column === 5;
  const line = (cells: readonly string[]) =>
    `| ${cells
      .map((cell, column) =>
        right(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join(" | ")} |`;
  const rule = widths.map((width, column) =>
    right(column) ? `${"-".repeat(width - 1)}:` : "-".repeat(width),
  );
  const notes = all.flatMap(({ bench, figure: { name, note } }) =>
    note ? [`${bench}: ${name}: ${note}`] : [],
  );
  return `${[line(COLUMNS), line(rule), ...rows.map(line), "", ...notes].join("\n")}\n`;
}

/** The same for programs: values, ratios, and whether each has the wanted value. */
export function asJson(results: Results, surroundings: object): string {
  const benches = Object.fromEntries(
    Object.entries(results).map(([bench, figures]) => [
      bench,
      figures.map((figure) => ({
        ...figure,
        ratio: ratioOf(figure) ?? null,
        met: isMet(figure) ?? null,
      })),
    ]),
  );
  return `${JSON.stringify({ ...surroundings, benches }, null, 2)}\n`;
}
