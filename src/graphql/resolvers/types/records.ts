/** Types of records, and enums whose values are described. */
import "reflect-metadata";
import { GraphQLDate, GraphQLJSON } from "graphql-scalars";
import { Field, ID, Int, InterfaceType, ObjectType, registerEnumType } from "type-graphql";
import { connectionsOf } from "../../../model/connections.js";
import { instantOf } from "../../../model/dates.js";
import {
  type Field as ModelField,
  isObject,
  type JsonObject,
  type JsonValue,
  listOf,
} from "../../../model/field.js";
import { referencedArk } from "../../../identifiers/ark.js";
import { KIND_NAMES, type Kind, type KindName, publicView } from "../../../model/kind.js";
import { constantOf, KINDS } from "../../../model/kinds.js";
import { labelOf } from "../../../model/labels.js";
import { textOf, wholeTextOf } from "../../../model/texts.js";
import { type Visibility, visibilityOf } from "../../../services/access/visibility.js";
import type { ContentState } from "../../../services/files/content.js";
import { TEXT_FORMATS } from "../../../services/formats/read.js";
import type { StoredRecord } from "../../../storage/records/port.js";
import { connectionTo } from "./pages.js";
import { PreviewUnion } from "./previews.js";
import { BigIntScalar, DateTime } from "./scalars.js";

/** GraphQL name of a value: the value in the code, and what it means. */
type Values<V extends string> = Readonly<Record<string, readonly [value: V, description: string]>>;

/** A GraphQL enum whose every value is described; fields have the values of the code. */
export function describedEnum<V extends string>(
  name: string,
  description: string,
  values: Values<V>,
): Record<string, V> {
  const of = <T>(part: (value: readonly [V, string]) => T): Record<string, T> =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, part(value)]));
  const type = of(([value]) => value);
  registerEnumType(type, {
    name,
    description,
    valuesConfig: of(([, about]) => ({ description: about })),
  });
  return type;
}

export const VisibilityEnum = describedEnum<Visibility>(
  "Visibility",
  "Who sees a record until it is published.",
  {
    OPEN: ["open", "Everybody."],
    PRIVATE: ["private", "Those who may change it. Publishing makes it open for ever."],
  },
);

/** `DATASET`, `DATA_DOWNLOAD` …: the kinds by their types. */
export const RecordKindEnum = describedEnum<KindName>(
  "RecordKind",
  "Kinds of records, by their types.",
  Object.fromEntries(
    KIND_NAMES.map((kind) => [
      constantOf(KINDS[kind].typeName),
      [kind, KINDS[kind].description] as const,
    ]),
  ),
);

/** Formats whose names are several words, which `?format=` writes together. */
const FORMAT_CONSTANTS: Readonly<Record<string, string>> = {
  datacitejson: "DATACITE_JSON",
  dublincore: "DUBLIN_CORE",
  jsonld: "JSON_LD",
  nquads: "N_QUADS",
  ntriples: "N_TRIPLES",
  provn: "PROV_N",
  rdfxml: "RDF_XML",
  rocrate: "RO_CRATE",
  schemaorg: "SCHEMA_ORG",
};

/** The citation that resolvers of ARKs answer for `?info`. */
export const ERC = "erc";
/** The formats of records that are text. */
export const RecordFormatEnum = describedEnum("RecordFormat", "Formats of records as text.", {
  ...Object.fromEntries(
    TEXT_FORMATS.map(({ name, label, description }) => [
      FORMAT_CONSTANTS[name] ?? name.toUpperCase(),
      [name, `${label}. ${description}`] as const,
    ]),
  ),
  ERC: [
    ERC,
    "Electronic Resource Citation. Who, what, when, where, and what is promised for the " +
      "identifier (ANVL).",
  ],
});

export const DifferenceKind = describedEnum(
  "DifferenceKind",
  "How a member of a document differs from the earlier state.",
  {
    ADDED: ["ADDED", "The earlier state does not have it."],
    REMOVED: ["REMOVED", "The later state does not have it."],
    CHANGED: ["CHANGED", "Both states have it, with other values."],
  },
);

