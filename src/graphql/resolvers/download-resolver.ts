import GraphQLUpload from "graphql-upload/GraphQLUpload.mjs";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import { Arg, Ctx, FieldResolver, ID, Mutation, Resolver, Root } from "type-graphql";
import type { Ark } from "../../identifiers/ark.js";
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
import {
  DOCUMENT_TYPES,
  documentOf,
  placed,
  type RecordInput,
  withUpload,
} from "./types/inputs.js";
import {
  expectedRevision,
  idOf,
  inputOf,
  optional,
  recordPayload,
  required,
  statedPayload,
  writtenAs,
  visibility,
} from "./types/mutations.js";
import { HasContent, NODE_TYPES, RecordNode, StoredContent } from "./types/records.js";

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

const NOUN = "dataDownload";
const file = required<Promise<FileUpload>>(GraphQLUpload, "The content.");
const RegisterInput = inputOf("registerDownload", {
  id: optional<string>(ID, "Identifier; minted when absent."),
  dataDownload: required<RecordInput>(DOCUMENT_TYPES.datadownload, "Metadata of the file."),
  file,
  visibility,
});
const UploadInput = inputOf("uploadContent", { id: idOf(), file, expectedRevision });
const DeleteInput = inputOf("deleteContent", { id: idOf(), expectedRevision });
const RegisterPayload = statedPayload("registerDownload", NOUN, NODE_TYPES.datadownload);
const UploadPayload = recordPayload("uploadContent", NOUN, NODE_TYPES.datadownload);
const DeletePayload = recordPayload("deleteContent", NOUN, NODE_TYPES.datadownload);

/** File records and their stored content. */
@Resolver()
export class DownloadResolver {
  /**
   * Receives the bytes before the client has sent the metadata; pass the answer to
   * `registerDownload`, or discard its object.
   */
  async stage(file: IncomingFile, context: SignedIn): Promise<StagedFile> {
    await countWrite(context);
    return stageFile(context.deps, file);
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

  @Mutation(() => RegisterPayload, {
    description:
      "Creates a file record together with its content (GraphQL multipart request; send " +
      "the header apollo-require-preflight).",
  })
  registerDownload(
    @Arg("input", () => RegisterInput) input: InstanceType<typeof RegisterInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const register = (file: IncomingFile) =>
      placed(
        ["input", NOUN],
        async () => {
          const signed = signedIn(context);
          const document = documentOf(
            "datadownload",
            { id: input.id, document: input.dataDownload },
            context.deps.config.MAX_JSON_DEPTH,
          );
          // Validated before the bytes are received.
          checked("datadownload", document);
          const staged = await this.stage(file, signed);
          return registerDownload(signed.deps, document, staged, signed.caller, {
            visibility: input.visibility ?? undefined,
          });
        },
        "datadownload",
      );
    return shown(withUpload(input.file, register), context);
  }

  @Mutation(() => UploadPayload, {
    name: "uploadContent",
    description:
      "Stores the content of a file record, in place of what is stored; earlier revisions keep " +
      "theirs (GraphQL multipart request; send the header apollo-require-preflight).",
  })
  replaceContent(
    @Arg("input", () => UploadInput) input: InstanceType<typeof UploadInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const revision = input.expectedRevision ?? undefined;
    const upload = (file: IncomingFile) =>
      this.upload(askedArk(input.id), file, revision, signedIn(context));
    return shown(withUpload(input.file, upload), context);
  }

  @Mutation(() => DeletePayload, {
    name: "deleteContent",
    description:
      "Deletes the stored content of a file record, from its earlier revisions too. Its " +
      "metadata is preserved.",
  })
  deleteContent(
    @Arg("input", () => DeleteInput) input: InstanceType<typeof DeleteInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const signed = signedIn(context);
    const revision = input.expectedRevision ?? undefined;
    return shown(this.removeContent(askedArk(input.id), revision, signed), context);
  }
}

const shown = async (view: Promise<RecordView>, context: Context): Promise<object> =>
  writtenAs(NOUN, (await view).record, context);
