import { randomInt } from "node:crypto";

/**
 * Archival Resource Keys, after draft-kunze-ark: `[https://NMA/]ark:[/]NAAN/Name[Qualifiers]`. The
 * contract's pattern `ark[0-9]{5}/.*` has no colon; an identifier that is spelled so is read too.
 *
 * A text is parsed once, where it enters; from there on services and stores take this value. An
 * identifier has two forms. The *stored form* is what records carry: label `ark:`, resolver prefix
 * off, NAAN in lower case, `%xx` in upper case, no trailing `/` or `.`; hyphens and the case of
 * letters stay. The *key* is what identity is decided by: stored form without hyphens
 * (identity-inert by the standard), doubled structural characters collapsed, percent-decoded.
 */
export class Ark {
  /** `ark:<naan>/<name>`. */
  readonly stored: string;
  #key: string | undefined;

  /**
   * @param naan Name Assigning Authority Number, lower case
   * @param name all after the NAAN's slash, e.g. `crate/data/a.csv`
   */
  constructor(
    readonly naan: string,
    readonly name: string,
  ) {
    this.stored = `ark:${naan}/${name}`;
  }

  /** Worked out when it is first asked for. */
  get key(): string {
    return (this.#key ??= arkKey(this.stored));
  }
}

/**
 * Characters of the longest text that is read as an ARK. The draft asks for 255 at least; the
 * longest path in an archive, percent-encoded below its crate's identifier, fits. Folding and
 * comparing megabytes would hold up others.
 */
const MAX_ARK_CHARS = 4_096;
/** Betanumeric: digits and consonants without `l`, the NAAN alphabet of the standard. */
const NAAN = /^[0-9bcdfghjkmnpqrstvwxz]{5,32}$/;
const LABEL = /^(?:(?:https?:\/\/[^/?#]+\/(?:[^?#]*\/)?)?ark:\/?|ark(?=[0-9]{5,}\/))/i;
/**
 * The same for a text that may be something else as well: `ark12345/a.csv` is a path in a crate.
 */
const CERTAIN_LABEL = /^(?:https?:\/\/[^/?#]+\/(?:[^?#]*\/)?)?ark:/i;
/**
 * Characters that may not stand in an identifier: those that an IRI refuses (RFC 3987), brackets,
 * and `%` that begins no escape.
 */
// eslint-disable-next-line no-control-regex
const REFUSED = new RegExp(
  '[\\u0000-\\u0020\\u007f-\\u00a0<>"{}|\\\\^`[\\]\\u2028\\u2029\\ud800-\\udfff\\ue000-\\uf8ff\\ufdd0-' +
    String.raw`\ufdef\ufff0-\uffff]|[\u{1fffe}\u{1ffff}\u{2fffe}\u{2ffff}\u{3fffe}\u{3ffff}\u{4fffe}` +
    String.raw`\u{4ffff}\u{5fffe}\u{5ffff}\u{6fffe}\u{6ffff}\u{7fffe}\u{7ffff}\u{8fffe}\u{8ffff}` +
    String.raw`\u{9fffe}\u{9ffff}\u{afffe}\u{affff}\u{bfffe}\u{bffff}\u{cfffe}\u{cffff}\u{dfffe}` +
    String.raw`\u{dffff}\u{e0000}-\u{10ffff}]|%(?![0-9A-Fa-f]{2})`,
  "u",
);

/**
 * Reads any accepted spelling of an ARK; anything else gives `undefined`. A query (`?info`) or
 * fragment is not part of the identifier and must be removed before: `#` and `?` refuse.
 */
export function parseArk(text: string): Ark | undefined {
  if (text.length > MAX_ARK_CHARS) return undefined;
  const label = LABEL.exec(text);
  if (!label) return undefined;
  const rest = text.slice(label[0].length);
  const slash = rest.indexOf("/");
  if (slash < 1) return undefined;
  const naan = rest.slice(0, slash).toLowerCase();
  if (!NAAN.test(naan)) return undefined;
  let name = rest.slice(slash + 1);
  if (name.includes("%")) name = name.replace(/%[0-9a-fA-F]{2}/g, (hex) => hex.toUpperCase());
  let end = name.length;
  while (end > 0 && (name[end - 1] === "/" || name[end - 1] === ".")) end--;
  name = name.slice(0, end);
  if (name === "" || /[?#]/.test(name) || REFUSED.test(name)) return undefined;
  return new Ark(naan, name);
}

/**
 * The ARK that a field of the contract's ARK type refers to: any accepted spelling, and what the
 * published pattern `ark:?/?[0-9]{5,}/.*` finds inside a text (the label without its colon, a
 * resolver's URL).
 */
export function referencedArk(text: string): Ark | undefined {
  if (text.length > MAX_ARK_CHARS) return undefined;
  const whole = parseArk(text);
  if (whole) return whole;
  const at = text.search(/ark:?\/?[0-9]{5,}\//i);
  return at < 0 ? undefined : parseArk(text.slice(at).replace(/^ark:?\/?/i, "ark:"));
}

/**
 * The draft's comparison form (its nine normalization steps): hyphens and look-alikes removed,
 * doubled structural characters collapsed to the first of them.
 */
export function normalizeArk(text: string): string | undefined {
  const query = text.search(/[?#]/);
  const parsed = parseArk(
    (query < 0 ? text : text.slice(0, query)).replace(/[\u2010-\u2015]/g, ""),
  );
  if (!parsed) return undefined;
  const name = collapse(parsed.name.replaceAll("-", ""));
  return name === "" ? undefined : `ark:${parsed.naan}/${name}`;
}

/** Structural characters in a row count as the first of them; leading and trailing ones as none. */
function collapse(name: string): string {
  return name.replace(/([/.])[/.]+/g, "$1").replace(/^[/.]+|[/.]+$/g, "");
}

/**
 * Key of a stored form: equal keys mean one identity. Total: escapes that cannot be decoded stay
 * unchanged.
 */
export function arkKey(stored: string): string {
  const name = stored.replace(/[-\u2010-\u2015]+/g, "");
  if (!/^[/.]|[/.][/.]|[/.]$|%/.test(name)) return name;
  const slash = name.indexOf("/");
  const head = name.slice(0, slash + 1);
  const tail = collapse(name.slice(slash + 1));
  if (!tail.includes("%")) return head + tail;
  const decoded = decodedText(tail);
  // NUL is a character that no text store holds: an identifier that spells it stays spelled.
  return head + (decoded.includes("\0") ? tail : decoded);
}

/** Whether two stored forms are one identity. */
export function sameArk(one: string, other: string): boolean {
  return one === other || arkKey(one) === arkKey(other);
}

/**
 * A stored form as the path of a URL. An identifier as it is written wins over what its escapes
 * spell; they are escaped only where they spell no text (`%FF`), which no path may hold.
 */
export function arkInPath(stored: string): string {
  return stored.includes("%") && decodedText(stored) === stored
    ? stored.replaceAll("%", "%25")
    : stored;
}

/** As it is when its escapes spell no text. */
function decodedText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The ARK to look up for a path or a reference that was percent-decoded already: as
 * {@link parseArk}, but characters that a stored form holds encoded (a space) are let through,
 * since the key is compared decoded.
 */
export function lookupArk(text: string): Ark | undefined {
  if (text.length > MAX_ARK_CHARS) return undefined;
  const label = LABEL.exec(text);
  if (!label || text.includes("\0") || !text.isWellFormed()) return undefined;
  const rest = text.slice(label[0].length);
  const slash = rest.indexOf("/");
  const naan = rest.slice(0, Math.max(slash, 0)).toLowerCase();
  const name = rest
    .slice(slash + 1)
    .replace(/%[0-9a-fA-F]{2}/g, (hex) => hex.toUpperCase())
    .replace(/[/.]+$/, "");
  return NAAN.test(naan) && name !== "" ? new Ark(naan, name) : undefined;
}

/**
 * True for `ark:` in any case: of a text that may be something else as well, a relative path for
 * example.
 */
export function looksLikeArk(text: string): boolean {
  return CERTAIN_LABEL.test(text);
}

/** Digits and consonants without `l`: no character that could spell words or be misread. */
const BETANUMERIC = "0123456789bcdfghjkmnpqrstvwxz";
const RANDOM_LENGTH = 9;
const SLUG_LENGTH = 48;

/** Lower-case ASCII words of a text with hyphens between, at most 48 characters; may be empty. */
export function slug(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_LENGTH)
    .replace(/^-+|-+$/g, "");
}

/**
 * NOID check character of an identifier (noid, section "check digit"): position-weighted sum of
 * ordinals modulo 29.
 */
export function checkCharacter(identifier: string): string {
  let sum = 0;
  for (let position = 0; position < identifier.length; position++)
    sum += (position + 1) * Math.max(0, BETANUMERIC.indexOf(identifier.charAt(position)));
  return BETANUMERIC.charAt(sum % BETANUMERIC.length);
}

/** A new identifier `ark:<naan>/<kind>-<slug of the name>-<random with check character>`. */
export function mintArk(naan: string, kind: string, name: string | null): Ark {
  const words = name === null ? "" : slug(name);
  let random = "";
  for (let index = 0; index < RANDOM_LENGTH; index++)
    random += BETANUMERIC[randomInt(BETANUMERIC.length)];
  const body = `${kind}-${words === "" ? "" : `${words}-`}${random}`;
  return new Ark(naan, body + checkCharacter(`${naan}/${body}`));
}

/** Whether {@link mintArk} made an identifier of this kind: by its form and its check character. */
export function isMinted(ark: string, kind: string): boolean {
  const [, body, check] = /^ark:(.+)(.)$/.exec(ark) ?? [];
  return (
    body !== undefined &&
    body.slice(body.indexOf("/") + 1).startsWith(`${kind}-`) &&
    new RegExp(`-[${BETANUMERIC}]{${RANDOM_LENGTH}}$`).test(body) &&
    checkCharacter(body) === check
  );
}

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
  if (text.length > MAX_ARK_CHARS)
    return `the identifier has more than ${MAX_ARK_CHARS} characters; choose a shorter one`;
  const hidden = HIDDEN_OR_BLANK.exec(text) ?? HIDDEN.exec(decodedEscapes(text));
  if (hidden)
    return (
      `the identifier holds ${codePointName(hidden[0])}, which is invisible or changes the order of ` +
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
export const codePointName = (character: string): string =>
  `U+${Number(character.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0")}`;

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
