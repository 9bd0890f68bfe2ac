import { Field, ID, Int, ObjectType } from "type-graphql";

@ObjectType("PlanFinding", { description: "One thing found in a crate: where, how much it matters, and the fix.", simpleResolvers: true })
export class PlanFindingType {
  @Field(() => String, { nullable: true, description: "Member of the archive." }) file!: string | null;
  @Field(() => String, { nullable: true, description: "JSON pointer inside the member." }) pointer!: string | null;
  @Field(() => Int, { nullable: true, description: "Line of a JSON error, from 1." }) line!: number | null;
  @Field(() => Int, { nullable: true, description: "Column of a JSON error, from 1." }) column!: number | null;
  @Field({ description: "REQUIRED refuses the crate, RECOMMENDED does not." }) severity!: string;
  @Field({ description: "Stable; docs/crates.md lists all." }) code!: string;
  @Field() message!: string;
  @Field() fix!: string;
}
@ObjectType("PlannedIdentifier", { description: "What an upload would do about one entity's identifier.", simpleResolvers: true })
export class PlannedIdentifierType {
  @Field({ description: "@id as the crate writes it." }) entity!: string;
  @Field(() => ID) identifier!: string;
  @Field() kind!: string;
}
@ObjectType("IdentifierConflict", { description: "An identifier that is taken.", simpleResolvers: true })
export class IdentifierConflictType extends PlanFindingType {
  @Field({ description: "@id as the crate writes it." }) entity!: string;
  @Field(() => ID) identifier!: string;
  @Field() kind!: string;
}
@ObjectType("PlannedRecords", { simpleResolvers: true })
export class PlannedRecordsType {
  @Field() kind!: string;
  @Field(() => Int) count!: number;
}
@ObjectType("PlanCounts", { description: "Of identifiers; the lists may be cut.", simpleResolvers: true })
export class PlanCountsType {
  @Field(() => Int) minted!: number;
  @Field(() => Int) kept!: number;
  @Field(() => Int) known!: number;
  @Field(() => Int) conflicting!: number;
}
@ObjectType("RemovedRecord", { description: "A record of the stored crate that is not described any more.", simpleResolvers: true })
export class RemovedRecordType {
  @Field(() => ID) identifier!: string;
  @Field() kind!: string;
}
@ObjectType("ChangeCounts", { description: "Of records; the lists may be cut.", simpleResolvers: true })
export class ChangeCountsType {
  @Field(() => Int) created!: number;
  @Field(() => Int) changed!: number;
  @Field(() => Int) unchanged!: number;
  @Field(() => Int) removed!: number;
  @Field(() => Int) revived!: number;
}
@ObjectType("CrateChanges", { description: "What an update of a crate would do.", simpleResolvers: true })
export class CrateChangesType {
  @Field(() => ChangeCountsType) counts!: ChangeCountsType;
  @Field(() => [PlannedIdentifierType]) created!: PlannedIdentifierType[];
  @Field(() => [PlannedIdentifierType], { description: "Records that get another revision." }) changed!: PlannedIdentifierType[];
  @Field(() => [PlannedIdentifierType]) unchanged!: PlannedIdentifierType[];
  @Field(() => [RemovedRecordType], { description: "Records that are not described any more: they are deleted." }) removed!: RemovedRecordType[];
  @Field(() => [PlannedIdentifierType], { description: "Deleted records that are described again." }) revived!: PlannedIdentifierType[];
}
@ObjectType("CratePlan", { description: "What an upload of a crate would come to.", simpleResolvers: true })
export class CratePlanType {
  @Field({ description: "The upload would be taken in." }) conforms!: boolean;
  @Field(() => ID, { nullable: true, description: "Identifier of the crate; one that is minted is another at the upload." }) rocrateIdentifier!: string | null;
  @Field(() => [PlannedRecordsType], { description: "Records that an upload would create, by kind." }) records!: PlannedRecordsType[];
  @Field(() => PlanCountsType) counts!: PlanCountsType;
  @Field(() => [PlannedIdentifierType], { description: "Identifiers that would be made." }) minted!: PlannedIdentifierType[];
  @Field(() => [PlannedIdentifierType], { description: "ARKs of the crate that would be taken as they are." }) kept!: PlannedIdentifierType[];
  @Field(() => [PlannedIdentifierType], { description: "Records of yours already, which the crate shares or updates." }) known!: PlannedIdentifierType[];
  @Field(() => [IdentifierConflictType]) conflicting!: IdentifierConflictType[];
  @Field(() => [PlanFindingType], { description: "Advice: the upload would be taken in all the same." }) warned!: PlanFindingType[];
  @Field(() => [PlanFindingType], { description: "What the upload would be refused for, besides conflicts." }) refused!: PlanFindingType[];
  @Field(() => CrateChangesType, { nullable: true, description: "What an update would do; null where none was asked for, or not every entity could be read." }) changes!: CrateChangesType | null;
}
