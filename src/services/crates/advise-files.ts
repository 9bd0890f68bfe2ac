/** Advice on what metadata states of files and agents, beyond the requirements of RO-Crate. */
import { parseArk } from "../../identifiers/ark.js";
import { bareId } from "../../identifiers/entity-ids.js";
import { hasName, isIdentifier } from "../../model/agent-names.js";
import type { JsonValue } from "../../model/field.js";
import { isObject, listOf } from "../../model/field.js";
import { DIGESTS, type DigestName, digestIn, isFormat, isSize } from "../../model/file-facts.js";
import { step } from "../../model/json/pointer.js";
import { typeNames } from "../../model/kind.js";
import { textOf } from "../../model/texts.js";
import { type Findings, type Place, quoted } from "./findings.js";
import { type CrateDescription } from "./layout.js";

/** Warns of a digest that is none, or is written with the name of its algorithm. */
export function adviseOnDigest(
  findings: Findings,
  name: DigestName,
  value: JsonValue,
  place: Place,
): void {
  const text = textOf(value);
  const hex = digestIn(name, value);
  if (hex !== undefined && text?.length === hex.length) return;
  const shown = quoted(text ?? JSON.stringify(value)).slice(0, 100);
  findings.warn(
    "DIGEST_INVALID",
    hex === undefined
      ? `The ${name} ${JSON.stringify(shown)} is not one digest of ${DIGESTS[name]} hexadecimal ` +
          "digits, so no format repeats it; state the digest of the file, or leave it out."
      : `The ${name} ${JSON.stringify(shown)} has the name of its algorithm before it; write the ` +
          "hexadecimal digits alone.",
    place,
  );
}

/** Warns of digests, sizes and formats of files that are none. */
export function adviseOnFiles(
  { file, context, entities }: CrateDescription,
  findings: Findings,
): void {
  for (const { value, pointer, descriptor } of entities) {
    if (descriptor) continue;
    const types = typeNames(value, context, value["@context"]);
    if (!types.some((type) => type === "File" || type === "MediaObject")) continue;
    for (const [key, stated] of Object.entries(value)) {
      const name = key.slice(key.lastIndexOf(":") + 1);
      const place = { file, pointer: pointer + step(key) };
      if (stated === null || stated === "") continue;
      if (Object.hasOwn(DIGESTS, name)) adviseOnDigest(findings, name as DigestName, stated, place);
      if (name === "contentSize" && !listOf(stated).some((one) => isSize(textOf(one) ?? "")))
        findings.warn(
          "SIZE_INVALID",
          `The contentSize ${JSON.stringify(quoted(textOf(stated) ?? JSON.stringify(stated)))} is ` +
            "not a size; write the number of bytes.",
          place,
        );
      if (name === "encodingFormat" || name === "fileFormat") {
        const texts = listOf(stated).filter((one) => typeof one === "string");
        const wrong = texts.find((text) => !isFormat(text));
        if (wrong !== undefined)
          findings.warn(
            "FORMAT_INVALID",
            `The ${name} ${JSON.stringify(quoted(wrong))} is neither a media type nor the name or ` +
              "address of a format; write one such as text/csv.",
            place,
          );
      }
    }
  }
}

const AUTHORS = ["author", "creator"] as const;

/**
 * Warns of authors without a name: they are left out of citations and of all other formats. An
 * author under an ARK may have a name elsewhere.
 */
export function adviseOnAuthors({ file, entities }: CrateDescription, findings: Findings): void {
  // Most crates are long lists of files, of which none has an author.
  if (!entities.some(({ value }) => AUTHORS.some((name) => Object.hasOwn(value, name)))) return;
  const described = new Map(entities.map(({ id, value }) => [bareId(id), value]));
  /** Whether a reference or a text names somebody, by its text. */
  const named = new Map<string, boolean>();
  const isNamed = (id: string, isReference: boolean): boolean => {
    const known = described.get(bareId(id));
    if (known !== undefined) return hasName(known);
    return isReference || isIdentifier(id) ? parseArk(id) !== undefined : true;
  };
  for (const { value, pointer, descriptor } of entities) {
    if (descriptor) continue;
    for (const name of AUTHORS)
      for (const [index, stated] of listOf(value[name]).entries()) {
        if (isObject(stated) && hasName(stated)) continue;
        const id = isObject(stated) ? stated["@id"] : stated;
        if (typeof id !== "string" || id === "" || named.has(id)) continue;
        named.set(id, isNamed(id, isObject(stated)));
        if (named.get(id)) continue;
        findings.warn(
          "AUTHOR_UNNAMED",
          `The ${name} ${JSON.stringify(quoted(id))} has no name, so it is left out of citations; ` +
            "describe it in @graph with a name.",
          { file, pointer: pointer + step(name) + (Array.isArray(value[name]) ? step(index) : "") },
        );
      }
  }
}
