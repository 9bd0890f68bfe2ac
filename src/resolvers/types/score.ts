import { GraphQLJSON } from "graphql-scalars";
import { Field, ID, Int, ObjectType, registerEnumType } from "type-graphql";
import { CATEGORY_NAMES, type AiReadyScore, type CategoryName, type Status } from "../../use-cases/scoring/index.js";

export const StatusEnum = { MET: "met", PARTLY: "partly", NOT_MET: "not_met", NOT_APPLICABLE: "not_applicable" } as const satisfies Record<string, Status>;
registerEnumType(StatusEnum, { name: "CriterionStatus", description: "Verdict on one criterion." });

@ObjectType("AiReadyCriterion", { simpleResolvers: true })
export class CriterionType {
  @Field({ description: "E.g. findable." }) name!: string;
  @Field({ description: "True when the status is MET or PARTLY." }) hasContent!: boolean;
  @Field(() => String, { nullable: true, description: "What was found." }) details!: string | null;
  @Field(() => StatusEnum) status!: Status;
  @Field(() => [String], { description: "JSON pointers into the records that decided, behind their identifiers." }) evidence!: string[];
  @Field(() => String, { nullable: true, description: "What to add, and where; null where nothing is missing." }) fix!: string | null;
  @Field({ description: "What the rule of older registries gives." }) legacy!: boolean;
}
@ObjectType("AiReadyCategory", { simpleResolvers: true })
export class CategoryType {
  @Field(() => String, { description: "E.g. fairness." }) name!: CategoryName;
  @Field(() => [CriterionType]) criteria!: CriterionType[];
}
@ObjectType("AiReadyTotals", { description: "Criteria by verdict; total counts those that apply.", simpleResolvers: true })
export class TotalsType {
  @Field(() => Int) met!: number;
  @Field(() => Int) partly!: number;
  @Field(() => Int) total!: number;
}
@ObjectType("AiReadyScore", { description: "How ready a crate is for AI, criterion by criterion.", simpleResolvers: true })
export class AiReadyScoreType {
  @Field() name!: string;
  @Field(() => ID) rocrateIdentifier!: string;
  @Field(() => [CategoryType]) categories!: CategoryType[];
  @Field(() => TotalsType) score!: TotalsType;
  @Field(() => Int, { description: "Revision of the crate when it was looked at." }) revision!: number;
  @Field({ description: "RFC 3339, UTC." }) computedAt!: string;
  @Field(() => GraphQLJSON, { description: "The same as REST answers it." }) document!: AiReadyScore;
}

/** The same with its categories and criteria as lists. */
export function typedScore(score: AiReadyScore): AiReadyScoreType {
  const { name, rocrateIdentifier, score: totals, revision, computedAt } = score;
  return {
    name, rocrateIdentifier, score: totals, revision, computedAt, document: score,
    categories: CATEGORY_NAMES.map((category) => ({
      name: category, criteria: Object.entries(score[category]).map(([criterion, { has_content, ...rest }]) => ({ name: criterion, hasContent: has_content, ...rest })),
    })),
  };
}