export const SubmissionStatusEnum = describedEnum("SubmissionStatus", "State of a submission.", {
  QUEUED: ["queued", "It waits for its first or its next attempt."],
  RUNNING: ["running", "It is being worked on."],
  FINISHED: ["finished", "It succeeded, and its results are stored."],
  FAILED: ["failed", "It ended without results; its errors say why."],
});

export const RevisionActionEnum = describedEnum("RevisionAction", "What made a revision.", {
  CREATE: ["create", "The record was created, or created again after a deletion."],
  UPDATE: ["update", "The document was changed."],
  DELETE: ["delete", "The record was deleted; a tombstone remains."],
  PUBLISH: ["publish", "The publication status was changed."],
});

export const FindingSeverityEnum = describedEnum(
  "FindingSeverity",
  "How much a finding in a crate matters.",
  {
    REQUIRED: ["REQUIRED", "The upload is refused."],
    RECOMMENDED: ["RECOMMENDED", "Advice: the upload would be accepted nevertheless."],
  },
);

export const ShapeSeverityEnum = describedEnum("ShapeSeverity", "Severity of a SHACL result.", {
  VIOLATION: ["Violation", "A constraint is broken: the record does not conform."],
  WARNING: ["Warning", "A constraint that records should meet is not met."],
  INFO: ["Info", "A remark."],
});

export const TableErrorTypeEnum = describedEnum("TableErrorType", "What is wrong with a row.", {
  PARSING_ERROR: ["ParsingError", "The row cannot be converted."],
  VALIDATION_ERROR: ["ValidationError", "A value breaks a rule of the schema."],
});

const ContentStateEnum = describedEnum("ContentState", "Whether bytes are stored.", {
  STORED: ["stored", "The bytes are stored here."],
  DAMAGED: ["damaged", "The stored bytes were found damaged: upload the file again."],
  DELETED: ["deleted", "The bytes were deleted."],
  NONE: ["none", "No bytes were stored here."],
});

export const HealthStateEnum = describedEnum("HealthState", "State of a part of the service.", {
  OK: ["ok", "It works."],
  LOADING: ["loading", "An index that is being filled; records are served meanwhile."],
  DAMAGED: ["damaged", "Some of what it stores is damaged; the rest is served."],
  FAILED: ["failed", "It does not answer."],
});

export enum PublicationStatusEnum {
  DRAFT = "DRAFT",
  PUBLISHED = "PUBLISHED",
  EMBARGOED = "EMBARGOED",
  ARCHIVED = "ARCHIVED",
}
registerEnumType(PublicationStatusEnum, {
  name: "PublicationStatus",
  description: "PUBLISHED: everyone may read the content; else who may change it.",
  valuesConfig: {
    DRAFT: { description: "Not public yet." },
    PUBLISHED: { description: "The content is public." },
    EMBARGOED: { description: "The content becomes public when the embargo ends." },
    ARCHIVED: { description: "Not public any more." },
  },
});

const text = (value: JsonValue | undefined): string | null =>
  typeof value === "string" ? value : null;
const texts = (value: JsonValue | undefined): string[] =>
  (Array.isArray(value) ? value : [value]).filter(
    (item): item is string => typeof item === "string",
  );

/** Characters of all texts of a list: it is never null, so one that is longer would end the answer. */
const MAX_CHARACTERS = 64 * 2 ** 10;
const TRUNCATION_NOTE = ", up to 65,536 characters; the document has all";
/** The first of the texts, while they are short enough together. */
function within(texts: string[]): string[] {
  let length = 0;
  const end = texts.findIndex((each) => (length += each.length) > MAX_CHARACTERS);
  return end < 0 ? texts : texts.slice(0, end);
}

/** A value of any JSON as text: of a list the first, of a reference its identifier or name. */
function shownText(value: JsonValue | undefined): string | null {
  const first = Array.isArray(value) ? value[0] : value;
  if (typeof first === "number") return String(first);
  if (typeof first !== "object" || first === null || Array.isArray(first)) return text(first);
  return text(first["name"]) ?? text(first["@value"]) ?? text(first["@id"]);
}

