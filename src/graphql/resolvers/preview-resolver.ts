import { Arg, Ctx, FieldResolver, ID, Query, Resolver, Root } from "type-graphql";
import type { Ark } from "../../identifiers/ark.js";
import { askedArk } from "../../services/records/find.js";
import { type Preview, previewOf } from "../../services/previews/preview.js";
import { none } from "../../services/previews/types.js";
import type { Context } from "./context.js";
import { PreviewUnion } from "./types/previews.js";
import { HasContent, type RecordNode } from "./types/records.js";

/** Previews of stored files. */
@Resolver(() => HasContent)
export class PreviewResolver {
  /** @throws as {@link previewOf} */
  made(ark: Ark, { deps, caller, loaders }: Context): Promise<Preview> {
    return loaders.queued(() => previewOf(deps, ark, caller));
  }

  @Query(() => PreviewUnion, {
    name: "preview",
    description:
      "What a stored file looks like: the content of a record, or a file of a crate that has no " +
      "record, by the identifier of the crate and its path.",
  })
  previewOf(
    @Arg("id", () => ID, { description: "Identifier, in any accepted spelling." }) id: string,
    @Ctx() context: Context,
  ): Promise<Preview> {
    return this.made(askedArk(id), context);
  }

  @FieldResolver(() => PreviewUnion, {
    description: "What the content looks like, for those who may read it.",
  })
  async preview(@Root() { stored, ark }: RecordNode, @Ctx() context: Context): Promise<Preview> {
    return stored
      ? this.made(askedArk(ark), context)
      : { ...none("NO_CONTENT", "It is not stored here."), address: "" };
  }
}
