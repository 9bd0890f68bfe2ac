import { createGunzip } from "node:zlib";
import { Readable } from "node:stream";
import { TabularError } from "../../tabular/limits.js";
import { imageOf } from "./images.js";
import { notebookOf } from "./notebook.js";
import { parquetTable, textTable } from "./table.js";
import { decodedText, type Decoded } from "./text.js";
import { none, type PreviewInput, type ReadPreview } from "./types.js";

/** What a file is, by its first bytes before its name and the type that somebody stated. */
export type Nature =
  "image" | "document" | "parquet" | "gzip" | "archive" | "notebook" | "json" | "table" | "text";

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;
const TABLE_TYPE = /^text\/(?:csv|tab-separated-values|tsv)\b/i;
/** First characters of archives and packed files. */
const PACKED = ["PK\u0003\u0004", "7z\u00bc\u00af", "BZh", "\u00fd7zXZ", "Rar!", "(\u00b5/\u00fd"];

/** Extension in lower case, also of a compressed file. */
export const extensionOf = (name: string): string =>
  /\.([a-z0-9]{1,12})(?:\.gz)?$/i.exec(name)?.[1]!.toLowerCase() ?? "";

/** @param head some hundred bytes, or more */
export function natureOf(head: Buffer, name: string, mediaType: string): Nature {
  const magic = head.toString("latin1", 0, 8);
  if (imageOf(head)) return "image";
  if (magic.startsWith("%PDF-")) return "document";
  if (magic.startsWith("PAR1")) return "parquet";
  if (magic.startsWith("\u001f\u008b")) return "gzip";
  if (PACKED.some((start) => magic.startsWith(start))) return "archive";
  const extension = extensionOf(name);
  if (extension === "ipynb") return "notebook";
  if (["json", "jsonld", "geojson"].includes(extension) || JSON_TYPE.test(mediaType)) return "json";
  if (["csv", "tsv", "tab"].includes(extension) || TABLE_TYPE.test(mediaType)) return "table";
  return "text";
}

/**
 * The preview of a file. Markup is text here: nothing of a file is ever interpreted as HTML or SVG.
 */
export async function readPreview(input: PreviewInput): Promise<ReadPreview> {
  const bytes = Buffer.from(input.bytes.buffer, input.bytes.byteOffset, input.bytes.byteLength);
  const { size, name, mediaType, limits } = input;
  const cut = bytes.length < size;
  const nature = natureOf(bytes, name, mediaType);
  switch (nature) {
    case "image":
      return { form: "image", ...imageOf(bytes)! };
    case "document":
      return { form: "document", mediaType: "application/pdf" };
    case "archive":
      return none("BINARY", "It is an archive or a packed file: download it.");
    case "parquet":
      if (cut)
        return none(
          "TOO_LARGE",
          `Parquet is shown up to ${limits.whole} bytes (PREVIEW_WHOLE_BYTES).`,
        );
      try {
        return await parquetTable(bytes, { ...input, cut });
      } catch (error) {
        if (!(error instanceof TabularError)) throw error;
        return none("DAMAGED", `It cannot be shown: ${error.message}.`);
      }
    case "gzip":
      return readUnpacked(input, bytes, cut);
    default:
      return readText(nature, bytes, cut, input);
  }
}

async function readUnpacked(
  input: PreviewInput,
  bytes: Buffer,
  cut: boolean,
): Promise<ReadPreview> {
  const { text, more } = await unpacked(bytes, input.limits.text);
  const nature = natureOf(text, input.name, input.mediaType);
  if (text.length === 0 || !["notebook", "json", "table", "text"].includes(nature))
    return none("BINARY", "What is packed in it is no text: download it.");
  return readText(nature, text, cut || more, input);
}

/** The first bytes of gzip data; unpacking ends with them, however much is packed. */
async function unpacked(bytes: Buffer, most: number): Promise<{ text: Buffer; more: boolean }> {
  const gunzip = createGunzip({ chunkSize: 64 << 10 });
  const input = Readable.from([bytes]);
  input.pipe(gunzip);
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of gunzip as AsyncIterable<Buffer>) {
      parts.push(part);
      if ((size += part.length) > most) break;
    }
  } catch {
    // Cut short, or damaged: what came before is shown.
    return { text: Buffer.concat(parts).subarray(0, most), more: true };
  } finally {
    input.destroy();
    gunzip.destroy();
  }
  return { text: Buffer.concat(parts).subarray(0, most), more: size > most };
}

async function readText(
  nature: Nature,
  bytes: Buffer,
  cut: boolean,
  input: PreviewInput,
): Promise<ReadPreview> {
  const decoded = decodedText(bytes, cut);
  if (!decoded) return none("BINARY", "It is no text: download it.");
  const { name, mediaType, limits } = input;
  if (nature === "table") {
    const isTabs = /^(?:tsv|tab)$/.test(extensionOf(name)) || /tab-sep/i.test(mediaType);
    return textTable(decoded.text, isTabs ? "\t" : undefined, { ...input, cut });
  }
  if ((nature === "json" || nature === "notebook") && !cut) {
    const json = parsed(decoded.text);
    const notebook = nature === "notebook" ? notebookOf(json, limits) : undefined;
    if (notebook) return notebook;
    const pretty = json === undefined ? undefined : printed(json);
    return shown({ ...decoded, text: pretty ?? decoded.text }, "json", cut, limits.text);
  }
  return shown(decoded, nature === "text" ? extensionOf(name) || "txt" : "json", cut, limits.text);
}

function shown(
  { text, charset }: Decoded,
  language: string,
  cut: boolean,
  most: number,
): ReadPreview {
  return {
    form: "text",
    text: text.slice(0, most).toWellFormed(),
    charset,
    language,
    truncated: cut || text.length > most,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function printed(json: unknown): string | undefined {
  try {
    return JSON.stringify(json, null, 2);
  } catch {
    // Nested deeper than the stack.
    return undefined;
  }
}
