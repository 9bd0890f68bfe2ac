import { isUtf8 } from "node:buffer";
import yauzl, { type Entry } from "yauzl";
import { invisibleIn, visible } from "../visible.js";

/** Name of a member, or why it has none that can be used. The archive's own folder (`./`) has an empty one. */
export type NamedMember = { name: string; folder: boolean } | { refused: string; /** What it says; bytes that are no text as Latin-1. */ raw: string };

const UTF8_FLAG = 0x800;

/**
 * Decodes and checks a member's name. Without the UTF-8 flag the standard says code page 437; archives made on
 * macOS hold UTF-8 all the same, so bytes that are UTF-8 are read as such.
 */
export function memberName(entry: Entry): NamedMember {
  const raw = entry.fileNameRaw;
  const text = isUtf8(raw);
  if (!text && (entry.generalPurposeBitFlag & UTF8_FLAG) !== 0) return { refused: "is not UTF-8 although the archive says so", raw: raw.toString("latin1") };
  const full = yauzl.getFileNameLowLevel(entry.generalPurposeBitFlag | (text ? UTF8_FLAG : 0), raw, entry.extraFields, true);
  const refused = refusal(full);
  // A name that is text is shown as text.
  if (refused) return { refused, raw: text ? full : raw.toString("latin1") };
  const parts = full.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length === 0 && !/^\.\/+$/.test(full) ? { refused: "is empty", raw: raw.toString("latin1") } : { name: parts.join("/"), folder: full.endsWith("/") };
}

function refusal(name: string): string | undefined {
  if (name.includes("\0")) return "holds NUL";
  const invisible = invisibleIn(name);
  if (invisible !== undefined) return `holds the control or bidirectional character ${invisible}, which hides what it is`;
  if (name.includes("\\")) return "holds a backslash";
  if (name.startsWith("/")) return "is absolute";
  if (/^[a-zA-Z]:/.test(name)) return "begins with a drive letter";
  if (name.split("/").includes("..")) return "leads out of the archive (..)";
  return undefined;
}

/** Equal for names that a common file system takes for one: Unicode NFC and full case folding. */
export function foldName(name: string): string {
  return name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

/** Names are shown in findings; a hostile one must not fill the screen. */
export const shown = (name: string): string => JSON.stringify(visible(name.length > 120 ? `${name.slice(0, 120)}…` : name));