/** A text, or what a reference leads to; the first of a list. */
const addressIn = (value: JsonValue | undefined): string | null =>
  listOf(value)
    .map((item) => (isObject(item) ? (text(item["@id"]) ?? textOf(item)) : textOf(item)))
    .find((found) => found !== null) ?? null;

const shownTexts = (value: JsonValue | undefined): string[] =>
  listOf(value).flatMap((item) => shownText(item) ?? []);

/** What a field needs of the context to find the record that a reference leads to. */
interface Loading {
  readonly loaders: { node(ark: string): Promise<RecordNode> };
}
/** The record under an identifier, where one is stored here. */
const storedNode = async (ark: string | undefined, { loaders }: Loading) => {
  const node = ark === undefined ? undefined : await loaders.node(ark);
  return node?.stored ? node : null;
};

@ObjectType({
  description: "What a record refers to: another record, or something elsewhere.",
  simpleResolvers: true,
})
export class Reference {
  @Field(() => ID, {
    nullable: true,
    description: "ARK as stored, or another address; null where only a name is stated.",
  })
  id!: string | null;
  @Field(() => String, { description: "The reference as it is stated." }) text!: string;
  @Field(() => RecordNode, {
    nullable: true,
    description: "The record; null where none is stored here.",
  })
  record!: (_args: object, context: Loading) => Promise<RecordNode | null>;
}

/** A stated value as a reference, of a list the first; null where it states nothing. */
export function referenceOf(value: JsonValue | undefined): Reference | null {
  const [stated] = listOf(value);
  const text = shownText(stated);
  if (text === null) return null;
  const named = isObject(stated) ? stated["@id"] : stated;
  const ark = typeof named === "string" ? referencedArk(named)?.stored : undefined;
  const isAddress = typeof named === "string" && /^[a-z][a-z0-9+.-]*:\S/i.test(named);
  return {
    id: ark ?? (isAddress ? named : null),
    text,
    record: (_args, context) => storedNode(ark, context),
  };
}

@ObjectType({
  description: "A date or time as a record states it, which may be any text.",
  simpleResolvers: true,
})
export class StatedDate {
  @Field(() => String, { description: "What is stated." }) text!: string;
  @Field(() => GraphQLDate, {
    nullable: true,
    description: "The day; null where the text is no date of ISO 8601.",
  })
  date!: string | null;
  @Field(() => DateTime, {
    nullable: true,
    description: "The time; a date is the beginning of its day, in UTC.",
  })
  time!: Date | null;
}

function statedDate(value: JsonValue | undefined): StatedDate | null {
  const text = shownText(value);
  if (text === null) return null;
  const instant = instantOf(text.trim());
  const [, year, month, day] = /^(\d{4})-?(\d\d)-?(\d\d)/.exec(text.trim()) ?? [];
  return instant === undefined
    ? { text, date: null, time: null }
    : { text, date: `${year}-${month}-${day}`, time: new Date(instant) };
}
/** Crates may state anything in them, so that no declaration says that they are dates. */
const DATE_FIELD = /^date[A-Z]|Date$/;

@ObjectType({
  description: "Why a record was deleted or archived, and what to use in its place.",
  simpleResolvers: true,
})
export class Tombstone {
  @Field(() => DateTime, {
    nullable: true,
    description: "When it was deleted; null of an archived record.",
  })
  at!: Date | null;
  @Field(() => Reference, { nullable: true, description: "User who deleted it." })
  by!: Reference | null;
  @Field(() => String, { nullable: true, description: "The reason that was given." })
  reason!: string | null;
  @Field(() => Reference, { nullable: true, description: "Record to use in its place." })
  successor!: Reference | null;
}

export const tombstoneOf = (of: {
  at: number | null;
  by: string | null;
  reason: string | null;
  successor: string | null;
}): Tombstone => ({
  at: of.at === null ? null : new Date(of.at),
  by: referenceOf(of.by),
  reason: of.reason,
  successor: referenceOf(of.successor),
});

