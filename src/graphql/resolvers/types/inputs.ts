/** Input types: filters and orders of lists, and the documents of each kind. */
import { finished } from "node:stream/promises";
import { GraphQLJSON } from "graphql-scalars";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import { ArgsType, Field, ID, InputType, Int, registerEnumType } from "type-graphql";
import { invalid, ValidationError } from "../../../errors.js";
import { RELATIONS } from "../../../model/connections.js";
import {
  type Field as ModelField,
  isObject,
  type JsonObject,
  type JsonValue,
} from "../../../model/field.js";
import type { Kind, KindName } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds.js";
import { badStringItem, findBadString } from "../../../model/strings.js";
import type { IncomingFile } from "../../../services/records/stored-content.js";
import type {
  RecordFilterInput,
  SelectionRange,
  TextFilter,
} from "../../../services/records/select.js";
import { type ListChange, oneOrMany, type RecordPatch } from "../../../services/records/patch.js";
import type { RecordOrder } from "../../../storage/records/port/selection.js";
import { checkedPage, PageArguments, USUAL_PAGE } from "./pages.js";
import { inputType, oneOf, optional, required } from "./mutations.js";
import { PublicationStatusEnum, RecordKindEnum } from "./records.js";
import { DateTime } from "./scalars.js";

enum RecordOrderField {
  CREATED = "created",
  MODIFIED = "modified",
  PUBLISHED = "published",
  NAME = "name",
  SIZE = "size",
  SCORE = "score",
}
registerEnumType(RecordOrderField, {
  name: "RecordOrderField",
  description: "What records are ordered by.",
  valuesConfig: {
    CREATED: { description: "The order in which the registry stored the records." },
    MODIFIED: { description: "Time of the last change." },
    PUBLISHED: { description: "Date of publication; records without come last." },
    NAME: { description: "Name, without case." },
    SIZE: {
      description: "Bytes of the stored content; records without come last.",
    },
    SCORE: {
      description:
        "Stored AI-readiness score of crates. Records without come last, in both directions; " +
        "lists of one kind that has none are refused.",
    },
  },
});

enum OrderDirection {
  ASC = "ASC",
  DESC = "DESC",
}
registerEnumType(OrderDirection, {
  name: "OrderDirection",
  description: "ASC: the smallest, first or oldest first. DESC: the other way round.",
  valuesConfig: {
    ASC: { description: "The smallest, first or oldest comes first." },
    DESC: { description: "The largest, last or newest comes first." },
  },
});

@InputType("RecordOrder", {
  description:
    "An order of records. Lists are in the order of creation unless they are asked for another " +
    "one, the oldest first; links in the order of the links.",
})
class RecordOrderInput {
  @Field(() => RecordOrderField, { description: "What to order by." }) field!: RecordOrderField;
  @Field(() => OrderDirection, { defaultValue: OrderDirection.ASC, description: "Which way." })
  direction!: OrderDirection;
}

@InputType({ description: "From one time up to another; each may be left out." })
export class DateTimeRange {
  @Field(() => DateTime, { nullable: true, description: "At this time or later." })
  since?: Date | null;
  @Field(() => DateTime, { nullable: true, description: "Before this time." })
  before?: Date | null;
}

@InputType({
  description: "Conditions on a text, all of which must hold, in any case of letters.",
})
class StringFilter implements TextFilter {
  @Field(() => String, { nullable: true, description: "The whole text." })
  equals?: string | null;
  @Field(() => String, { nullable: true, description: "A part of the text." })
  contains?: string | null;
  @Field(() => String, { nullable: true, description: "The beginning of the text." })
  startsWith?: string | null;
}

