import { GraphQLJSON } from "graphql-scalars";
import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
  registerEnumType,
} from "type-graphql";
import type { Ark } from "../../identifiers/ark.js";
import { type SubmissionView, viewNow } from "../../services/crates/submissions.js";
import { askedArk } from "../../services/records/find.js";
import { CATEGORY_NAMES, type CategoryName } from "../../services/scoring/criteria.js";
import type { Status } from "../../services/scoring/criterion.js";
import { type AiReadyScore, readScore, requestScore } from "../../services/scoring/score.js";
import { percentOf } from "../../storage/records/port/selection.js";
import { type Context, countWrite, requestOf, type SignedIn, signedIn } from "./context.js";
import { submissionPayload, submitted } from "./crate-resolver.js";
import { idOf, inputOf } from "./types/mutations.js";
import { NODE_TYPES, type RecordNode } from "./types/records.js";
import { DateTime } from "./types/scalars.js";

const StatusEnum = {
  MET: "met",
  PARTLY: "partly",
  NOT_MET: "not_met",
  NOT_APPLICABLE: "not_applicable",
} as const satisfies Record<string, Status>;
registerEnumType(StatusEnum, {
  name: "CriterionStatus",
  description: "Verdict on one criterion.",
  valuesConfig: {
    MET: { description: "The crate meets it." },
    PARTLY: { description: "The crate meets a part of it." },
    NOT_MET: { description: "The crate does not meet it." },
    NOT_APPLICABLE: { description: "It does not apply to this crate, and is not counted." },
  },
});

@ObjectType("AiReadyCriterion", {
  description: "One criterion of the score, its result and the places that decided it.",
  simpleResolvers: true,
})
class CriterionType {
  @Field({ description: "E.g. findable." }) name!: string;
  @Field({ description: "True when the status is MET or PARTLY." }) hasContent!: boolean;
  @Field(() => String, { nullable: true, description: "What was found." }) details!: string | null;
  @Field(() => StatusEnum, { description: "The verdict." }) status!: Status;
  @Field(() => [String], {
    description: "JSON pointers into the records that decided, behind their identifiers.",
  })
  evidence!: string[];
  @Field(() => String, {
    nullable: true,
    description: "What to add, and where; null where nothing is missing.",
  })
  fix!: string | null;
  @Field({ description: "The result by the rule of older registries." }) legacy!: boolean;
}
@ObjectType("AiReadyCategory", {
  description: "Criteria that are counted together.",
  simpleResolvers: true,
})
class CategoryType {
  @Field(() => String, { description: "E.g. fairness." }) name!: CategoryName;
  @Field(() => [CriterionType], { description: "Its criteria." }) criteria!: CriterionType[];
}
@ObjectType("AiReadyTotals", {
  description: "Criteria by verdict; total counts those that apply.",
  simpleResolvers: true,
})
class TotalsType {
  @Field(() => Int, { description: "Criteria that are met." }) met!: number;
  @Field(() => Int, { description: "Criteria that are met in part." }) partly!: number;
  @Field(() => Int, { description: "Criteria that apply." }) total!: number;
  @Field(() => Int, {
    nullable: true,
    description: "Per cent of those that are met, rounded down; in part counts half.",
  })
  percent!: number | null;
}
@ObjectType("AiReadyScore", {
  description: "How ready a crate is for AI, criterion by criterion.",
  simpleResolvers: true,
})
export class AiReadyScoreType {
  @Field({ description: "Name of the score." }) name!: string;
  /** Identifier of the crate. */ ark!: string;
  @Field(() => [CategoryType], { description: "Criteria by category." })
  categories!: CategoryType[];
  @Field(() => TotalsType, { description: "How many criteria have which verdict." })
  totals!: TotalsType;
  @Field(() => Int, { description: "Revision of the crate that was evaluated." })
  revision!: number;
  @Field(() => DateTime, { description: "When it was computed." }) computedAt!: string;
  @Field(() => GraphQLJSON, { description: "The same as REST answers it." })
  document!: AiReadyScore;
}

/** The same with its categories and criteria as lists. */
export function typedScore(score: AiReadyScore): AiReadyScoreType {
  const { name, rocrateIdentifier: ark, score: totals, revision, computedAt } = score;
  return {
    name,
    ark,
    totals: { ...totals, percent: percentOf(totals) },
    revision,
    computedAt,
    document: score,
    categories: CATEGORY_NAMES.map((category) => ({
      name: category,
      criteria: Object.entries(score[category]).map(([criterion, { has_content, ...rest }]) => ({
        name: criterion,
        hasContent: has_content,
        ...rest,
      })),
    })),
  };
}

const RescoreInput = inputOf("rescoreCrate", { id: idOf("The crate.") });
const RescorePayload = submissionPayload("rescoreCrate");

/** AI-readiness of crates. REST calls {@link ScoreResolver.rescore} as well. */
@Resolver(() => AiReadyScoreType)
export class ScoreResolver {
  /** @throws as {@link requestScore} */
  async rescore(ark: Ark, context: SignedIn): Promise<SubmissionView> {
    await countWrite(context);
    return viewNow(
      context.deps,
      await requestScore(context.deps, context.caller, ark, requestOf(context)),
    );
  }

  @FieldResolver(() => NODE_TYPES.rocrate, {
    nullable: true,
    description: "The crate that was evaluated; null when it was deleted since.",
  })
  async crate(
    @Root() { ark }: AiReadyScoreType,
    @Ctx() { loaders }: Context,
  ): Promise<RecordNode | null> {
    const node = await loaders.node(ark);
    return node.stored?.kind === "rocrate" ? node : null;
  }

  @Query(() => AiReadyScoreType, {
    description: "How ready the current version of a crate is for AI.",
  })
  async aiReadyScore(
    @Arg("id", () => ID, { description: "The crate." }) id: string,
    @Ctx() context: Context,
  ): Promise<AiReadyScoreType> {
    return typedScore(await readScore(context.deps, askedArk(id)));
  }

  @Mutation(() => RescorePayload, {
    description:
      "Computes the score of a crate again, in the background, and checks its tables " +
      "against their schemas.",
  })
  async rescoreCrate(
    @Arg("input", () => RescoreInput) { id }: InstanceType<typeof RescoreInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    return submitted(this.rescore(askedArk(id), signedIn(context)));
  }
}
