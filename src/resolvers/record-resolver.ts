import { GraphQLJSON } from "graphql-scalars";
import { Arg, Args, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from "type-graphql";
import type { JsonObject, JsonValue } from "../model/field.js";
import type { KindName } from "../model/kind.js";
import { renewed } from "../use-cases/evidence/stored/renew.js";
import { findLive } from "../use-cases/records/find.js";
import { readHistory, type History, type HistoryPage } from "../use-cases/records/history.js";
import { readRecord, readRevision } from "../use-cases/records/read.js";
import { replaceRecordAt } from "../use-cases/records/replace.js";
import { removeRecord, type RemoveOptions } from "../use-cases/records/remove.js";
import { parseDocument, type BacklinkPositions, type RecordView } from "../use-cases/records/view.js";
import { ServiceError } from "../errors.js";
import type { Context } from "./context.js";
import { revisionsOf } from "./history.js";
import { ownerOf } from "./links.js";
import { PageArguments, checkedPage } from "./types/connection.js";
import { nodeOf } from "./types/kind-types.js";
import { Node, RecordNode } from "./types/record-node.js";
import { RevisionConnection } from "./types/revision.js";
import { countWrite } from "./write-rate.js";

/** Records of any kind by identifier. The methods that take an options object are called by REST as well. */
@Resolver(() => RecordNode)
export class RecordResolver {
  /** @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE` */
  read(id: string, context: Context, backlinks?: BacklinkPositions): Promise<RecordView> {
    return readRecord(context.deps, id, context.caller, undefined, backlinks);
  }
  readRevision(id: string, revision: number, context: Context, kind?: KindName): Promise<RecordView> {
    return readRevision(context.deps, id, revision, context.caller, kind);
  }
  readHistory(id: string, page: HistoryPage, context: Context, kind?: KindName): Promise<History> {
    return readHistory(context.deps, id, page, context.caller, kind);
  }
  /** Replaces the record that the path names, as its own kind or the one asked for. @throws as `replaceRecordAt` */
  async replaceAt(id: string, document: JsonValue | undefined, options: { kind?: KindName; expectedRevision?: number | undefined }, context: Context): Promise<RecordView> {
    await countWrite(context);
    return replaceRecordAt(context.deps, id, document, context.caller, options);
  }
  /** @throws ServiceError as {@link removeRecord} */
  async remove(id: string, options: RemoveOptions, context: Context): Promise<RecordView> {
    await countWrite(context);
    return removeRecord(context.deps, id, context.caller, options);
  }

  @Query(() => RecordNode, { nullable: true, description: "A record by its identifier, in any accepted spelling; null when nothing is stored under it." })
  async record(@Arg("id", () => ID) id: string, @Ctx() context: Context): Promise<RecordNode | null> {
    try {
      return nodeOf(await renewed(context.deps, await findLive(context.deps, id)));
    } catch (error) {
      if (error instanceof ServiceError && error.code === "NOT_FOUND") return null;
      throw error;
    }
  }

  @Query(() => Node, { nullable: true, description: "The same, by the name Relay expects." })
  node(@Arg("id", () => ID) id: string, @Ctx() context: Context): Promise<RecordNode | null> {
    return this.record(id, context);
  }

  @Mutation(() => RecordNode, { description: "Deletes a record of any kind; answers it as it was. A tombstone stays." })
  async deleteRecord(
    @Arg("id", () => ID) id: string, @Ctx() context: Context,
    @Arg("expectedRevision", () => Int, { nullable: true }) expectedRevision?: number,
    @Arg("reason", () => String, { nullable: true }) reason?: string,
    @Arg("successor", () => ID, { nullable: true }) successor?: string,
  ): Promise<RecordNode> {
    const options = { ...(expectedRevision == null ? {} : { expectedRevision }), ...(reason == null ? {} : { reason }), ...(successor == null ? {} : { successor }) };
    const { record } = await this.remove(id, options, context);
    context.loaders.forget();
    return nodeOf(record);
  }

  @FieldResolver(() => RecordNode, { nullable: true, description: "User, group, organization or project that owns the record." })
  owner(@Root() node: RecordNode, @Ctx() context: Context): Promise<RecordNode | null> {
    return ownerOf(node, context);
  }

  @FieldResolver(() => GraphQLJSON, { nullable: true, description: "The whole document, as REST answers it." })
  async document(@Root() node: RecordNode, @Ctx() context: Context): Promise<JsonObject | null> {
    if (!node.stored) return null;
    await context.loaders.hold([node]);
    return parseDocument((await context.loaders.view(node.stored)).bytes);
  }

  @FieldResolver(() => RevisionConnection, { description: "States of the record, newest first." })
  history(@Root() node: RecordNode, @Args(() => PageArguments) page: PageArguments, @Ctx() context: Context): Promise<RevisionConnection> {
    return revisionsOf(node, checkedPage(page), context);
  }
}
