/** Workbooks and archives as small as their formats allow. */
import { buffer } from "node:stream/consumers";
import yazl from "yazl";

/** A zip archive of texts, by name. */
export function zipOf(members: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  for (const [name, content] of Object.entries(members)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  return buffer(zip.outputStream);
}

const RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const relations = (targets: readonly (readonly [type: string, target: string])[]): string =>
  `<Relationships>${targets
    .map(
      ([type, target], at) =>
        `<Relationship Id="rId${at + 1}" Type="${RELATIONS}/${type}" Target="${target}"/>`,
    )
    .join("")}</Relationships>`;

/**
 * A workbook.
 * @param sheets the rows of each sheet, as XML
 */
export function xlsxOf(
  sheets: Readonly<Record<string, string>>,
  { texts = "", styles = "", properties = "" } = {},
): Promise<Buffer> {
  const names = Object.keys(sheets);
  return zipOf({
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": relations([["officeDocument", "/xl/workbook.xml"]]),
    "xl/workbook.xml": `<workbook xmlns:r="${RELATIONS}">${properties}<sheets>${names
      .map((name, at) => `<sheet name="${name}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`)
      .join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations([
      ...names.map((_, at) => ["worksheet", `worksheets/sheet${at + 1}.xml`] as const),
      ["sharedStrings", "sharedStrings.xml"],
      ["styles", "styles.xml"],
    ]),
    "xl/sharedStrings.xml": `<sst>${texts}</sst>`,
    "xl/styles.xml": `<styleSheet>${styles}</styleSheet>`,
    ...Object.fromEntries(
      Object.values(sheets).map((rows, at) => [
        `xl/worksheets/sheet${at + 1}.xml`,
        `<?xml version="1.0"?><worksheet><sheetData>${rows}</sheetData></worksheet>`,
      ]),
    ),
  });
}

/** A workbook in OpenDocument. @param tables as XML */
export const odsOf = (tables: string): Promise<Buffer> =>
  zipOf({
    mimetype: "application/vnd.oasis.opendocument.spreadsheet",
    "content.xml":
      `<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><office:body>` +
      `<office:spreadsheet>${tables}</office:spreadsheet></office:body></office:document-content>`,
  });
