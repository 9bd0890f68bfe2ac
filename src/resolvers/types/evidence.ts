import { GraphQLJSON } from "graphql-scalars";
import { Field, ID, Int, ObjectType, registerEnumType } from "type-graphql";
import { KINDS } from "../../model/kinds/index.js";
import type { KindName } from "../../model/kind.js";
import type { EvidenceFormat, EvidenceGraph } from "../../use-cases/evidence/index.js";
import { RecordNode } from "./record-node.js";

export enum DirectionEnum { UPSTREAM = "upstream", DOWNSTREAM = "downstream", BOTH = "both" }
registerEnumType(DirectionEnum, { name: "Direction", description: "UPSTREAM: what the record rests on; DOWNSTREAM: what rests on it." });

export enum AssertedByEnum { ANYONE = "anyone", OWNER = "owner" }
registerEnumType(AssertedByEnum, { name: "AssertedBy", description: "Whose statements count: ANYONE's, or those of an OWNER of the record that a step begins at." });

/** `DATASET`, `DATADOWNLOAD` …: the kinds by the names of the model. */
export const KindEnum = Object.fromEntries((Object.keys(KINDS) as KindName[]).map((name) => [name.toUpperCase(), name])) as Record<string, KindName>;
registerEnumType(KindEnum, { name: "RecordKind", description: "Kinds of records, by the name of their path." });

export const FormatEnum = { PROV_JSON: "prov-json", TURTLE: "turtle", DOT: "dot", MERMAID: "mermaid" } as const satisfies Record<string, EvidenceFormat>;
registerEnumType(FormatEnum, { name: "EvidenceFormat", description: "Forms of an evidence graph besides JSON-LD." });

@ObjectType({ description: "Who said an edge.", simpleResolvers: true })
export class EvidenceStatement {
  @Field(() => ID, { description: "The record whose document says it." }) record!: string;
  @Field(() => String, { nullable: true, description: "The field that says it; null where the document says it no longer in so many words." }) field!: string | null;
  @Field(() => ID, { nullable: true, description: "Owner of that record." }) owner!: string | null;
  @Field({ description: "Whether that owner owns the source as well, or may change it." }) ownsSource!: boolean;
  @Field({ description: "Whether that owner owns the target as well, or may change it." }) ownsTarget!: boolean;
  @Field({ description: "That owner has no right over the end that the answer comes from." }) thirdParty!: boolean;
}

@ObjectType({ description: "One provenance statement between two nodes of the answer.", simpleResolvers: true })
export class EvidenceEdge {
  @Field(() => ID) source!: string;
  @Field({ description: "Canonical name, e.g. generatedBy or usedDataset." }) name!: string;
  @Field(() => ID) target!: string;
  /** Read only when asked for. */
  @Field(() => RecordNode) sourceNode!: () => Promise<RecordNode>;
  @Field(() => RecordNode) targetNode!: () => Promise<RecordNode>;
  @Field({ description: "Nobody states it but third parties." }) thirdParty!: boolean;
  @Field(() => [ID], { description: "Owners of the records that state it." }) assertedByOwners!: string[];
  @Field(() => [EvidenceStatement], { description: "Fields of records that state it." }) statedBy!: EvidenceStatement[] | (() => Promise<EvidenceStatement[]>);
}

@ObjectType({ description: "Like siblings that one node of the answer stands in for.", simpleResolvers: true })
export class EvidenceGroup {
  @Field(() => ID, { description: "Stands in edges for each of them." }) id!: string;
  @Field(() => [String]) types!: string[];
  @Field(() => Int) count!: number;
  @Field({ description: "Pass in expand to have them one by one." }) group!: string;
}

@ObjectType("EvidenceGraphAnswer", { description: "What supports a record, or rests on it.", simpleResolvers: true })
export class EvidenceAnswerType {
  /** Read only when asked for. */
  @Field(() => [RecordNode]) nodes!: () => Promise<RecordNode[]>;
  @Field(() => [EvidenceEdge]) edges!: EvidenceEdge[];
  @Field(() => [EvidenceGroup], { description: "None unless collapse was asked for." }) groups!: EvidenceGroup[];
  @Field(() => [ID], { description: "Nodes of this answer that support no other node found." }) outputs!: string[];
  @Field(() => [ID], { description: "References to what is not stored here." }) dangling!: string[];
  @Field(() => GraphQLJSON, { description: "How many nodes are left out, by reason." }) hidden!: object;
  @Field() truncated!: boolean;
  @Field(() => String, { nullable: true, description: "Pass as after for the next nodes." }) endCursor!: string | null;
  @Field(() => Int, { description: "Commit that the answer is as of." }) asOf!: number;
  @Field(() => GraphQLJSON, { description: "The same as JSON-LD, as REST answers it." }) document!: EvidenceGraph;
}

@ObjectType("KindCount", { simpleResolvers: true })
export class KindCountType {
  @Field(() => KindEnum) kind!: KindName;
  @Field(() => Int) count!: number;
}
@ObjectType("OwnerCount", { simpleResolvers: true })
export class OwnerCountType {
  @Field(() => ID, { nullable: true }) owner!: string | null;
  @Field(() => String, { nullable: true }) name!: string | null;
  @Field(() => Int) count!: number;
  @Field(() => [KindCountType]) kinds!: KindCountType[];
}
@ObjectType("Impact", { description: "What rests on a record: what falls with it.", simpleResolvers: true })
export class ImpactType {
  @Field(() => ID) id!: string;
  @Field(() => Int, { description: "Records that rest on it, directly or through others." }) total!: number;
  @Field(() => Int, { description: "Those that rest on it directly." }) direct!: number;
  @Field(() => Int, { description: "Steps to the furthest of them." }) furthest!: number;
  @Field(() => [KindCountType]) byKind!: KindCountType[];
  @Field(() => [OwnerCountType]) byOwner!: OwnerCountType[];
  @Field(() => Int, { description: "Identifiers that rest on it and that no record here describes." }) unresolved!: number;
  @Field(() => GraphQLJSON, { description: "Edges that are left out, by reason." }) hidden!: object;
  @Field(() => Int, { description: "Commit that the answer is as of." }) asOf!: number;
}

@ObjectType("SupportPath", { description: "A shortest way from one record to another along what supports what.", simpleResolvers: true })
export class SupportPathType {
  @Field(() => ID) from!: string;
  @Field(() => ID) to!: string;
  @Field(() => DirectionEnum, { description: "UPSTREAM: to supports from; DOWNSTREAM: the other way." }) direction!: "upstream" | "downstream";
  @Field(() => Int, { description: "Steps." }) length!: number;
  @Field(() => [RecordNode]) nodes!: () => Promise<RecordNode[]>;
  @Field(() => [EvidenceEdge]) edges!: EvidenceEdge[];
  @Field(() => Int, { description: "Commit that the answer is as of." }) asOf!: number;
}