@InputType({
  description:
    "Conditions on records; all that are given must hold. A null is ignored. At most 10 levels of " +
    "and, or and not, and 1000 conditions and values in all. A field that is named as a relation " +
    "holds where the relation leads to a record that meets its filter, whichever of the two " +
    "states it; at most 4 such fields stand in each other. A filter of ids alone finds links to " +
    "identifiers without a record too.",
})
export class RecordFilter implements RecordFilterInput {
  @Field(() => [RecordFilter], { nullable: true, description: "All of these hold." })
  and?: RecordFilter[] | null;
  @Field(() => [RecordFilter], {
    nullable: true,
    description: "One of these holds; no record meets an empty list.",
  })
  or?: RecordFilter[] | null;
  @Field(() => RecordFilter, { nullable: true, description: "This does not hold." })
  not?: RecordFilter | null;
  @Field(() => [ID], { nullable: true, description: "One of these records." })
  ids?: string[] | null;
  @Field(() => [RecordKindEnum], { nullable: true, description: "Of one of these kinds." })
  kinds?: KindName[] | null;
  @Field(() => StringFilter, { nullable: true, description: "What the record is called." })
  name?: StringFilter | null;
  @Field(() => [String], {
    nullable: true,
    description: "The record has one of these keywords, upper and lower case alike.",
  })
  keywords?: string[] | null;
  @Field(() => [ID], {
    nullable: true,
    description: "Owned by one of these users, groups, organizations and projects.",
  })
  owners?: string[] | null;
  @Field(() => ID, {
    nullable: true,
    description: "Crate that the records came with; the crate itself is not among them.",
  })
  crate?: string | null;
  @Field(() => [String], {
    nullable: true,
    description: "The media type of the stored content is one of these.",
  })
  formats?: string[] | null;
  @Field(() => [PublicationStatusEnum], {
    nullable: true,
    description: "The publication status is one of these.",
  })
  publicationStatus?: PublicationStatusEnum[] | null;
  @Field(() => DateTimeRange, { nullable: true, description: "When the record was created." })
  created?: DateTimeRange | null;
  @Field(() => DateTimeRange, { nullable: true, description: "When it was last changed." })
  modified?: DateTimeRange | null;
  @Field(() => DateTimeRange, {
    nullable: true,
    description: "When it was published: as it states, else here.",
  })
  published?: DateTimeRange | null;
  @Field(() => DateTimeRange, {
    nullable: true,
    description:
      "Deleted records, in place of others, by the time of their deletion. It stands in the " +
      "outermost filter or in its and, together with ids, kinds, owners, group, crate, describedBy and " +
      "times only.",
  })
  deleted?: DateTimeRange | null;
  @Field(() => [String], {
    nullable: true,
    description:
      "The licence is one of these: SPDX identifiers, or addresses. Both find a licence that is " +
      "known, however the record states it. An empty text finds records that state none.",
  })
  licenses?: string[] | null;
  @Field(() => Int, {
    nullable: true,
    description: "Crates whose stored AI-readiness score has so many per cent or more.",
  })
  scoreAtLeast?: number | null;
  @Field(() => Int, {
    nullable: true,
    description: "Crates whose stored AI-readiness score has fewer per cent.",
  })
  scoreBelow?: number | null;
  @Field(() => String, {
    nullable: true,
    description: "A query in the language of search; its spelling is not corrected.",
  })
  text?: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      "Records of this project: those that it owns or states, that are parts of it, or that name " +
      "it as sourceProject.",
  })
  project?: string | null;
  @Field(() => ID, {
    nullable: true,
    description: "Owned by this group, organization or project, or one of its members.",
  })
  group?: string | null;
  @Field(() => ID, {
    nullable: true,
    description: "Records that came with this crate, or that it uses besides.",
  })
  describedBy?: string | null;
}

for (const [name, relations] of Object.entries(RELATIONS))
  Field(() => RecordFilter, {
    nullable: true,
    description: relations.map(({ connection }) => connection.description).join(" "),
  })(RecordFilter.prototype, name);

/** Of every connection of records; described at PageInfo, RecordFilter and RecordOrder. */
@ArgsType()
export class RecordsArguments extends PageArguments {
  @Field(() => String, { nullable: true }) before?: string | null;
  @Field(() => Int, { nullable: true }) last?: number | null;
  @Field(() => RecordFilter, { nullable: true }) filter?: RecordFilter | null;
  @Field(() => RecordOrderInput, { nullable: true }) orderBy?: RecordOrderInput | null;
}

