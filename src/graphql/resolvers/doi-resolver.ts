import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from "type-graphql";
import type { Ark } from "../../identifiers/ark.js";
import { type SubmissionView, viewNow } from "../../services/crates/submissions.js";
import { type DoiChance, doiChance, doiIn, reserveDoi } from "../../services/doi/doi.js";
import { askedArk } from "../../services/records/find.js";
import { type Context, countWrite, requestOf, type SignedIn, signedIn } from "./context.js";
import { SubmissionType } from "./crate-resolver.js";
import { idOf, inputOf, payloadOf, required } from "./types/mutations.js";
import { describedEnum, RecordNode } from "./types/records.js";

/** A reserved DOI as clients see it. */
interface ReservedDoiView {
  ark: string;
  doi: string;
  submission: SubmissionView;
}

const ReserveDoiInput = inputOf("reserveDoi", { id: idOf() });
const ReserveDoiPayload = payloadOf("reserveDoi", {
  record: required<RecordNode>(RecordNode, "The record, which states the DOI as an identifier."),
  doi: required<string>(String, "The DOI, without a resolver."),
  submission: required<SubmissionView>(SubmissionType, "The job that registers it."),
});

const DoiReservationEnum = describedEnum<DoiChance>(
  "DoiReservation",
  "Whether reserveDoi would reserve the DOI of a record for you.",
  {
    POSSIBLE: ["possible", "It would reserve one."],
    RESERVED: ["reserved", "The record has one; the mutation repeats a registration that failed."],
    NO_SERVICE: ["no service", "The registry registers no DOIs: DATACITE_URL is not set."],
    WRONG_KIND: ["wrong kind", "Records of this kind have no DOI."],
    FORBIDDEN: ["forbidden", "You may not change the record."],
  },
);

/** DOIs of records. */
@Resolver(() => RecordNode)
export class DoiResolver {
  /** @throws as {@link reserveDoi} */
  async reserve(ark: Ark, context: SignedIn): Promise<ReservedDoiView> {
    await countWrite(context);
    const { submission, ...reserved } = await reserveDoi(
      context.deps,
      ark,
      context.caller,
      requestOf(context),
    );
    return { ...reserved, submission: await viewNow(context.deps, submission) };
  }

  @Mutation(() => ReserveDoiPayload, {
    description:
      "Reserves the DOI of a record of yours: a draft, which is findable once the record is " +
      "published and follows its changes. A second call repeats a registration that failed.",
  })
  async reserveDoi(
    @Arg("input", () => ReserveDoiInput) { id }: InstanceType<typeof ReserveDoiInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const { ark, ...reserved } = await this.reserve(askedArk(id), signedIn(context));
    context.loaders.forget();
    return { record: await context.loaders.node(ark), ...reserved };
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: "The first DOI that the record states, without a resolver.",
  })
  doi(@Root() record: RecordNode): string | null {
    return doiIn(record.shown) ?? null;
  }

  @FieldResolver(() => DoiReservationEnum as object, {
    description: "Whether you may reserve the DOI of the record, or why not.",
  })
  async doiReservation(
    @Root() { stored }: RecordNode,
    @Ctx() { deps, caller, budget }: Context,
  ): Promise<DoiChance> {
    return stored ? budget.queued(() => doiChance(deps, stored, caller)) : "forbidden";
  }
}
