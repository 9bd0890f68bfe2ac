import { Arg, Ctx, ID, Int, Mutation, Resolver } from "type-graphql";
import type { JsonValue } from "../model/field.js";
import type { StoredRecord } from "../stores/records/port.js";
import { publishRecord, readPublication } from "../use-cases/publication/publish.js";
import type { Context } from "./context.js";
import { PublicationStatusEnum, RecordNode } from "./types/record-node.js";
import { countWrite } from "./write-rate.js";

/** Whether the content of records is open. */
@Resolver()
export class PublicationResolver {
  /** @param request `{"@id", "publicationStatus", "embargoedUntil"?}`; @throws as `publishRecord` */
  async publish(request: JsonValue | undefined, expectedRevision: number | undefined, context: Context): Promise<StoredRecord> {
    await countWrite(context);
    return publishRecord(context.deps, request, context.caller, expectedRevision);
  }
  /** @throws ServiceError `NOT_FOUND`, `AMBIGUOUS`, `GONE` */
  status(id: string, context: Context): Promise<StoredRecord> {
    return readPublication(context.deps, id);
  }

  @Mutation(() => RecordNode, { name: "publish", description: "Sets the publication status of a record; any may follow any. Publishing a crate publishes its members that are DRAFT." })
  async publishRecord(
    @Arg("id", () => ID) id: string, @Arg("publicationStatus", () => PublicationStatusEnum) publicationStatus: PublicationStatusEnum, @Ctx() context: Context,
    @Arg("embargoedUntil", () => String, { nullable: true, description: "Date or date-time; with EMBARGOED only." }) embargoedUntil?: string | null,
    @Arg("expectedRevision", () => Int, { nullable: true, description: "Refused when the record has changed since." }) expectedRevision?: number | null,
  ): Promise<RecordNode> {
    const record = await this.publish({ "@id": id, publicationStatus, ...(embargoedUntil == null ? {} : { embargoedUntil }) }, expectedRevision ?? undefined, context);
    context.loaders.forget();
    return context.loaders.node(record.ark);
  }
}