@ObjectType({
  description: "A person or organization that made a record, as the record states it.",
  simpleResolvers: true,
})
export class Creator {
  @Field(() => ID, {
    nullable: true,
    description: "ARK, ORCID or another address; null where only a name is stated.",
  })
  id!: string | null;
  @Field(() => String, { nullable: true, description: "Name, where one is known." })
  name!: string | null;
  @Field(() => RecordNode, {
    nullable: true,
    description: "Its record; null where none is stored here.",
  })
  record!: (_args: object, context: Loading) => Promise<RecordNode | null>;
}
/** @param ark of the record that the identifier leads to */
export const creatorOf = (
  { id, name }: Pick<Creator, "id" | "name">,
  ark: string | undefined,
): Creator => ({ id, name, record: (_args, context) => storedNode(ark, context) });
/** What `node(id)` finds beside records, recognized by a member that only it has. */
const OTHER_NODES = {
  submissionUUID: "Submission",
  usedAt: "AccessToken",
  signedInAt: "Account",
  askedAt: "AccessRequest",
};

/** An object with an identifier that `node(id)` finds. */
@InterfaceType("Node", {
  description: "A record, a submission, an access token or an account.",
  resolveType: (value: object) =>
    value instanceof RecordNode
      ? value.typeName
      : Object.entries(OTHER_NODES).find(([member]) => member in value)?.[1],
})
export abstract class Node {
  @Field(() => ID, { description: "Of a record its ARK, as stored." })
  get id(): string {
    return "";
  }
}

/** A record as GraphQL shows it; `stored` is null for the target of a dangling reference. */
@InterfaceType("Record", {
  implements: Node,
  description: "What every record has, whatever its kind.",
  resolveType: (value: RecordNode) => value.typeName,
})
export abstract class RecordNode extends Node {
  #parsed: JsonObject | undefined;
  constructor(
    readonly ark: string,
    readonly stored: StoredRecord | null,
  ) {
    super();
  }
  get typeName(): string {
    return this.stored ? KINDS[this.stored.kind].typeName : "Unresolved";
  }
  /** The public view of the document. */
  get shown(): JsonObject {
    return (this.#parsed ??= this.stored
      ? publicView(
          KINDS[this.stored.kind],
          JSON.parse(Buffer.from(this.stored.document).toString("utf8")) as JsonObject,
        )
      : {});
  }
  override get id(): string {
    return this.ark;
  }
  @Field(() => RecordKindEnum, {
    nullable: true,
    description: "Kind of the record; null when nothing is stored here.",
  })
  get kind(): KindName | null {
    return this.stored?.kind ?? null;
  }
  @Field(() => [String], { description: `Types it states${TRUNCATION_NOTE}.` })
  get types(): string[] {
    return within([...texts(this.shown["@type"]), ...texts(this.shown["metadataType"])]);
  }
  @Field(() => String, { nullable: true, description: "Name of the record." })
  get name(): string | null {
    return this.stored?.name ?? null;
  }
  @Field(() => String, {
    nullable: true,
    description: "What people call it: name, value, text of a comment, or person's name.",
  })
  get label(): string | null {
    return this.stored?.tombstone ? null : (labelOf(this.shown) ?? this.stored?.name ?? null);
  }
  @Field(() => String, { nullable: true, description: "What the record is." })
  get description(): string | null {
    return wholeTextOf(this.shown["description"]);
  }
  @Field(() => [String], { description: `Keywords${TRUNCATION_NOTE}.` })
  get keywords(): string[] {
    return within(texts(this.shown["keywords"]));
  }
  @Field(() => String, { nullable: true, description: "URL of the licence." })
  get license(): string | null {
    return addressIn(this.shown["license"]);
  }
  @Field(() => String, { nullable: true, description: "Web page of the object." })
  get url(): string | null {
    return addressIn(this.shown["url"]);
  }
  @Field(() => Int, {
    nullable: true,
    description: "Rises by one with each change; pass it as expectedRevision.",
  })
  get revision(): number | null {
    return this.stored?.revision ?? null;
  }
  @Field(() => DateTime, { nullable: true, description: "When it was stored first." })
  get createdAt(): Date | null {
    return this.stored ? new Date(this.stored.createdAt) : null;
  }
  @Field(() => DateTime, { nullable: true, description: "When it was last changed." })
  get modifiedAt(): Date | null {
    return this.stored ? new Date(this.stored.modifiedAt) : null;
  }
  @Field(() => PublicationStatusEnum, { nullable: true, description: "Who may read the content." })
  get publicationStatus(): string | null {
    return this.stored?.publicationStatus ?? null;
  }
  @Field(() => VisibilityEnum, {
    nullable: true,
    description: "Who sees it until it is published.",
  })
  get visibility(): Visibility | null {
    return this.stored && visibilityOf(this.stored);
  }
  @Field(() => DateTime, {
    nullable: true,
    description: "When its embargo ends; a date is the beginning of that day, UTC.",
  })
  get embargoEndsAt(): Date | null {
    const until = this.stored?.embargoedUntil;
    const instant = until == null ? undefined : instantOf(until);
    return instant === undefined ? null : new Date(instant);
  }
  @Field(() => Tombstone, {
    nullable: true,
    description: "What is left of a deleted record; why a record was archived.",
  })
  get tombstone(): Tombstone | null {
    if (!this.stored) return null;
    const { tombstone, archived } = this.stored;
    if (tombstone) return tombstoneOf(tombstone);
    return archived ? tombstoneOf({ at: null, by: null, ...archived }) : null;
  }
  @Field(() => GraphQLJSON, {
    nullable: true,
    description: "Members of the document that the kind does not declare.",
  })
  get additionalProperties(): JsonObject | null {
    if (!this.stored) return null;
    const { fields } = KINDS[this.stored.kind];
    // The field of that name of a schema has no GraphQL field, so it comes and goes here.
    const shownElsewhere = (name: string): boolean =>
      name === "@id" || (Object.hasOwn(fields, name) && name !== "additionalProperties");
    return Object.fromEntries(Object.entries(this.shown).filter(([name]) => !shownElsewhere(name)));
  }
}

