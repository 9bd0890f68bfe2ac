import type { Attribution } from "../../use-cases/records/attribution.js";
import type { Landmarks } from "../../use-cases/records/landmarks.js";
import { addressOf } from "../../web/signposting.js";

/** Kernel elements are one line each: ANVL has no other way to hold a line break or a `|`. */
const line = (value: string): string => value.replace(/\s+/g, " ").replaceAll("|", "%7C").trim();

/**
 * Description and commitment of a record in ANVL, as the `?info` inflection of an ARK asks for them
 * (draft-kunze-ark, section 5; kernel elements who, what, when, where).
 */
export function kernelMetadata(baseUrl: string, { record, name }: Landmarks, { authors, when }: Attribution): string {
  const who = authors.map((author) => author.name ?? author.id).join("; ");
  const where = addressOf(baseUrl, record.ark);
  return [
    "erc:",
    `who: ${who ? line(who) : "(:unkn)"}`,
    `what: ${name ? line(name) : "(:unkn)"}`,
    `when: ${line(when)}`,
    `where: ${where}`,
    "",
    "erc-support:",
    `who: the registry at ${baseUrl}`,
    "what: the identifier is kept and never given to another object; the metadata may change, with its history; a deleted object leaves a tombstone",
    `when: ${new Date(record.modifiedAt).toISOString().slice(0, 10)}`,
    `where: ${where}`,
    "",
  ].join("\n");
}
