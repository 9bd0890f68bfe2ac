import { isMet, ratioOf, type Figure, type Wanted } from "./bench.js";

export type Results = Record<string, Figure[]>;

const COLUMNS = ["figure", "", "baseline", "", "ratio", "wanted", ""] as const;

/** Three digits that matter. */
export function shown(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

function wantedText(wanted: Wanted | undefined, unit: string): string {
  if (!wanted) return "";
  if ("below" in wanted) return `< ${wanted.below} ${unit}`;
  if ("atLeast" in wanted) return `≥ ${wanted.atLeast}`;
  return "atMost" in wanted ? `≤ ${wanted.atMost}` : `1 ± ${wanted.within}`;
}

function row(figure: Figure): string[] {
  const { name, value, unit, baseline, wanted } = figure;
  const ratio = ratioOf(figure);
  const met = isMet(figure);
  return [
    name,
    `${shown(value)} ${unit}`,
    baseline?.name ?? "",
    baseline ? `${shown(baseline.value)} ${unit}` : "",
    ratio === undefined ? "" : ratio.toFixed(2),
    wantedText(wanted, unit),
    met === undefined ? "" : met ? "met" : "MISSED",
  ];
}

/** Every figure of a run as a table for a terminal. */
export function table(results: Results): string {
  const blocks = Object.entries(results).map(([bench, figures]) => ({
    bench,
    rows: figures.map(row),
    notes: figures.flatMap(({ name, note }) => (note ? [`${name}: ${note}`] : [])),
  }));
  const all = [[...COLUMNS], ...blocks.flatMap(({ rows }) => rows)];
  const widths = COLUMNS.map((_, column) => Math.max(...all.map((cells) => cells[column]!.length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === 1 || column === 3 || column === 4
          ? cell.padStart(widths[column]!)
          : cell.padEnd(widths[column]!),
      )
      .join("  ")
      .trimEnd();
  const lines = [line(COLUMNS)];
  for (const { bench, rows, notes } of blocks)
    lines.push("", bench, ...rows.map(line), ...notes.map((note) => `  ${note}`));
  return `${lines.join("\n")}\n`;
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
