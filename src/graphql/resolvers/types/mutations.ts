/** Input and payload types of mutations: each is made from a table of its fields. */
import "reflect-metadata";
import { Field, ID, InputType, Int, ObjectType } from "type-graphql";
import { describedEnum, nodeOf, type RecordNode, VisibilityEnum } from "./records.js";
import type { Visibility } from "../../../services/access/visibility.js";
import { type Warning, type WarningCode, warningsOf } from "../../../services/records/warnings.js";
import type { StoredRecord } from "../../../storage/records/port.js";
import type { Context } from "../context.js";

/** A field of an input or a payload. `T` is the type of its value. */
interface Member<T> {
  readonly type: unknown;
  readonly about: string;
  readonly nullable: boolean;
  readonly defaultValue?: T;
}

export const required = <T>(type: unknown, about: string): Member<T> => ({
  type,
  about,
  nullable: false,
});
export const optional = <T>(type: unknown, about: string): Member<T | null | undefined> => ({
  type,
  about,
  nullable: true,
});
export const withDefault = <T>(type: unknown, about: string, defaultValue: T): Member<T> => ({
  type,
  about,
  nullable: false,
  defaultValue,
});

type Members = Readonly<Record<string, Member<unknown>>>;
type ValuesOf<M extends Members> = {
  [Name in keyof M]: M[Name] extends Member<infer T> ? T : never;
};
type ClassOf<M extends Members> = new () => ValuesOf<M>;

function withMembers<M extends Members>(name: string, members: M): ClassOf<M> {
  const type = class {};
  Object.defineProperty(type, "name", { value: name });
  for (const [field, { type: of, about, nullable, defaultValue }] of Object.entries(members))
    Field((() => of) as never, { nullable, description: about, defaultValue })(
      type.prototype,
      field,
    );
  return type as ClassOf<M>;
}

export function inputType<M extends Members>(
  name: string,
  description: string,
  members: M,
): ClassOf<M> {
  const type = withMembers(name, members);
  InputType(name, { description })(type);
  return type;
}

/** Names of input types of which exactly one member is given. */
export const ONE_OF = new Set<string>();

/** An input of which exactly one member is given; the schema marks it (`@oneOf`). */
export function oneOf<M extends Members>(
  name: string,
  description: string,
  members: M,
): ClassOf<M> {
  ONE_OF.add(name);
  return inputType(name, description, members);
}

/** The type of the argument `input` of a mutation. */
export const inputOf = <M extends Members>(mutation: string, members: M): ClassOf<M> =>
  inputType(`${capital(mutation)}Input`, `Input of ${mutation}.`, members);

/** The type that a mutation returns. */
export function payloadOf<M extends Members>(mutation: string, members: M): ClassOf<M> {
  const type = withMembers(`${capital(mutation)}Payload`, members);
  ObjectType(type.name, { description: `Result of ${mutation}.`, simpleResolvers: true })(type);
  return type;
}

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const ANY_ID = "Identifier, in any accepted spelling.";
/** Which state of the record the client knows. */
export const expectedRevision = optional<number>(Int, "Refused when the record has changed since.");
export const visibility = optional<Visibility>(
  VisibilityEnum,
  "Who sees it until it is published; else DEFAULT_VISIBILITY decides.",
);
export const idOf = (about = ANY_ID): Member<string> => required<string>(ID, about);

/** What the payload of every mutation of one record has: the record, under a name, its revision. */
const recordMembers = (name: string, type: unknown) => ({
  [name]: required<RecordNode>(type, "The record after the change."),
  revision: required<number>(Int, "Its revision; pass it as expectedRevision."),
});

/** The payload of a mutation of one record that states nothing in its document. */
export const recordPayload = (mutation: string, name: string, type: unknown): new () => object =>
  payloadOf(mutation, recordMembers(name, type));

const WarningCodeEnum = describedEnum<WarningCode>("WarningCode", "What a warning is about.", {
  REFERENCE_NOWHERE: ["REFERENCE_NOWHERE", "No record has the identifier of a reference."],
  REFERENCE_DELETED: ["REFERENCE_DELETED", "A reference leads to a deleted record."],
  LICENSE_UNKNOWN: ["LICENSE_UNKNOWN", "The license is neither a URL nor of SPDX."],
  DATE_INVALID: ["DATE_INVALID", "A date is stated as text that is none."],
});

@ObjectType("Warning", {
  description: "What should be looked at in a record, although it is stored.",
  simpleResolvers: true,
})
class WarningType implements Warning {
  @Field(() => WarningCodeEnum as object, { description: "Stable." }) code!: WarningCode;
  @Field({ description: "What is wrong, and what to do." }) message!: string;
  @Field(() => String, {
    nullable: true,
    description: "JSON pointer in the record's document; null where it is elsewhere.",
  })
  pointer!: string | null;
}

/** The payload of a mutation that states a record's document. */
export const statedPayload = (mutation: string, name: string, type: unknown): new () => object =>
  payloadOf(mutation, {
    ...recordMembers(name, type),
    warnings: required<Warning[]>([WarningType], "What should be looked at in it."),
  });

/** The value of a {@link recordPayload} or a {@link statedPayload}. */
export const writtenAs = (
  name: string,
  record: StoredRecord,
  { deps, budget }: Context,
): object => ({
  [name]: nodeOf(record),
  revision: record.revision,
  warnings: () => budget.queued(() => warningsOf(deps, record)),
});

/** `evidenceGraph`, `roCrate`, `mlModel`: a type's name as that of a field. */
export const nounOf = (typeName: string): string =>
  typeName.replace(/^(?:RO|ML|[A-Z])/, (first) => first.toLowerCase());

/** What all withdrawals state. */
export const withdrawal = (when: string) => ({
  reason: optional<string>(String, `Why; public.${when}`),
  successor: optional<string>(ID, `Record to use in place of it.${when}`),
});
