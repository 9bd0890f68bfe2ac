import { Arg, Ctx, Field, ID, Int, Mutation, ObjectType, Query, Resolver } from "type-graphql";
import type { Ark } from "../../identifiers/ark.js";
import { askedArk } from "../../services/records/find.js";
import {
  createReviewLink,
  listReviewLinks,
  revokeReviewLink,
  type ShownReviewLink,
} from "../../services/records/review-links.js";
import { type Context, countWrite, type SignedIn, signedIn } from "./context.js";
import { idOf, inputOf, optional, payloadOf, required } from "./types/mutations.js";
import { DateTime } from "./types/scalars.js";

@ObjectType("ReviewLink", {
  description: "A secret address that shows a record without an account.",
  simpleResolvers: true,
})
class ReviewLinkType implements Omit<ShownReviewLink, "id" | "createdBy"> {
  @Field(() => ID, { description: "Revokes it." }) link!: string;
  @Field(() => ID, { description: "The record." }) record!: string;
  @Field(() => DateTime, { description: "When it was made." }) createdAt!: Date;
  @Field(() => DateTime, { description: "When it ends." }) expiresAt!: Date;
  @Field({ description: "Names are hidden." }) anonymous!: boolean;
  @Field(() => Int, { description: "How often it was opened." }) uses!: number;
  @Field(() => DateTime, { nullable: true, description: "When it was last used." })
  usedAt!: Date | null;
}
const typeOf = ({ id: link, createdBy: _, ...shown }: ShownReviewLink): ReviewLinkType => ({
  link,
  ...shown,
});

const CreateReviewLinkInput = inputOf("createReviewLink", {
  id: idOf("The record."),
  expiresAt: optional<string>(String, "Date or date-time; 90 days from now by default."),
  anonymous: optional<boolean>(Boolean, "Hides who made the record."),
});
const CreateReviewLinkPayload = payloadOf("createReviewLink", {
  address: required<string>(String, "For the reviewer. It cannot be read again."),
  reviewLink: required<ReviewLinkType>(ReviewLinkType, "The link in the list."),
});
const RevokeReviewLinkInput = inputOf("revokeReviewLink", {
  id: idOf("The record."),
  link: idOf("The link."),
});
const RevokeReviewLinkPayload = payloadOf("revokeReviewLink", {
  reviewLink: required<ReviewLinkType>(ReviewLinkType, "The link that has ended."),
});

/** Reviewers' links. REST calls {@link ReviewResolver.create} as well. */
@Resolver()
export class ReviewResolver {
  /** @throws as {@link createReviewLink} */
  async create(
    ark: Ark,
    asked: { expiresAt?: unknown; anonymous?: unknown },
    context: SignedIn,
  ): ReturnType<typeof createReviewLink> {
    await countWrite(context);
    return createReviewLink(context.deps, ark, asked, context.caller);
  }

  @Query(() => [ReviewLinkType], {
    description: "Valid review links of a record that you may change.",
  })
  async reviewLinks(
    @Arg("id", () => ID, { description: "The record." }) id: string,
    @Ctx() context: Context,
  ): Promise<ReviewLinkType[]> {
    const ark = askedArk(id);
    const { deps, caller } = signedIn(context);
    return (await listReviewLinks(deps, ark, caller)).map(typeOf);
  }

  @Mutation(() => CreateReviewLinkPayload, {
    description: "Makes a secret address that shows a record to reviewers.",
  })
  async createReviewLink(
    @Arg("input", () => CreateReviewLinkInput)
    { id, ...asked }: InstanceType<typeof CreateReviewLinkInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const { address, link } = await this.create(askedArk(id), asked, signedIn(context));
    return { address, reviewLink: typeOf(link) };
  }

  @Mutation(() => RevokeReviewLinkPayload, { description: "Ends a review link at once." })
  async revokeReviewLink(
    @Arg("input", () => RevokeReviewLinkInput)
    { id, link }: InstanceType<typeof RevokeReviewLinkInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const ark = askedArk(id);
    const { deps, caller } = signedIn(context);
    return { reviewLink: typeOf(await revokeReviewLink(deps, ark, link, caller)) };
  }
}
