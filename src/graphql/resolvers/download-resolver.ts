import GraphQLUpload from "graphql-upload/GraphQLUpload.mjs";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Resolver, Root } from "type-graphql";
import type { Ark } from "../../identifiers/ark.js";
import type { JsonValue } from "../../model/field.js";
import {
  type ContentState,
  isReadable,
  registerDownload,
  uploadContent,
} from "../../services/files/content.js";
import { removeContent } from "../../services/records/remove.js";
import {
  type IncomingFile,
  type StagedFile,
  stageFile,
} from "../../services/records/stored-content.js";
import { checked } from "../../services/records/validate.js";
import { askedArk } from "../../services/records/find.js";
import type { RecordView } from "../../services/records/view.js";
import { type Context, countWrite, type SignedIn, signedIn } from "./context.js";
import { documentOf, INPUT_TYPES, type RecordInput, withUpload } from "./types/inputs.js";
import { HasContent, NODE_TYPES, nodeOf, RecordNode, StoredContent } from "./types/records.js";

/** The stored bytes of whatever may have some. */
@Resolver(() => HasContent)
export class ContentResolver {
  @FieldResolver(() => StoredContent, {
    description: "The stored bytes: of a crate the archive as it was uploaded.",
  })
  async content(
    @Root() { stored }: RecordNode,
    @Ctx() { deps, caller, budget, loaders }: Context,
  ): Promise<StoredContent> {
    const { state, object, address }: ContentState = stored
      ? await loaders.content(stored)
      : { state: "none", object: null, address: null };
    return {
      state,
      mediaType: object?.mediaType ?? null,
      size: object?.size ?? null,
      sha256: object?.sha256 ?? null,
      address,
      readable: async () =>
        stored !== null && object !== null && budget.queued(() => isReadable(deps, stored, caller)),
    };
  }
}

const EXPECTED = {
  nullable: true,
  description: "Refused when the record has changed since.",
} as const;
const INPUT = INPUT_TYPES.datadownload!;

/** File records and their stored content. */
@Resolver()
export class DownloadResolver {
  /**
   * Receives the bytes before the client has sent the metadata; pass the answer to
   * {@link register}, or discard its object.
   */
  async stage(file: IncomingFile, context: SignedIn): Promise<StagedFile> {
    await countWrite(context);
    return stageFile(context.deps, file);
  }
  /**
   * Consumes the staged file.
   * @param at where the document is in the client's request;
   * @throws as `registerDownload`
   */
  register(
    document: JsonValue | undefined,
    file: StagedFile,
    context: SignedIn,
    at?: readonly (string | number)[],
  ): Promise<RecordView> {
    return registerDownload(context.deps, document, file, context.caller, at);
  }
  /** @throws as `uploadContent` */
  async upload(
    ark: Ark,
    file: IncomingFile,
    expectedRevision: number | undefined,
    context: SignedIn,
  ): Promise<RecordView> {
    await countWrite(context);
    return uploadContent(context.deps, ark, file, context.caller, expectedRevision);
  }
  /** Removes the content and preserves the metadata. @throws as `removeContent` */
  async removeContent(
    ark: Ark,
    expectedRevision: number | undefined,
    context: SignedIn,
  ): Promise<RecordView> {
    await countWrite(context);
    return removeContent(context.deps, ark, context.caller, expectedRevision);
  }

  @Mutation(() => NODE_TYPES.datadownload, {
    description:
      "Creates a file record together with its content (GraphQL multipart request; send " +
      "the header apollo-require-preflight).",
  })
  async registerDownload(
    @Arg("input", () => INPUT, { description: "Metadata of the file." }) input: RecordInput,
    @Arg("file", () => GraphQLUpload, { description: "The content." }) upload: Promise<FileUpload>,
    @Ctx() context: Context,
  ): Promise<RecordNode> {
    const { record } = await withUpload(upload, async (file) => {
      const signed = signedIn(context);
      const document = documentOf("datadownload", input, context.deps.config.MAX_JSON_DEPTH);
      // Validated before the bytes are received.
      checked("datadownload", document);
      return this.register(document, await this.stage(file, signed), signed);
    });
    context.loaders.forget();
    return nodeOf(record);
  }

  @Mutation(() => NODE_TYPES.datadownload, {
    name: "uploadContent",
    description:
      "Stores the content of a file record, in place of what is stored; earlier revisions keep " +
      "theirs (GraphQL multipart request; send the header apollo-require-preflight).",
  })
  async replaceContent(
    @Arg("id", () => ID, { description: "The file record." }) id: string,
    @Arg("file", () => GraphQLUpload, { description: "The content." }) upload: Promise<FileUpload>,
    @Ctx() context: Context,
    @Arg("expectedRevision", () => Int, EXPECTED) expectedRevision?: number | null,
  ): Promise<RecordNode> {
    const { record } = await withUpload(upload, (file) =>
      this.upload(askedArk(id), file, expectedRevision ?? undefined, signedIn(context)),
    );
    context.loaders.forget();
    return nodeOf(record);
  }

  @Mutation(() => NODE_TYPES.datadownload, {
    name: "deleteContent",
    description:
      "Deletes the stored content of a file record, from its earlier revisions too. Its " +
      "metadata is preserved.",
  })
  async deleteContent(
    @Arg("id", () => ID, { description: "The file record." }) id: string,
    @Ctx() context: Context,
    @Arg("expectedRevision", () => Int, EXPECTED) expectedRevision?: number | null,
  ): Promise<RecordNode> {
    const signed = signedIn(context);
    const { record } = await this.removeContent(
      askedArk(id),
      expectedRevision ?? undefined,
      signed,
    );
    context.loaders.forget();
    return nodeOf(record);
  }
}
