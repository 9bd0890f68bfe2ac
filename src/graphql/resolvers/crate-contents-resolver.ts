/** What is in a crate: its files and folders, with previews. */
import { GraphQLJSON } from "graphql-scalars";
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
} from "type-graphql";
import type { Ark } from "../../identifiers/ark.js";
import type { JsonObject } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import {
  type CrateFile,
  countCrateFiles,
  crateFiles,
  crateFolder,
} from "../../services/crates/export/contents.js";
import {
  crateAddresses,
  crateSummary,
  readCrateMetadata,
} from "../../services/formats/read-crate.js";
import { datasheetSections } from "../../services/formats/datasheet.js";
import { type Preview, previewOf } from "../../services/previews/preview.js";
import { none } from "../../services/previews/types.js";
import { askedArk } from "../../services/records/find.js";
import { knownScore, type ScorePoint, scoreHistory } from "../../services/scoring/score.js";
import type { Context } from "./context.js";
import { KindCountType } from "./evidence-resolver.js";
import { AiReadyScoreType, typedScore } from "./score-resolver.js";
import { PreviewUnion } from "./types/previews.js";
import { checkedPage, connectionTo, PageArguments, pageOf } from "./types/pages.js";
import { HasContent, NODE_TYPES, nodeOf, RecordNode } from "./types/records.js";
import { BigIntScalar } from "./types/scalars.js";

