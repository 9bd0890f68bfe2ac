import { randomInt } from "node:crypto";

/** Digits and consonants without `l`: nothing that spells words or is misread. */
const BETANUMERIC = "0123456789bcdfghjkmnpqrstvwxz";
const RANDOM_LENGTH = 9;
const SLUG_LENGTH = 48;

/** Lower-case ASCII words of a text with hyphens between, at most 48 characters; may be empty. */
export function slug(text: string): string {
  return text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, SLUG_LENGTH).replace(/^-+|-+$/g, "");
}

/** NOID check character of an identifier (noid, section "check digit"): position-weighted sum of ordinals modulo 29. */
export function checkCharacter(identifier: string): string {
  let sum = 0;
  for (let position = 0; position < identifier.length; position++) sum += (position + 1) * Math.max(0, BETANUMERIC.indexOf(identifier[position]!));
  return BETANUMERIC[sum % BETANUMERIC.length]!;
}

/** A new identifier `ark:<naan>/<kind>-<slug of the name>-<random with check character>`. */
export function mintArk(naan: string, kind: string, name: string | null): string {
  const words = name === null ? "" : slug(name);
  let random = "";
  for (let index = 0; index < RANDOM_LENGTH; index++) random += BETANUMERIC[randomInt(BETANUMERIC.length)];
  const body = `${naan}/${kind}-${words === "" ? "" : `${words}-`}${random}`;
  return `ark:${body}${checkCharacter(body)}`;
}

/** Whether {@link mintArk} made an identifier of this kind: by its form and its check character. */
export function isMinted(ark: string, kind: string): boolean {
  const match = /^ark:(.+)(.)$/.exec(ark);
  if (!match || !match[1]!.slice(match[1]!.indexOf("/") + 1).startsWith(`${kind}-`)) return false;
  return new RegExp(`-[${BETANUMERIC}]{${RANDOM_LENGTH}}$`).test(match[1]!) && checkCharacter(match[1]!) === match[2];
}