/** @throws ValidationError when `first` or `last` is out of range, or both are given */
export function checkedRange({
  first,
  after,
  last,
  before,
}: RecordsArguments): Omit<SelectionRange, "bytes"> {
  const cursors = {
    ...(after == null ? {} : { after }),
    ...(before == null ? {} : { before }),
  };
  if (last == null) return { ...checkedPage({ first: first ?? USUAL_PAGE }), ...cursors };
  // The default of first cannot be told from the same number.
  if (first != null && first !== USUAL_PAGE)
    throw invalid(["query", "last"], "Value error, use either first or last, not both");
  const { limit } = checkedPage({ first: last }, "last");
  return { limit, backward: true, ...cursors };
}

/** The order that a list is asked for: the oldest first unless it says another. */
export const orderOf = ({ orderBy }: RecordsArguments): RecordOrder =>
  orderBy
    ? { by: orderBy.field, descending: orderBy.direction === OrderDirection.DESC }
    : { by: "created", descending: false };

export type RecordInput = Record<string, unknown>;

/** Members of a document that the input types of a kind have a field for. */
const FIELDS = new Map<KindName, Set<string>>();

/** Members that GraphQL has under another name, as its queries have them. */
const INPUT_NAMES: Readonly<Record<string, string>> = {
  "@type": "type",
  "@context": "context",
  evidencegraphs: "evidenceGraphs",
  rocrates: "roCrates",
  software: "softwares",
};
const MEMBERS = new Map(Object.entries(INPUT_NAMES).map(([name, shown]) => [shown, name]));
const memberOf = (graphqlName: string): string => MEMBERS.get(graphqlName) ?? graphqlName;

@InputType({ description: "Changes a list: `set` replaces it; `remove` and `add` change entries." })
class ListPatch {
  @Field(() => [String], { nullable: true, description: "The whole list from now on." })
  set?: string[] | null;
  @Field(() => [String], { nullable: true, description: "Entries to append, unless present." })
  add?: string[] | null;
  @Field(() => [String], { nullable: true, description: "Entries to take out." })
  remove?: string[] | null;
}

@InputType({ description: "As ListPatch, of identifiers; every spelling of an ARK counts." })
class IdListPatch {
  @Field(() => [ID], { nullable: true, description: "The whole list from now on." })
  set?: string[] | null;
  @Field(() => [ID], { nullable: true, description: "Identifiers to append, unless present." })
  add?: string[] | null;
  @Field(() => [ID], { nullable: true, description: "Identifiers to take out." })
  remove?: string[] | null;
}

/** Kinds that clients write over the API; the others come with crates. */
const WRITABLE = Object.values(KINDS).filter(
  (kind) => kind.path !== null && kind.name !== "rocrate",
);

/** The fields of a kind that its input types have, with their GraphQL names. */
function inputFields(kind: Kind): [graphqlName: string, name: string, field: ModelField][] {
  return Object.entries(kind.fields).flatMap(([name, field]): [string, string, ModelField][] => {
    const graphqlName = INPUT_NAMES[name] ?? name;
    const taken =
      graphqlName === "additionalProperties" || (kind.name === "schema" && name === "type");
    return field.computed || field.deprecated !== undefined || taken
      ? []
      : [[graphqlName, name, field]];
  });
}

/** Links to one or several records: a list in GraphQL, which takes one value for a list of one. */
const isIdList = ({ json, link }: ModelField): boolean => json === "stringOrList" && link === true;
const isList = (field: ModelField): boolean => field.json === "stringList" || isIdList(field);
const isReference = ({ ark, link }: ModelField): boolean => ark === true || link === true;

/** A required field that may be null says nothing when it is null: clients may leave it out. */
const mustBeGiven = (field: ModelField): boolean =>
  field.required && !field.nullable && field.const === undefined;

const TextOrListInput = oneOf(
  "TextOrListInput",
  "A text or a list of texts, where the two mean different things: of a command the text is a line " +
    "for the shell, the list the arguments of the program.",
  {
    text: optional<string>(String, "One text."),
    list: optional<string[]>([String], "A list of texts."),
  },
);
const isTextOrList = ({ json, link }: ModelField): boolean => json === "stringOrList" && !link;

function inputTypeOf(field: ModelField): unknown {
  const text = isReference(field) ? ID : String;
  if (isTextOrList(field)) return TextOrListInput;
  if (field.json === "string") return text;
  if (["stringList", "stringOrList", "types"].includes(field.json)) return [text];
  return field.json === "boolean" ? Boolean : GraphQLJSON;
}

