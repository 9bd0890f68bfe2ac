import { type Ark, arkKey, LONGEST_ARK, parseArk } from "./ark.js";

/**
 * Names that stand behind an identifier in a path and mean an operation on it. Identifiers know no
 * routes: a test compares the list with the contract.
 */
export const OPERATION_NAMES: readonly string[] = [
  "addUser",
  "download",
  "history",
  "rescore",
  "rmUser",
  "upload",
  "validate",
];

/**
 * Controls, marks that change the direction of text, and all invisible characters: two identifiers
 * that differ in these look alike.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
/** The same and blanks, which a percent-encoded identifier may hold: there they are seen. */
const HIDDEN_OR_BLANK = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Z}]/u;
const DASHES = /[-\u2010-\u2015]/;
const OPERATIONS: ReadonlySet<string> = new Set(OPERATION_NAMES.map((name) => arkKey(name)));

/**
 * The identifier of a new record, or what stands against it, in one sentence. Identifiers that are
 * stored already stay as they are: this is asked for those that are to be registered only.
 */
export function claimableArk(text: string): Ark | string {
  if (text.length > LONGEST_ARK)
    return `the identifier has more than ${LONGEST_ARK} characters; choose a shorter one`;
  const hidden = HIDDEN_OR_BLANK.exec(text) ?? HIDDEN.exec(decodedEscapes(text));
  if (hidden)
    return (
      `the identifier holds ${named(hidden[0])}, which is invisible or changes the order of ` +
      "text; leave it out"
    );
  const ark = parseArk(text);
  if (!ark) return "not an ARK; for example ark:99999/dataset-example";
  if (ark.naan.startsWith("0"))
    return (
      `the authority ${ark.naan} begins with a zero, and looks like another one; write the ` +
      `NAAN as it was assigned, for example ${ark.naan.replace(/^0+/, "").padEnd(5, "9")}`
    );
  if (
    (ark.name.match(/(?:%[0-9A-F]{2})+/g) ?? []).some((escapes) =>
      DASHES.test(decodedEscapes(escapes)),
    )
  )
    return (
      "the identifier holds a percent-encoded hyphen; write it as -, which makes no " +
      "difference between identifiers"
    );
  if (isOperation(ark.key))
    return (
      "the last part of the identifier is the name of an operation " +
      `(${OPERATION_NAMES.join(", ")}); choose another one`
    );
  return ark;
}

/**
 * True for the key of an identifier whose last part would be taken for an operation on the record
 * above it.
 */
export function isOperation(key: string): boolean {
  return OPERATIONS.has(key.slice(key.lastIndexOf("/") + 1));
}

/**
 * Keys of all that an identifier lies below, the nearest first: `ark:99999/a/b` and `ark:99999/a`
 * for `ark:99999/a/b/c`.
 */
export function keysAbove(key: string): string[] {
  const above: string[] = [];
  const first = key.indexOf("/");
  for (let slash = key.lastIndexOf("/"); slash > first; slash = key.lastIndexOf("/", slash - 1))
    above.push(key.slice(0, slash));
  return above;
}

/** `U+202E`: a message that holds the character itself would have the effect that it warns of. */
const named = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;

/** Escapes that are no text stay as they are, each run of them by itself. */
function decodedEscapes(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}
