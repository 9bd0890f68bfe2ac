import { TRANSFER_TABLES, type TransferTable } from "../../src/stores/records/transfer-port.js";
import type { Moved, ObjectFigures } from "../../src/use-cases/migrate/index.js";
import { textTable } from "../render/table.js";

/** What tables hold, as users call it. */
const CALLED: Readonly<Record<TransferTable, string>> = {
  setting: "settings", account: "accounts", submission: "submissions", record: "records, with deleted ones", state: "documents and graphs of all revisions", revision: "revisions",
  via: "kinds of links", link: "links", text: "texts for search", change_log: "changes", object_ref: "uses of objects", intent: "uploads begun", crate_use: "uses by crates", lease: "leases",
};
/** Digits of a digest that are shown. */
const SHOWN = 12;

type Line = [label: string, from: string | number, to: string | number];

/** All figures side by side, and what came of it. */
export function movedTable(moved: Moved): string {
  const { from, to, graphs, objects } = moved;
  const kinds = [...new Set([...Object.keys(from.kinds), ...Object.keys(to.kinds)])].sort();
  const tables = TRANSFER_TABLES.filter((table) => table !== "lease");
  const lines: Line[] = [
    ["commit", from.sequence, to.sequence],
    ...kinds.map((kind): Line => [`live records: ${kind}`, from.kinds[kind] ?? 0, to.kinds[kind] ?? 0]),
    ...tables.map((table): Line => [CALLED[table], rowsOf(from.tables[table]), rowsOf(to.tables[table])]),
    ["quads", graphs.from.quads, graphs.to.quads],
    ["digest of the quads", graphs.from.digest.slice(0, SHOWN), graphs.to.digest.slice(0, SHOWN)],
    ["objects that are needed", objects.needed, objects.needed - objects.wrong],
  ];
  const rows = lines.map(([label, a, b]) => [label, String(a), String(b), a === b ? "agree" : "DIFFER"]);
  return textTable(["", "source", "target", ""], rows) + wrongObjects(objects)
    + `${objects.copied} objects copied; ${objects.bytes} bytes are there.\n`
    + `Result: ${moved.agree ? "source and target agree" : moved.changed ? "the source changed meanwhile" : "source and target DIFFER"}.\n`;
}

export const objectsTable = (objects: ObjectFigures): string =>
  `${wrongObjects(objects)}${objects.copied} of ${objects.needed} objects copied; ${objects.bytes} bytes are there.\nResult: ${objects.wrong === 0 ? "every object that the records need is in the target" : `${objects.wrong} objects are not`}.\n`;

const rowsOf = ({ rows, sha256 }: { rows: number; sha256: string }): string => (rows === 0 ? "0" : `${rows} · ${sha256.slice(0, SHOWN)}`);

function wrongObjects({ wrong, named }: ObjectFigures): string {
  const more = wrong > named.length ? `… and ${wrong - named.length} more\n` : "";
  return named.map(({ sha256, reason }) => `object ${sha256}: ${reason}\n`).join("") + more;
}