/** Stored bytes of a record, or why there are none. */
@ObjectType({ description: "Stored bytes of a record.", simpleResolvers: true })
export class StoredContent {
  @Field(() => ContentStateEnum, { description: "Whether bytes are stored." })
  state!: ContentState["state"];
  @Field(() => String, { nullable: true, description: "Media type; null without bytes." })
  mediaType!: string | null;
  @Field(() => BigIntScalar, { nullable: true, description: "Size in bytes; null without bytes." })
  size!: number | null;
  @Field(() => String, {
    nullable: true,
    description: "SHA-256 of the bytes, lower-case hex; null without bytes.",
  })
  sha256!: string | null;
  @Field(() => String, { nullable: true, description: "Address of the bytes; null without bytes." })
  address!: string | null;
  /** Computed only on request. */
  @Field(() => Boolean, { description: "True when you may read the bytes; false without bytes." })
  readable!: () => Promise<boolean>;
}

@InterfaceType("HasContent", {
  description: "Records that may have bytes: a file, or a crate with its archive.",
  resolveType: (value: RecordNode) => value.typeName,
})
export abstract class HasContent {
  @Field(() => StoredContent, {
    description: "The stored bytes: of a crate the archive as it was uploaded.",
  })
  content!: StoredContent;
  @Field(() => PreviewUnion, {
    description: "What the content looks like, for those who may read it.",
  })
  preview!: typeof PreviewUnion;
}

@ObjectType({
  description: "A page of records of any kind.",
  simpleResolvers: true,
})
export class RecordConnection extends connectionTo("Record", RecordNode) {}

/** Fields every record has by the interface, and names that GraphQL does not allow. */
const GIVEN = new Set([
  "name",
  "description",
  "keywords",
  "license",
  "url",
  "owner",
  "additionalProperties",
  // Among the creators.
  "author",
]);
const hiddenField = (name: string, field: ModelField): boolean =>
  name.startsWith("@") || GIVEN.has(name) || field.secret === true || field.private === true;