/** The value of a member of a document, from that of its input field. */
function memberValue(field: ModelField | undefined, value: JsonValue): JsonValue {
  if (!field || !isTextOrList(field) || !isObject(value)) return oneOrMany(field, value);
  return value["text"] ?? value["list"] ?? null;
}

/** Input type of the document of each kind that clients can write. */
export const DOCUMENT_TYPES = Object.fromEntries(
  WRITABLE.map((kind) => {
    const members = Object.fromEntries(
      inputFields(kind).map(([graphqlName, , field]) => [
        graphqlName,
        (mustBeGiven(field) ? required : optional)(inputTypeOf(field), field.description),
      ]),
    );
    FIELDS.set(kind.name, new Set(["@id", ...inputFields(kind).map(([, name]) => name)]));
    return [
      kind.name,
      inputType(`${kind.typeName}Input`, kind.description, {
        ...members,
        additionalProperties: optional(
          GraphQLJSON,
          "Further members of the document, as a JSON object.",
        ),
      }),
    ];
  }),
) as Partial<Record<KindName, new () => RecordInput>>;

/** Input types of the changes of each kind: fields that a patch leaves out stay. */
export const PATCH_TYPES = Object.fromEntries(
  WRITABLE.map((kind) => {
    const members = inputFields(kind).flatMap(([graphqlName, name, field]) => {
      const list = isReference(field) ? IdListPatch : ListPatch;
      const type = isList(field) ? list : inputTypeOf(field);
      return name === "@type" ? [] : [[graphqlName, optional(type, field.description)] as const];
    });
    return [
      kind.name,
      inputType(`${kind.typeName}Patch`, "What changes: an absent field stays, null clears it.", {
        ...Object.fromEntries(members),
        additionalProperties: optional(
          GraphQLJSON,
          "Further changes, as a JSON Merge Patch: null removes a member.",
        ),
      }),
    ];
  }),
) as Partial<Record<KindName, new () => RecordInput>>;

/** Words with which services begin the place of an error, and REST has. */
export const REST_PLACES: readonly unknown[] = ["body", "query", "path"];

/**
 * Has validation errors name arguments of GraphQL: what services call `body` is the argument `at`,
 * a document of the kind where one is named.
 */
export async function placed<T>(
  at: readonly string[],
  work: () => Promise<T>,
  kind?: KindName,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new ValidationError(
      error.items.map((item) => ({ ...item, loc: argumentPath(item.loc, at, kind) })),
    );
  }
}

function argumentPath(
  loc: readonly (string | number)[],
  at: readonly string[],
  kind: KindName | undefined,
): (string | number)[] {
  const [first, name, ...rest] = loc;
  if (!REST_PLACES.includes(first)) return [...loc];
  // An offset in a body that is no JSON object: it has no arguments.
  if (at.length === 0 && typeof name !== "string") return ["request", ...loc.slice(1)];
  if (name === undefined) return [...at];
  if (name === "@id") return [...at.slice(0, 1), "id", ...rest];
  if (kind === undefined || name === "additionalProperties") return [...at, name, ...rest];
  return FIELDS.get(kind)?.has(String(name))
    ? [...at, INPUT_NAMES[name] ?? name, ...rest]
    : [...at, "additionalProperties", name, ...rest];
}

/**
 * A GraphQL input as the equivalent REST document. Where a kind has one type only, the name of the
 * mutation implies it.
 * @throws ValidationError where a JSON body would be refused; multipart requests are parsed less
 * strictly
 */
export function documentOf(
  kind: KindName,
  { id, document: input }: { id?: string | null | undefined; document: RecordInput },
  maxDepth: number,
): JsonObject {
  const { additionalProperties, ...declared } = input;
  const { fields } = KINDS[kind];
  const stated = Object.entries(declared)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, JsonValue] => {
      const member = memberOf(name);
      return [member, memberValue(fields[member], value as JsonValue)];
    });
  const more = membersOf(kind, additionalProperties ?? {});
  // fromEntries: `__proto__` is a key like any other.
  const document = Object.fromEntries([
    ...(id == null ? [] : [["@id", id] as [string, JsonValue]]),
    ...stated,
    ...Object.entries(more),
  ]);
  const only = fields["@type"]?.const;
  if (only !== undefined && !Object.hasOwn(document, "@type")) document["@type"] = only;
  for (const [name, field] of Object.entries(fields))
    if (field.required && field.nullable && !Object.hasOwn(document, name)) document[name] = null;
  assertStorable(document, maxDepth);
  return document;
}

