import "reflect-metadata";
import { GraphQLJSON } from "graphql-scalars";
import { Field, GraphQLISODateTime, ID, Int, InterfaceType, registerEnumType } from "type-graphql";
import type { StoredRecord } from "../../stores/records/port.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { KINDS } from "../../model/kinds/index.js";
import { publicView } from "../../model/view.js";

export enum PublicationStatusEnum { DRAFT = "DRAFT", PUBLISHED = "PUBLISHED", EMBARGOED = "EMBARGOED", ARCHIVED = "ARCHIVED" }
registerEnumType(PublicationStatusEnum, { name: "PublicationStatus", description: "Who may read the content: everyone when PUBLISHED, else those who may change the record." });

const text = (value: JsonValue | undefined): string | null => (typeof value === "string" ? value : null);
export const texts = (value: JsonValue | undefined): string[] => (Array.isArray(value) ? value : [value]).filter((item): item is string => typeof item === "string");

/** Something with an identifier that `node(id)` finds. */
@InterfaceType("Node", { description: "Anything with an identifier.", resolveType: (value: RecordNode) => value.typeName })
export abstract class Node {
  @Field(() => ID, { description: "ARK, as stored." })
  get id(): string { return ""; }
}

/** A record as GraphQL shows it; `stored` is null for the target of a dangling reference. */
@InterfaceType("Record", { implements: Node, description: "What every record has, whatever its kind.", resolveType: (value: RecordNode) => value.typeName })
export abstract class RecordNode extends Node {
  private parsed: JsonObject | undefined;
  constructor(readonly ark: string, readonly stored: StoredRecord | null) {
    super();
  }
  get typeName(): string {
    return this.stored ? KINDS[this.stored.kind].typeName : "Unresolved";
  }
  /** The public view of the document. */
  get shown(): JsonObject {
    return (this.parsed ??= this.stored ? publicView(KINDS[this.stored.kind], JSON.parse(Buffer.from(this.stored.document).toString("utf8")) as JsonObject) : {});
  }
  override get id(): string { return this.ark; }
  @Field(() => String, { nullable: true, description: "Kind of the record, as in its REST path; null when nothing is stored here." })
  get kind(): string | null { return this.stored?.kind ?? null; }
  @Field(() => [String], { description: "Types the record states." })
  get types(): string[] { return [...texts(this.shown["@type"]), ...texts(this.shown["metadataType"])]; }
  @Field(() => String, { nullable: true })
  get name(): string | null { return this.stored?.name ?? null; }
  @Field(() => String, { nullable: true })
  get description(): string | null { return text(this.shown["description"]); }
  @Field(() => [String])
  get keywords(): string[] { return texts(this.shown["keywords"]); }
  @Field(() => String, { nullable: true })
  get license(): string | null { return text(this.shown["license"]) ?? text((this.shown["license"] as JsonObject | null | undefined)?.["@id"]); }
  @Field(() => String, { nullable: true })
  get url(): string | null { return text(this.shown["url"]) ?? text((this.shown["url"] as JsonObject | null | undefined)?.["@id"]); }
  @Field(() => Int, { nullable: true, description: "Rises by one with each change; pass it as expectedRevision." })
  get revision(): number | null { return this.stored?.revision ?? null; }
  @Field(() => GraphQLISODateTime, { nullable: true })
  get createdAt(): Date | null { return this.stored ? new Date(this.stored.createdAt) : null; }
  @Field(() => GraphQLISODateTime, { nullable: true })
  get modifiedAt(): Date | null { return this.stored ? new Date(this.stored.modifiedAt) : null; }
  @Field(() => PublicationStatusEnum, { nullable: true })
  get publicationStatus(): string | null { return this.stored?.publicationStatus ?? null; }
  @Field(() => String, { nullable: true, description: "When the embargo of an EMBARGOED record ends." })
  get embargoedUntil(): string | null { return this.stored?.embargoedUntil ?? null; }
  @Field(() => GraphQLJSON, { nullable: true, description: "Members of the document that the kind does not declare." })
  get additionalProperties(): JsonObject | null {
    if (!this.stored) return null;
    const { fields } = KINDS[this.stored.kind];
    return Object.fromEntries(Object.entries(this.shown).filter(([name]) => name !== "@id" && !Object.hasOwn(fields, name)));
  }
}