/** GraphQL type of a declared field. */
function scalarOf(field: ModelField): () => unknown {
  switch (field.json) {
    case "string":
      return () => String;
    case "stringList":
    case "stringOrList":
    case "types":
      return () => [String];
    case "boolean":
      return () => Boolean;
    default:
      return () => GraphQLJSON;
  }
}

type NodeClass = new (ark: string, stored: StoredRecord | null) => RecordNode;

/** The class needs its own name: type-graphql derives type names from it. */
function named<T extends new (...args: never[]) => object>(name: string, type: T): T {
  Object.defineProperty(type, "name", { value: name });
  return type;
}

function objectType(typeName: string, description: string, hasContent = false): NodeClass {
  const type = named(typeName, class extends RecordNode {}) as unknown as NodeClass;
  ObjectType(typeName, {
    implements: hasContent ? [RecordNode, HasContent] : RecordNode,
    description,
    simpleResolvers: true,
  })(type);
  return type;
}

/** The declared fields of a kind that do not lead to other records. */
function addScalars(kind: Kind, type: NodeClass): void {
  const connections = connectionsOf(kind.name);
  const linked = new Set(Object.values(connections).flatMap(({ out }) => out));
  for (const [name, field] of Object.entries(kind.fields)) {
    // Lists that are filled from the other side have a connection, `rocrates` that of `roCrates`.
    const isLink = Object.hasOwn(connections, name) || (field.backlink && linked.has(field.term));
    if (isLink || hiddenField(name, field)) continue;
    const many = field.json === "stringList" || field.json === "stringOrList";
    const isReference = field.json === "string" && (field.ark || field.link);
    const isDate = DATE_FIELD.test(name);
    Object.defineProperty(type.prototype, name, {
      configurable: true,
      get(this: RecordNode) {
        const value = this.shown[name];
        if (isReference) return referenceOf(value);
        if (isDate) return statedDate(value);
        // A crate may have stated any JSON.
        if (kind.loose) return many ? shownTexts(value) : shownText(value);
        return many ? texts(value) : (value ?? null);
      },
    });
    const of = isReference ? () => Reference : isDate ? () => StatedDate : scalarOf(field);
    Field(of as never, {
      nullable: true,
      description: field.description,
      ...(field.deprecated === undefined ? {} : { deprecationReason: field.deprecated }),
    })(type.prototype, name);
  }
  for (const [name, description] of Object.entries(kind.alsoShown ?? {})) {
    Object.defineProperty(type.prototype, name, {
      configurable: true,
      get(this: RecordNode) {
        return shownText(this.shown[name]);
      },
    });
    Field(() => String, { nullable: true, description })(type.prototype, name);
  }
}

/** GraphQL object type of each kind, from its table. */
export const NODE_TYPES = Object.fromEntries(
  Object.values(KINDS).map((kind) => {
    const type = objectType(kind.typeName, kind.description, kind.hasContent);
    addScalars(kind, type);
    return [kind.name, type];
  }),
) as Record<KindName, NodeClass>;

/** GraphQL type of each kind's list; links lead to records of any kind. */
export const CONNECTION_TYPES = Object.fromEntries(
  Object.values(KINDS).map(({ name, typeName }) => {
    @ObjectType(`${typeName}Connection`, {
      description: "A page of a list; go on with after: pageInfo.endCursor.",
      simpleResolvers: true,
    })
    class KindConnection extends connectionTo(typeName, NODE_TYPES[name]) {}
    return [name, KindConnection];
  }),
) as Record<KindName, new () => object>;

/** Target of a reference that this registry does not store. */
export const UnresolvedType = objectType(
  "Unresolved",
  "A reference to something that is not stored here.",
);

/** The node that shows a record. */
export const nodeOf = (record: StoredRecord): RecordNode =>
  new NODE_TYPES[record.kind](record.ark, record);
export const unresolved = (ark: string): RecordNode => new UnresolvedType(ark, null);
