import type { JsonValue } from "../../model/field.js";
import { isObject, listOf } from "../../model/field.js";
import { type CrateFacts, MAX_EVIDENCE, type Share } from "./facts/fields.js";

export type Status = "met" | "partly" | "not_met" | "not_applicable";

/** Result of one criterion for the facts of a crate. */
export interface Finding {
  status: Status;
  /** For people: the facts that were found. */
  details: string;
  /** Places in records that decided the result. */
  evidence: readonly string[];
  /** Replaces the criterion's own fix, where a more precise one is known. */
  fix?: string;
}

/** One criterion, as a row of the table of its category. */
export interface Criterion {
  /** The facts that are tested, for the documentation. */
  readonly tests: string;
  /** The rule of older registries, for the documentation. */
  readonly old: string;
  /** The result of that rule. */
  readonly legacy: (facts: CrateFacts) => boolean;
  readonly evaluate: (facts: CrateFacts) => Finding;
  /** One sentence: which field to add, and where. */
  readonly fix: string;
}
/** By name, in the order of the answer. */
export type Criteria = Readonly<Record<string, Criterion>>;

export const always = (): boolean => true;

/** Status of a share: all, some, none; `without` if there is nothing to count. */
export function statusOf({ good, total }: Share, without: Status = "not_applicable"): Status {
  return total === 0 ? without : good === total ? "met" : good > 0 ? "partly" : "not_met";
}

/**
 * Met if all are met, not met if none is, partly otherwise; a status that is not applicable does
 * not count.
 */
export function together(...statuses: readonly Status[]): Status {
  const counted = statuses.filter((status) => status !== "not_applicable");
  if (counted.length === 0) return "not_applicable";
  return counted.every((status) => status === "met")
    ? "met"
    : counted.every((status) => status === "not_met")
      ? "not_met"
      : "partly";
}

/** Places of several shares: where something is missing, or where nothing is, all of them. */
export function evidenceOf(...shares: readonly Share[]): string[] {
  const lacking = shares.flatMap((share) => share.lacking);
  const places = lacking.length > 0 ? lacking : shares.flatMap(({ having }) => having);
  return [...new Set(places)].slice(0, MAX_EVIDENCE);
}

/** `2 of 3 files have a format`; `no files are described` where there are none. */
export function shareText({ good, total }: Share, things: string, have: string): string {
  return total === 0 ? `no ${things} are described` : `${good} of ${total} ${things} ${have}`;
}

/** A sentence of such phrases. */
export const sentence = (...parts: readonly string[]): string => {
  const text = parts.join("; ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
};

/** One share decides. */
export function byShare(
  share: (facts: CrateFacts) => Share,
  things: string,
  have: string,
  without?: Status,
): Criterion["evaluate"] {
  return (facts) => {
    const found = share(facts);
    return {
      status: statusOf(found, without),
      details: sentence(shareText(found, things, have)),
      evidence: found.total > 0 ? found.evidence : [whole(facts)],
    };
  };
}

/** The root has one of these fields, or `additionalProperty` of one of these names. */
export function byField(...names: readonly string[]): Criterion["evaluate"] {
  return ({ root: { fields } }) => {
    const field = fields.first(...names);
    if (field)
      return {
        status: "met",
        details: `${names.find((name) => fields.has(name))}: ${shown(field.value)}`,
        evidence: [field.place],
      };
    const words = names.filter((name) => !name.includes(" "));
    return {
      status: "not_met",
      details:
        words.length === 1
          ? `The root states no ${words[0]}.`
          : `The root states none of ${words.join(", ")}.`,
      evidence: [`${fields.ark}#`],
    };
  };
}

/** As in older registries: any value counts. */
export const hasField =
  (...names: readonly string[]) =>
  ({ root: { fields } }: CrateFacts): boolean =>
    fields.states(...names);

/** The root as a whole. */
export const whole = ({ root: { fields } }: CrateFacts): string => `${fields.ark}#`;

/** Longest text of a record that an answer repeats, in characters. */
const SHOWN = 120;

/** The first text of a value, truncated. */
export function shown(value: JsonValue): string {
  const [first] = listOf(value);
  const text = isObject(first)
    ? ([first["name"], first["@value"], first["@id"], first["description"]].find(
        (each) => typeof each === "string",
      ) ?? JSON.stringify(first))
    : Array.isArray(first)
      ? JSON.stringify(first)
      : String(first);
  const points = Array.from(text.slice(0, 4 * SHOWN).toWellFormed());
  return points.length > SHOWN ? `${points.slice(0, SHOWN).join("")}…` : points.join("");
}
