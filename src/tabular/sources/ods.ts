/** Workbooks in the format OpenDocument (ISO/IEC 26300). */
import { type TableLimits, TabularError } from "../limits.js";
import { type Sheet, type SheetRow, SheetRows } from "./sheet.js";
import { readWholeXml, readXml, type XmlHandler } from "./xml.js";
import type { ZipArchive, ZipMember } from "./zip.js";

const CONTENT = "content.xml";

/** Whether the archive is an OpenDocument file, of whatever kind. */
export const isOpenDocument = ({ members }: ZipArchive): boolean =>
  members[0]?.name === "mimetype" && members.some(({ name }) => name === CONTENT);

/** The sheets of a workbook. @throws TabularError `DATA` */
export async function odsSheets({ members }: ZipArchive): Promise<Sheet[]> {
  const content = members.find(({ name }) => name === CONTENT)!;
  const sheets: Sheet[] = [];
  let depth = 0;
  let isSheets = false;
  await readWholeXml(CONTENT, content.bytes(), {
    open(tag, { name = "" }) {
      if (tag === "spreadsheet") isSheets = true;
      if (tag !== "table" || !isSheets || ++depth > 1) return;
      const place = sheets.length;
      sheets.push({ name, isHidden: false, rows: (limits) => rowsOf(content, place, limits) });
    },
    close(tag) {
      if (tag === "table" && isSheets) depth--;
    },
  });
  if (!isSheets) throw new TabularError("DATA", "it is an OpenDocument file without sheets");
  return sheets;
}

/** A count of repetitions. */
const timesOf = (text = "1"): number => Math.max(1, Number.parseInt(text, 10) || 1);

/** Spaces that one element stands for. */
const MAX_SPACES = 10_000;

async function* rowsOf(
  content: ZipMember,
  place: number,
  limits: TableLimits,
): AsyncGenerator<SheetRow[]> {
  const rows = new SheetRows(limits);
  const cell = cellReader((text) => rows.checkText(text));
  let sheet = -1;
  let depth = 0;
  let times = 1;
  let isDone = false;
  const handler: XmlHandler = {
    open(name, attributes) {
      if (name === "table" && depth++ === 0) sheet++;
      if (sheet !== place || isDone) return;
      if (name === "table-row" && depth === 1) {
        rows.begin();
        times = timesOf(attributes["number-rows-repeated"]);
      } else cell.open(name, attributes);
    },
    text(text) {
      if (sheet === place && !isDone) cell.text(text);
    },
    close(name) {
      if (name === "table" && --depth === 0 && sheet === place) isDone = true;
      if (sheet !== place || isDone) return;
      cell.close(name);
      if (name === "table-cell" || name === "covered-table-cell")
        rows.put(cell.take(), undefined, cell.times);
      else if (name === "table-row" && depth === 1) rows.end(times);
    },
  };
  for await (const _ of readXml(CONTENT, content.bytes(), handler)) {
    yield rows.take();
    if (isDone) return;
  }
}

/** Reads one cell after another. */
function cellReader(
  check: (text: string) => void,
): Required<XmlHandler> & { take(): string; times: number } {
  let attributes: Readonly<Record<string, string>> = {};
  let text = "";
  let paragraphs = 0;
  let isParagraph = false;
  /** Elements of a comment, which is no part of the text. */
  let comment = 0;
  const add = (part: string): void => {
    text += part;
    check(text);
  };
  const reader = {
    times: 1,
    open(name: string, given: Readonly<Record<string, string>>) {
      if (name === "annotation") comment++;
      if (comment > 0) return;
      if (name === "table-cell" || name === "covered-table-cell") {
        attributes = given;
        reader.times = timesOf(given["number-columns-repeated"]);
        text = "";
        paragraphs = 0;
      } else if (name === "p") {
        isParagraph = true;
        if (paragraphs++ > 0) add("\n");
      } else if (isParagraph && name === "s")
        add(" ".repeat(Math.min(timesOf(given["c"]), MAX_SPACES)));
      else if (isParagraph && name === "tab") add("\t");
      else if (isParagraph && name === "line-break") add("\n");
    },
    text(part: string) {
      if (isParagraph && comment === 0) add(part);
    },
    close(name: string) {
      if (name === "annotation") comment--;
      else if (name === "p" && comment === 0) isParagraph = false;
    },
    take: () => valueOf(attributes, text),
  };
  return reader;
}

function valueOf(attributes: Readonly<Record<string, string>>, text: string): string {
  const stated = (name: string): string => attributes[name] ?? text;
  switch (attributes["value-type"]) {
    case "float":
    case "percentage":
    case "currency":
      return String(Number(stated("value")));
    case "boolean":
      return stated("boolean-value");
    case "date":
      return stated("date-value").replace(/T00:00:00(?:\.0+)?$/, "");
    case "time":
      return clockOf(stated("time-value"));
    case "string":
      return attributes["string-value"] ?? text;
    default:
      return text;
  }
}

/** A duration as a time of day: hours may be more than 23, as in the sheet. */
function clockOf(duration: string): string {
  const [, hours, minutes, seconds, fraction = ""] =
    /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)([.,]\d+)?S)?$/.exec(duration) ?? [];
  if (hours === undefined && minutes === undefined && seconds === undefined) return duration;
  const clock = [hours, minutes, seconds].map((part = "0") => part.padStart(2, "0")).join(":");
  return clock + fraction.replace(",", ".").replace(/0+$/, "").replace(/\.$/, "");
}
