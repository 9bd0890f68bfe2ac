import { shortened } from "./text.js";
import type { NotebookCell, NotebookPreview, PreviewLimits } from "./types.js";

/** Characters of one cell or output. */
const CELL = 20_000;
const OUTPUTS = 20;

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Text of a notebook is a string or a list of lines. */
const textOf = (value: unknown): string =>
  typeof value === "string"
    ? value
    : Array.isArray(value)
      ? value.filter((line) => typeof line === "string").join("")
      : "";

/** Cells as text (nbformat 3 and 4); `undefined` for JSON that is no notebook. Nothing is run. */
export function notebookOf(json: unknown, limits: PreviewLimits): NotebookPreview | undefined {
  if (!isObject(json)) return undefined;
  const [sheet] = Array.isArray(json["worksheets"]) ? (json["worksheets"] as unknown[]) : [];
  const cells = json["cells"] ?? (isObject(sheet) ? sheet["cells"] : undefined);
  if (!Array.isArray(cells)) return undefined;
  const metadata = isObject(json["metadata"]) ? json["metadata"] : {};
  const language = [metadata["language_info"], metadata["kernelspec"]]
    .filter(isObject)
    .flatMap(({ name, language: stated }) => [stated, name])
    .find((name) => typeof name === "string");
  let room = limits.text;
  const shown: NotebookCell[] = [];
  for (const cell of cells.filter(isObject)) {
    if (shown.length === limits.rows || room <= 0) break;
    const made = cellOf(cell);
    room -= made.text.length + made.outputs.reduce((sum, { length }) => sum + length, 0);
    shown.push(made);
  }
  return {
    form: "notebook",
    language: typeof language === "string" ? shortened(language, 100) : "txt",
    cells: shown,
    truncated: shown.length < cells.length,
  };
}

function cellOf(cell: Json): NotebookCell {
  const type = cell["cell_type"];
  const outputs = Array.isArray(cell["outputs"]) ? (cell["outputs"] as unknown[]) : [];
  return {
    kind: type === "code" || type === "markdown" ? type : "raw",
    text: shortened(textOf(cell["source"] ?? cell["input"]), CELL),
    outputs: outputs.filter(isObject).slice(0, OUTPUTS).map(outputOf),
  };
}

/** Text as it is; of anything else what it is: HTML and images of a notebook may hold scripts. */
function outputOf(output: Json): string {
  const data = isObject(output["data"]) ? output["data"] : output;
  const text = textOf(data["text/plain"] ?? data["text"]);
  const error = typeof output["ename"] === "string" ? `${output["ename"]}: ` : "";
  const value = typeof output["evalue"] === "string" ? output["evalue"] : "";
  const kinds = Object.keys(data).filter((type) => /^(?:image|video|audio)\//.test(type));
  const parts = [error + value, text, ...kinds.map((type) => `[${shortened(type, 60)}]`)].filter(
    (part) => part !== "",
  );
  return shortened(parts.join("\n"), CELL);
}