/** Previews of stored files. */
@Resolver(() => HasContent)
export class PreviewResolver {
  /** @throws as {@link previewOf} */
  made(ark: Ark, { deps, caller, budget }: Context): Promise<Preview> {
    return budget.queued(() => previewOf(deps, ark, caller));
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

@ObjectType("CrateFile", { description: "A stored file of a crate.", simpleResolvers: true })
class CrateFileType {
  @Field(() => ID, {
    description: "Of the record that describes it, else of the crate with the path.",
  })
  id!: string;
  @Field({ description: "Path in the crate." }) path!: string;
  @Field(() => BigIntScalar, { description: "Size in bytes." }) size!: number;
  @Field({ description: "SHA-256 of the bytes, lower-case hex." }) sha256!: string;
  @Field({ description: "Media type." }) mediaType!: string;
  @Field(() => RecordNode, {
    nullable: true,
    description: "The record that describes the file, if an entity of the crate does.",
  })
  record!: RecordNode | null;
  @Field({ description: "Address of the bytes." }) address!: string;
  @Field({ description: "True when you may read the bytes." }) readable!: boolean;
}
@ObjectType({
  description: "A page of files; go on with after: pageInfo.endCursor.",
  simpleResolvers: true,
})
class CrateFileConnection extends connectionTo("CrateFile", CrateFileType) {}

@ArgsType()
class FileArguments extends PageArguments {
  @Field(() => BigIntScalar, {
    nullable: true,
    description: "Only files of at least so many bytes.",
  })
  minSize?: number | null;
}

@ObjectType({
  description: "Where a crate can be downloaded.",
  simpleResolvers: true,
})
class CrateAddresses {
  @Field({ description: "Its current metadata document." }) metadata!: string;
  @Field({ description: "Its current version as an archive." }) current!: string;
  @Field(() => String, {
    nullable: true,
    description: "The archive as it was uploaded; null when it is not stored any more.",
  })
  uploaded!: string | null;
  @Field(() => String, {
    nullable: true,
    description:
      "Its own ro-crate-preview.html, for an iframe: it is sent in a sandbox without scripts. " +
      "Null when it has none.",
  })
  page!: string | null;
}

@ObjectType("FolderEntry", { description: "A file or a folder.", simpleResolvers: true })
class FolderEntryType {
  @Field({ description: "Name in its folder; of a file that was found, its path from there." })
  name!: string;
  @Field({ description: "Path in the crate." }) path!: string;
  @Field({ description: "Whether it is a folder." }) isFolder!: boolean;
  @Field(() => Int, { description: "Files in it and below it; 1 for a file." }) fileCount!: number;
  @Field(() => BigIntScalar, { description: "Their bytes." }) size!: number;
  @Field(() => CrateFileType, { nullable: true, description: "The file; null for a folder." })
  file!: CrateFileType | null;
}
@ObjectType({
  description: "A page of a folder: folders first, then files, each by name.",
  simpleResolvers: true,
})
class FolderEntryConnection extends connectionTo("FolderEntry", FolderEntryType) {
  @Field(() => Int, { description: "All files in the folder and below it." }) fileCount!: number;
  @Field(() => BigIntScalar, { description: "Their bytes." }) size!: number;
}

@ArgsType()
class FolderArguments extends PageArguments {
  @Field({ defaultValue: "", description: "Folder of the crate; the root when absent." })
  path!: string;
  @Field(() => String, {
    nullable: true,
    description: "Only files below it whose path contains this.",
  })
  find?: string | null;
}

@ObjectType({
  description: "A question of the datasheet that the crate answers.",
  simpleResolvers: true,
})
class DatasheetAnswer {
  @Field({ description: "The question, in a few words." }) question!: string;
  @Field(() => [String], { description: "What the crate states." }) texts!: string[];
}
@ObjectType({ description: "One heading of a datasheet.", simpleResolvers: true })
class DatasheetSection {
  @Field({ description: "The heading." }) title!: string;
  @Field(() => [DatasheetAnswer], { description: "What the crate answers." })
  answers!: DatasheetAnswer[];
  @Field(() => [String], { description: "Questions that it leaves open." }) notStated!: string[];
}

@ObjectType("ScorePoint", {
  description: "The totals of one score of a crate.",
  simpleResolvers: true,
})
class ScorePointType implements Omit<ScorePoint, "computedAt"> {
  @Field(() => Int, { description: "Revision of the crate." }) revision!: number;
  @Field({ description: "When it was computed." }) computedAt!: Date;
  @Field(() => Int, { description: "Criteria that are met." }) met!: number;
  @Field(() => Int, { description: "Criteria that are met in part." }) partly!: number;
  @Field(() => Int, { description: "Criteria that apply." }) total!: number;
}

/** A file of a crate, whether a record describes it or not. */
@Resolver(() => CrateFileType)
export class CrateFileResolver {
  readonly #previews = new PreviewResolver();

  @FieldResolver(() => PreviewUnion, {
    description: "What the file looks like, for those who may read it.",
  })
  preview(@Root() { id }: CrateFileType, @Ctx() context: Context): Promise<Preview> {
    return this.#previews.made(askedArk(id), context);
  }
}

/** What a crate consists of. */
@Resolver(() => NODE_TYPES.rocrate)
export class CrateContentsResolver {
  @FieldResolver(() => GraphQLJSON, {
    nullable: true,
    description:
      "The whole RO-Crate metadata document of the current version. A large one is refused: " +
      "download it from addresses.metadata.",
  })
  metadata(@Root() node: RecordNode, @Ctx() context: Context): Promise<JsonObject> {
    return context.budget.queued(async () => {
      const { open } = await readCrateMetadata(context.deps, askedArk(node.ark));
      const stream = await open();
      const chunks: Buffer[] = [];
      for await (const chunk of stream) {
        const bytes = Buffer.from(chunk as string);
        context.budget.count(bytes.length);
        chunks.push(bytes);
      }
      return JSON.parse(Buffer.concat(chunks).toString("utf8")) as JsonObject;
    });
  }

  @FieldResolver(() => [KindCountType], {
    description: "Records that the crate describes, by kind.",
  })
  recordCounts(
    @Root() node: RecordNode,
    @Ctx() { deps, budget }: Context,
  ): Promise<KindCountType[]> {
    return budget.queued(async () => {
      const { counts } = await crateSummary(deps, askedArk(node.ark), { limit: 1 });
      return Object.entries(counts).map(([kind, count]) => ({ kind: kind as KindName, count }));
    });
  }

  @FieldResolver(() => CrateFileConnection, {
    description: "The stored files of the crate, in the order of its records.",
  })
  files(
    @Root() node: RecordNode,
    @Args(() => FileArguments) { minSize, ...page }: FileArguments,
    @Ctx() context: Context,
  ): Promise<CrateFileConnection> {
    const checked = checkedPage(page);
    return context.budget.queued(async () => {
      const { items, next } = await crateFiles(
        context.deps,
        askedArk(node.ark),
        { ...checked, ...(minSize == null ? {} : { minSize }) },
        context.caller,
      );
      const files = items.map(fileOf);
      await context.budget.hold(files.flatMap(({ record }) => record ?? []));
      return {
        ...pageOf(
          files,
          items.map(({ position }) => position),
          next !== undefined,
          checked.after,
        ),
        totalCount: () =>
          context.budget.queued(() =>
            countCrateFiles(context.deps, askedArk(node.ark), minSize ?? 0),
          ),
      };
    });
  }

  @FieldResolver(() => FolderEntryConnection, {
    description: "What is in a folder of the crate, with counts and sizes below it.",
  })
  folder(
    @Root() node: RecordNode,
    @Args(() => FolderArguments) { path, find, ...page }: FolderArguments,
    @Ctx() context: Context,
  ): Promise<FolderEntryConnection> {
    const checked = checkedPage(page);
    const { deps, caller, budget } = context;
    return budget.queued(async () => {
      const { items, next, fileCount, size, entryCount } = await crateFolder(
        deps,
        askedArk(node.ark),
        path,
        { ...checked, ...(find == null ? {} : { find }) },
        caller,
      );
      const entries = items.map(({ file, position: _position, ...entry }): FolderEntryType => ({
        ...entry,
        isFolder: file === undefined,
        file: file ? fileOf(file) : null,
      }));
      await budget.hold(entries.flatMap(({ file }) => file?.record ?? []));
      const cursors = items.map(({ position }) => position);
      return {
        ...pageOf(entries, cursors, next !== undefined, checked.after),
        totalCount: entryCount,
        fileCount,
        size,
      };
    });
  }

  @FieldResolver(() => CrateAddresses, { description: "Where the crate can be downloaded." })
  addresses(@Root() node: RecordNode, @Ctx() { deps }: Context): Promise<CrateAddresses> {
    return crateAddresses(deps, node.ark);
  }

  @FieldResolver(() => [DatasheetSection], {
    description:
      "The questions of Datasheets for Datasets with what the crate answers; REST has them in the " +
      "formats datasheet and d4d.",
  })
  async datasheet(
    @Root() { stored }: RecordNode,
    @Ctx() { deps, budget, loaders }: Context,
  ): Promise<DatasheetSection[]> {
    if (!stored) return [];
    const view = await loaders.view(stored);
    return budget.queued(() => datasheetSections(deps, view));
  }

  @FieldResolver(() => AiReadyScoreType, {
    nullable: true,
    description:
      "How ready the crate is for AI, by the score that is stored; null when none is, or when " +
      "the crate has changed since. The query aiReadyScore computes it.",
  })
  async score(
    @Root() node: RecordNode,
    @Ctx() { deps, budget }: Context,
  ): Promise<AiReadyScoreType | null> {
    const { stored } = node;
    if (!stored) return null;
    const score = await budget.queued(() => knownScore(deps, stored));
    return score ? typedScore(score) : null;
  }

  @FieldResolver(() => [ScorePointType], {
    description: "Totals of the scores of all revisions, oldest first.",
  })
  async scoreHistory(@Root() node: RecordNode, @Ctx() context: Context): Promise<ScorePointType[]> {
    const points = await scoreHistory(context.deps, askedArk(node.ark));
    return points.map((point) => ({ ...point, computedAt: new Date(point.computedAt) }));
  }
}

const fileOf = ({ record, ark, position: _position, ...file }: CrateFile): CrateFileType => ({
  ...file,
  id: ark,
  record: record && nodeOf(record),
});
