/** Input and payload types of mutations: each is made from a table of its fields. */
import "reflect-metadata";
import { Field, ID, InputType, Int, ObjectType } from "type-graphql";
import { nodeOf, type RecordNode } from "./records.js";
import type { StoredRecord } from "../../../storage/records/port.js";

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
export const idOf = (about = ANY_ID): Member<string> => required<string>(ID, about);

/** The payload of a mutation that writes one record: the record, under a name, and its revision. */
export function recordPayload(mutation: string, name: string, type: unknown): new () => object {
  return payloadOf(mutation, {
    [name]: required<RecordNode>(type, "The record after the change."),
    revision: required<number>(Int, "Its revision; pass it as expectedRevision."),
  });
}

/** The value of a {@link recordPayload}. */
export const writtenAs = (name: string, record: StoredRecord): object => ({
  [name]: nodeOf(record),
  revision: record.revision,
});

/** `evidenceGraph`, `roCrate`, `mlModel`: a type's name as that of a field. */
export const nounOf = (typeName: string): string =>
  typeName.replace(/^(?:RO|ML|[A-Z])/, (first) => first.toLowerCase());

/** What all withdrawals state. */
export const withdrawal = (when: string) => ({
  reason: optional<string>(String, `Why; public.${when}`),
  successor: optional<string>(ID, `Record to use in place of it.${when}`),
});