/**
 * A GraphQL patch as the use case takes it.
 * @throws ValidationError as {@link documentOf}; for a list with `set` beside `add` or `remove`
 */
export function patchOf(kind: KindName, input: RecordInput, maxDepth: number): RecordPatch {
  const { additionalProperties = {}, ...declared } = input;
  const fields: JsonObject = {};
  const lists: Record<string, ListChange> = {};
  for (const [graphqlName, value] of Object.entries(declared)) {
    if (value === undefined) continue;
    const name = memberOf(graphqlName);
    const field = KINDS[kind].fields[name];
    if (!field) continue;
    if (value === null || !isList(field)) fields[name] = memberValue(field, value as JsonValue);
    else {
      const { set, add, remove } = value as ListPatch;
      if (set !== undefined && (add ?? remove) != null)
        throw invalid(
          ["body", graphqlName],
          "Value error, set replaces the whole list: send it alone, or send add and remove",
        );
      if (set !== undefined) fields[name] = set;
      else lists[name] = { add: add ?? [], remove: remove ?? [] };
    }
  }
  const more = membersOf(kind, additionalProperties);
  for (const part of [fields, lists as JsonObject, more]) assertStorable(part, maxDepth);
  return { fields, lists, more };
}

/** @throws ValidationError for no object, and for members that have an input field */
function membersOf(kind: KindName, additionalProperties: unknown): JsonObject {
  if (
    additionalProperties === null ||
    typeof additionalProperties !== "object" ||
    Array.isArray(additionalProperties)
  ) {
    throw invalid(
      ["body", "additionalProperties"],
      "Input should be a valid dictionary",
      "dict_type",
    );
  }
  const repeated = Object.keys(additionalProperties).filter((name) => FIELDS.get(kind)?.has(name));
  if (repeated.length > 0) {
    throw new ValidationError(
      repeated.map((name) => ({
        loc: ["body", "additionalProperties", name],
        type: "value_error",
        msg:
          "Value error, The input has a field for this member, " +
          `${INPUT_NAMES[name] ?? (name === "@id" ? "id" : name)}: send it there`,
      })),
    );
  }
  return additionalProperties as JsonObject;
}

/** @throws ValidationError for what no store holds: too deep, or with text that is no Unicode */
export function assertStorable(value: JsonValue, maxDepth: number): void {
  if (isDeeperThan(value, maxDepth))
    throw invalid(
      ["body"],
      `Input should be nested at most ${maxDepth} levels deep (MAX_JSON_DEPTH)`,
      "too_deep",
    );
  const bad = findBadString(value);
  if (bad) throw new ValidationError([badStringItem(["body", ...bad])]);
}

function isDeeperThan(value: JsonValue, most: number): boolean {
  const inner = (held: JsonValue): JsonValue[] =>
    held !== null && typeof held === "object" ? Object.values(held) : [];
  let level = [value].filter((held) => typeof held === "object" && held !== null);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= most) return true;
    level = level.flatMap(inner).filter((held) => typeof held === "object" && held !== null);
  }
  return false;
}

/**
 * Passes the file of a multipart request to `use` while it arrives, and always ends its stream.
 * @throws ServiceError `TOO_LARGE`, `BAD_REQUEST` when it breaks off, or as `use`
 */
export async function withUpload<T>(
  upload: Promise<FileUpload>,
  use: (file: IncomingFile) => Promise<T>,
): Promise<T> {
  const { createReadStream, filename, mimetype } = await upload;
  const stream = createReadStream();
  try {
    return await use({ stream, name: filename, mediaType: mimetype });
  } catch (error) {
    // The form is at fault, not an argument.
    if (error === stream.errored) await placed(["form"], () => Promise.reject(error));
    throw error;
  } finally {
    stream.destroy();
    await finished(stream).catch(() => undefined);
  }
}
