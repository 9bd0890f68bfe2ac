/** Workbooks as spreadsheet programs write them since 2007 (ECMA-376, Office Open XML). */
import { posix } from "node:path";
import { sizeText, type TableLimits, TabularError } from "../limits.js";
import { clockText, dateText } from "./cell-text.js";
import { type Sheet, type SheetRow, SheetRows } from "./sheet.js";
import { readWholeXml, readXml, type XmlHandler } from "./xml.js";
import type { ZipArchive, ZipMember } from "./zip.js";

const ROOT_RELATIONS = "_rels/.rels";

/** Whether the archive is such a workbook. */
export const isXlsx = ({ members }: ZipArchive): boolean =>
  members.some(({ name }) => name === ROOT_RELATIONS) &&
  members.some(({ name }) => name === "[Content_Types].xml") &&
  members.some(({ name }) => name.startsWith("xl/"));

function partOf({ members }: ZipArchive, path: string): ZipMember {
  const name = path.replace(/^\//, "");
  const member = members.find((each) => each.name === name);
  if (!member) throw new TabularError("DATA", `the workbook has no part ${name}`);
  return member;
}

/** The parts that a part of the workbook names, by type and by identifier. */
interface Relations {
  byType: ReadonlyMap<string, string>;
  byId: ReadonlyMap<string, string>;
}

async function relationsOf(zip: ZipArchive, part: string): Promise<Relations> {
  const folder = posix.dirname(part);
  const path = part === "" ? ROOT_RELATIONS : `${folder}/_rels/${posix.basename(part)}.rels`;
  const [byType, byId] = [new Map<string, string>(), new Map<string, string>()];
  await readWholeXml(path, partOf(zip, path).bytes(), {
    open(name, { Id, Type, Target }) {
      if (name !== "Relationship" || Target === undefined) return;
      const target = Target.startsWith("/") ? Target : posix.join(folder, Target);
      byId.set(Id ?? "", target);
      byType.set(Type?.replace(/^.*\//, "") ?? "", target);
    },
  });
  return { byType, byId };
}

/** The sheets of a workbook. @throws TabularError `DATA`, `LIMIT` */
export async function xlsxSheets(zip: ZipArchive): Promise<Sheet[]> {
  const workbook = (await relationsOf(zip, "")).byType.get("officeDocument");
  if (workbook === undefined) throw new TabularError("DATA", "it names no workbook");
  if (workbook.endsWith(".bin"))
    throw new TabularError(
      "DATA",
      "it is a binary workbook (xlsb), which is not read: save it as xlsx",
    );
  const { byType, byId } = await relationsOf(zip, workbook);
  const sheets: Sheet[] = [];
  let is1904 = false;
  await readWholeXml(workbook, partOf(zip, workbook).bytes(), {
    open(tag, { name = "", id = "", state, date1904 }) {
      if (tag === "workbookPr") is1904 = date1904 === "1" || date1904 === "true";
      const part = byId.get(id);
      if (tag !== "sheet" || part === undefined || !part.includes("worksheets/")) return;
      sheets.push({
        name,
        isHidden: state === "hidden" || state === "veryHidden",
        rows: async function* (limits) {
          const book = {
            is1904,
            texts: await sharedTexts(zip, byType.get("sharedStrings"), limits),
            forms: await cellForms(zip, byType.get("styles")),
          };
          yield* rowsOf(partOf(zip, part), book, limits);
        },
      });
    },
  });
  return sheets;
}

/** Texts with the characters that XML cannot hold. */
const withControls = (text: string): string =>
  text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

/** The texts of cells, which are stored once each. @throws TabularError `LIMIT` */
async function sharedTexts(
  zip: ZipArchive,
  part: string | undefined,
  { maxPart, names }: TableLimits,
): Promise<readonly string[]> {
  const texts: string[] = [];
  if (part === undefined) return texts;
  let size = 0;
  const reader = textReader((text) => {
    size += text.length;
    if (size > maxPart)
      throw new TabularError(
        "LIMIT",
        `the texts of its cells are longer than ${sizeText(maxPart)}: raise ${names.maxPart}`,
      );
  });
  await readWholeXml(part, partOf(zip, part).bytes(), {
    ...reader,
    close(name) {
      reader.close(name);
      if (name === "si") texts.push(reader.take());
    },
  });
  return texts;
}

/** Collects the text of a cell: that of all its runs, without readings in other scripts. */
function textReader(check: (text: string) => void): Required<XmlHandler> & { take(): string } {
  let text = "";
  let isText = false;
  let isReading = false;
  return {
    open(name) {
      if (name === "t") isText = !isReading;
      else if (name === "rPh") isReading = true;
    },
    text(part) {
      if (!isText) return;
      text += part;
      check(part);
    },
    close(name) {
      if (name === "t") isText = false;
      else if (name === "rPh") isReading = false;
    },
    take() {
      const found = withControls(text);
      text = "";
      return found;
    },
  };
}

/** What the number of a cell is shown as. */
type Form = "number" | "moment" | "clock";

/** The forms that need no code: see ECMA-376, 18.8.30. */
const BUILT_IN: readonly (readonly [from: number, to: number, form: Form])[] = [
  [14, 17, "moment"],
  [18, 21, "clock"],
  [22, 22, "moment"],
  [27, 31, "moment"],
  [32, 33, "clock"],
  [34, 36, "moment"],
  [45, 47, "clock"],
  [50, 58, "moment"],
];

/** The form that a code such as `yyyy-mm-dd` gives to numbers. */
function formOf(code: string): Form {
  const letters = code
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, "")
    .replaceAll(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, "")
    .replaceAll(/general/gi, "");
  if (/[yd]/i.test(letters)) return "moment";
  return /[hs]/i.test(letters) ? "clock" : /m/i.test(letters) ? "moment" : "number";
}

/** By the style of a cell. */
async function cellForms(zip: ZipArchive, part: string | undefined): Promise<readonly Form[]> {
  const forms: Form[] = [];
  if (part === undefined) return forms;
  const codes = new Map<number, string>();
  let isCell = false;
  await readWholeXml(part, partOf(zip, part).bytes(), {
    open(name, { numFmtId = "0", formatCode = "" }) {
      if (name === "numFmt") codes.set(Number(numFmtId), formatCode);
      if (name === "cellXfs") isCell = true;
      if (name !== "xf" || !isCell) return;
      const id = Number(numFmtId);
      const code = codes.get(id);
      forms.push(
        code === undefined
          ? (BUILT_IN.find(([from, to]) => from <= id && id <= to)?.[2] ?? "number")
          : formOf(code),
      );
    },
    close(name) {
      if (name === "cellXfs") isCell = false;
    },
  });
  return forms;
}

interface Book {
  is1904: boolean;
  texts: readonly string[];
  forms: readonly Form[];
}

/** The column of a reference such as `AB12`, from 0. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of reference.replace(/\d.*$/, ""))
    column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

async function* rowsOf(
  part: ZipMember,
  book: Book,
  limits: TableLimits,
): AsyncGenerator<SheetRow[]> {
  const rows = new SheetRows(limits);
  let cell: Readonly<Record<string, string>> = {};
  let value = "";
  let isValue = false;
  let isFormula = false;
  const inline = textReader((text) => rows.checkText(text));
  const handler: XmlHandler = {
    open(name, attributes) {
      inline.open(name, attributes);
      if (name === "row")
        rows.begin(attributes["r"] === undefined ? undefined : Number(attributes["r"]));
      else if (name === "c") {
        cell = attributes;
        value = "";
        isFormula = false;
      } else if (name === "v") isValue = true;
      else if (name === "f") isFormula = true;
    },
    text(text) {
      if (isValue) rows.checkText((value += text));
      else inline.text(text);
    },
    close(name) {
      inline.close(name);
      if (name === "v") isValue = false;
      else if (name === "row") rows.end();
      else if (name === "c") {
        const text = inline.take();
        if (isFormula && value === "" && cell["t"] !== "str")
          throw new TabularError(
            "DATA",
            `cell ${cell["r"] ?? ""} holds a formula without its value: open the workbook in a ` +
              "spreadsheet program and save it",
          );
        rows.put(
          cell["t"] === "inlineStr" ? text : cellValue(value, cell, book),
          cell["r"] === undefined ? undefined : columnOf(cell["r"]),
        );
      }
    },
  };
  for await (const _ of readXml(part.name, part.bytes(), handler)) yield rows.take();
}

function cellValue(
  value: string,
  { t: type = "n", s: style = "0" }: Readonly<Record<string, string>>,
  { texts, forms, is1904 }: Book,
): string {
  switch (type) {
    case "s":
      return texts[Number(value)] ?? "";
    case "str":
      return withControls(value);
    case "b":
      return value === "1" ? "true" : "false";
    case "n": {
      const number = Number(value);
      if (value === "" || !Number.isFinite(number)) return value;
      const form = forms[Number(style)] ?? "number";
      return form === "number" ? String(number) : momentText(number, form, is1904);
    }
    default:
      // An error such as #N/A, or a date.
      return value;
  }
}

const DAY = 86_400_000;

/** Days since the beginning of 1900 or 1904 as a date, a time of day, or both. */
function momentText(serial: number, form: Form, is1904: boolean): string {
  const isClock = form === "clock" || serial < 1;
  const millis = Math.round(serial * DAY);
  const clock = (of: number): string =>
    clockText(of % 1000 === 0 ? BigInt(of / 1000) : BigInt(of), of % 1000 === 0 ? 0 : 3);
  if (isClock) return millis < 0 ? String(serial) : clock(millis);
  // The first format has a 29th of February 1900.
  const shifted = millis + (is1904 ? 1462 : serial < 60 ? 1 : 0) * DAY;
  const days = Math.floor(shifted / DAY);
  const ofDay = shifted - days * DAY;
  const date = dateText(days - 25_569);
  return ofDay === 0 ? date : `${date}T${clock(ofDay)}`;
}
