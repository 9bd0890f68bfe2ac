import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  Float,
  GraphQLISODateTime,
  ID,
  InputType,
  Int,
  ObjectType,
  registerEnumType,
  Resolver,
  Root,
  Subscription,
} from "type-graphql";
import type { KindName } from "../../model/kind.js";
import {
  type ChangeFilter,
  followChanges,
  type RecordChange,
  type RecordChanges,
} from "../../services/records/changes.js";
import type { Context } from "./context.js";
import { RecordKindEnum } from "./types/enums.js";
import { checkedPage, RecordNode } from "./types/records.js";

enum ChangeEnum {
  CREATED = "CREATED",
  UPDATED = "UPDATED",
  DELETED = "DELETED",
}
registerEnumType(ChangeEnum, {
  name: "RecordChangeType",
  description: "What happened to a record.",
  valuesConfig: {
    CREATED: { description: "The record is at its first revision." },
    UPDATED: { description: "The record has a new revision, or is linked under another spelling." },
    DELETED: { description: "The record was deleted, or became a draft of others." },
  },
});

@InputType({ description: "Changes that a subscription asks for; all conditions must hold." })
class RecordChangeFilter implements ChangeFilter {
  @Field(() => [RecordKindEnum], { nullable: true, description: "Records of one of these kinds." })
  kinds?: KindName[];
  @Field(() => ID, {
    nullable: true,
    description: "User, group, organization or project that owns the records.",
  })
  owner?: string;
  @Field(() => ID, { nullable: true, description: "Crate that the records came with." })
  crate?: string;
  @Field(() => [ID], { nullable: true, description: "These records; at most 1000." })
  ids?: string[];
}

@ObjectType("RecordChange", { description: "A change of one record.", simpleResolvers: true })
class RecordChangeType {
  @Field(() => ID, { description: "ARK of the record, as stored." }) id!: string;
  @Field(() => RecordKindEnum, { description: "Kind of the record." }) kind!: string;
  @Field(() => ChangeEnum, { description: "What happened." }) change!: RecordChange["change"];
  @Field(() => Int, { description: "Revision of the record after the change." }) revision!: number;
  @Field(() => GraphQLISODateTime, { description: "When the record was last changed." })
  modifiedAt!: Date;
  @Field(() => ID, { nullable: true, description: "User who deleted the record." })
  deletedBy!: string | null;
  @Field(() => String, { nullable: true, description: "Why the record was deleted." })
  deleteReason!: string | null;
  @Field(() => ID, { nullable: true, description: "Record to use in place of a deleted one." })
  successor!: string | null;
}

@ObjectType("RecordChanges", {
  description: "Changes that are sent together, in the order of their commits.",
  simpleResolvers: true,
})
class RecordChangesType {
  @Field(() => Float, {
    description:
      "Whole number that rises with each commit. A subscription with this afterSequence goes on " +
      "behind this event; of a commit that takes several events only the last one counts, so " +
      "some of its changes may come again.",
  })
  sequence!: number;
  @Field(() => [RecordChangeType], {
    description: "Empty in the first event, which says where the subscription begins.",
  })
  changes!: RecordChangeType[];
}

const typeOf = ({ ark, modifiedAt, tombstone, ...change }: RecordChange): RecordChangeType => ({
  ...change,
  id: ark,
  modifiedAt: new Date(modifiedAt),
  deletedBy: tombstone?.by ?? null,
  deleteReason: tombstone?.reason ?? null,
  successor: tombstone?.successor ?? null,
});

/** A failure while a subscription is open is its last event. */
type Event = RecordChanges | { failed: unknown };

interface Asked {
  filter?: { [name in keyof ChangeFilter]?: ChangeFilter[name] | null } | null;
  afterSequence?: number | null;
  first?: number | null;
}

/** The feed of changes, over the transports with many answers. */
@Resolver(() => RecordChangeType)
export class ChangeResolver {
  /** @throws as {@link followChanges} */
  follow(
    { filter, afterSequence, first }: Asked,
    context: Context,
  ): Promise<AsyncIterable<RecordChanges>> {
    const { limit } = checkedPage({ first: first ?? 100 }, "first", 1);
    const given = Object.entries(filter ?? {}).filter(([, value]) => value != null);
    return followChanges(context.deps, {
      filter: Object.fromEntries(given),
      after: afterSequence ?? undefined,
      most: limit,
      client: context.caller?.user ?? `address ${context.address}`,
      caller: () => context.callerNow(),
    });
  }

  @Subscription(() => RecordChangesType, {
    description:
      "Changes of records, from the change log: at once an event without changes, then each " +
      "change. Drafts are shown to those who may change them; a record that becomes a draft is " +
      "DELETED for all others.",
    subscribe: async ({ args, context }: { args: Asked; context: Context }) =>
      answers(await new ChangeResolver().follow(args, context), context),
  })
  recordChanges(
    @Root() event: Event,
    @Arg("filter", () => RecordChangeFilter, {
      nullable: true,
      description: "Which changes are sent; all when absent.",
    })
    _filter?: RecordChangeFilter | null,
    @Arg("afterSequence", () => Float, {
      nullable: true,
      description:
        "The sequence of an earlier event: changes since then are sent first. 0 sends all that " +
        "the registry has. Absent: changes from now on.",
    })
    _afterSequence?: number | null,
    @Arg("first", () => Int, {
      nullable: true,
      defaultValue: 100,
      description: "Most changes in one event, at most 1000.",
    })
    _first?: number | null,
  ): RecordChangesType {
    if ("failed" in event) throw event.failed;
    return { sequence: event.sequence, changes: event.changes.map(typeOf) };
  }

  @FieldResolver(() => RecordNode, {
    nullable: true,
    description: "The record as it is now, which may be later than the change; null when deleted.",
  })
  async record(
    @Root() { change, id }: RecordChangeType,
    @Ctx() context: Context,
  ): Promise<RecordNode | null> {
    if (change === "DELETED") return null;
    const node = await context.loaders.node(id);
    return node.stored ? node : null;
  }
}

/** Each event is an answer of its own: it reads the records anew and has the limits for itself. */
function answers(source: AsyncIterable<RecordChanges>, context: Context): AsyncIterable<Event> {
  const events = source[Symbol.asyncIterator]();
  let failed = false;
  return {
    [Symbol.asyncIterator]: () => ({
      async next(): Promise<IteratorResult<Event>> {
        if (failed) return { done: true, value: undefined };
        try {
          const event = await events.next();
          context.loaders.begin();
          return event;
        } catch (error) {
          failed = true;
          return { done: false, value: { failed: error } };
        }
      },
      async return(): Promise<IteratorResult<Event>> {
        await events.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
}
