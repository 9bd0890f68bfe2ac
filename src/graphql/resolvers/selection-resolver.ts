/** Records by filter: lists, statistics, and changes as they are committed. */
import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  Float,
  ID,
  InputType,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
  registerEnumType,
  Subscription,
} from "type-graphql";
import type { KindName } from "../../model/kind.js";
import { constantOf } from "../../model/kinds.js";
import {
  type ChangeFilter,
  followChanges,
  type RecordChange,
  type RecordChanges,
} from "../../services/records/changes.js";
import { recordStatistics, selectRecords } from "../../services/records/select.js";
import {
  SCORE_BANDS,
  type ScoreBand,
  STATISTICS_KEYS,
  type StatisticsGroup,
  type StatisticsKey,
} from "../../storage/records/port/selection.js";
import type { Context } from "./context.js";
import { checkedRange, orderOf, RecordFilter, type RecordsArguments } from "./types/inputs.js";
import { checkedPage, pageOf } from "./types/pages.js";
import {
  nodeOf,
  PublicationStatusEnum,
  type RecordConnection,
  RecordKindEnum,
  RecordNode,
  Tombstone,
  tombstoneOf,
} from "./types/records.js";
import { BigIntScalar, DateTime } from "./types/scalars.js";

/**
 * The page of a list by filter: of one kind, of all, or of those that a record is linked with.
 * @throws as `selectRecords`
 */
export async function selectedPage(
  page: RecordsArguments,
  of: Pick<Parameters<typeof selectRecords>[1], "kind" | "linked">,
  context: Context,
): Promise<RecordConnection> {
  const { deps, caller, budget } = context;
  const range = checkedRange(page);
  // A part of what an answer may hold: a page that ends early still fits.
  const { MAX_PAGE_BYTES, GRAPHQL_MAX_BYTES } = deps.config;
  const found = await budget.queued(() =>
    selectRecords(
      deps,
      {
        ...of,
        filter: page.filter ?? null,
        order: orderOf(page),
        orderParameter: "orderBy",
        range: { ...range, bytes: Math.min(MAX_PAGE_BYTES, GRAPHQL_MAX_BYTES / 4) },
      },
      caller,
    ),
  );
  const nodes = found.items.map(nodeOf);
  await budget.hold(nodes);
  const { backward = false, after, before } = range;
  return {
    ...pageOf(
      nodes,
      found.positions,
      backward ? before !== undefined : found.more,
      after,
      backward ? found.more : after !== undefined,
    ),
    totalCount: found.count,
  };
}

const KEY_NAMES: Partial<Record<StatisticsKey, string>> = {
  status: "PUBLICATION_STATUS",
  licence: "LICENSE",
};
export const StatisticsKeyEnum = Object.fromEntries(
  STATISTICS_KEYS.map((key) => [KEY_NAMES[key] ?? constantOf(key), key]),
) as Record<string, StatisticsKey>;
registerEnumType(StatisticsKeyEnum, {
  name: "RecordStatisticsKey",
  description: "What records are counted by.",
  valuesConfig: {
    KIND: { description: "Kind of the record." },
    MONTH: { description: "Month of creation, UTC." },
    PUBLICATION_YEAR: { description: "Year in which it was published." },
    OWNER: { description: "Owner of the record." },
    KEYWORD: { description: "Each keyword: a record counts once for each that it has." },
    PUBLICATION_STATUS: { description: "Publication status." },
    FORMAT: { description: "Media type of the stored content." },
    LICENSE: { description: "Licence." },
    SCORE_BAND: { description: "Band of a crate's stored AI-readiness score." },
    CRATE: { description: "Crate that the record came with." },
    PROJECT: { description: "Each project: a record counts once for each that it belongs to." },
  },
});

const ScoreBandEnum = Object.fromEntries(SCORE_BANDS.map(([band]) => [band, band])) as Record<
  string,
  ScoreBand
>;
registerEnumType(ScoreBandEnum, {
  name: "ScoreBand",
  description: "Band of an AI-readiness score, in per cent.",
  valuesConfig: {
    FROM_80: { description: "80 to 100." },
    FROM_60: { description: "60 to 79." },
    FROM_40: { description: "40 to 59." },
    FROM_20: { description: "20 to 39." },
    BELOW_20: { description: "0 to 19." },
  },
});

@ObjectType({
  description:
    "Records that agree in what they are counted by. Fields of other keys are null; so is the " +
    "value of records that have none.",
  simpleResolvers: true,
})
class RecordStatisticsGroup {
  @Field(() => RecordKindEnum, { nullable: true, description: "Kind of the records." })
  kind!: KindName | null;
  @Field(() => String, { nullable: true, description: "For example 2026-01." })
  month!: string | null;
  @Field(() => String, { nullable: true, description: "For example 2026." })
  publicationYear!: string | null;
  @Field(() => RecordNode, { nullable: true, description: "Owner of the records." }) owner!:
    (() => Promise<RecordNode>) | null;
  @Field(() => String, { nullable: true, description: "In lower case." }) keyword!: string | null;
  @Field(() => PublicationStatusEnum, { nullable: true, description: "Publication status." })
  publicationStatus!: PublicationStatusEnum | null;
  @Field(() => String, { nullable: true, description: "Media type, in lower case." })
  format!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "SPDX identifier of a known licence, else the licence as stated.",
  })
  license!: string | null;
  @Field(() => ScoreBandEnum, { nullable: true, description: "Band of their score." })
  scoreBand!: ScoreBand | null;
  @Field(() => RecordNode, { nullable: true, description: "Crate that the records came with." })
  crate!: (() => Promise<RecordNode>) | null;
  @Field(() => RecordNode, { nullable: true, description: "Project of the records." }) project!:
    (() => Promise<RecordNode>) | null;
  @Field(() => Int, { description: "Records of the group." }) count!: number;
  @Field(() => BigIntScalar, {
    description: "Bytes of their stored content, added up only when asked for.",
  })
  bytes!: () => Promise<number>;
  @Field(() => Float, {
    nullable: true,
    description: "Bytes of a record, on average of those that have stored content.",
  })
  averageBytes!: () => Promise<number | null>;
  @Field(() => Float, {
    nullable: true,
    description: "AI-readiness score in per cent, on average of the crates with one.",
  })
  averageScore!: () => Promise<number | null>;
}

@ObjectType({ description: "Counts, sums and averages of records.", simpleResolvers: true })
class RecordStatistics {
  @Field(() => [RecordStatisticsGroup], { description: "The largest first." })
  groups!: RecordStatisticsGroup[];
  @Field({ description: "There are more groups than were asked for." }) hasMore!: boolean;
}

/** Counts of records by filter. */
@Resolver()
export class StatisticsResolver {
  @Query(() => RecordStatistics, {
    description:
      "Counts the records that a filter selects, by up to three keys together. Users are counted " +
      "only for callers with a token.",
  })
  async recordStatistics(
    @Arg("by", () => [StatisticsKeyEnum], { description: "What to count by, at most three." })
    by: StatisticsKey[],
    @Ctx() context: Context,
    @Arg("filter", () => RecordFilter, { nullable: true, description: "Which records count." })
    filter?: RecordFilter | null,
    @Arg("first", () => Int, { defaultValue: 100, description: "Groups; at most 1000." })
    first = 100,
  ): Promise<RecordStatistics> {
    const { deps, caller, budget, loaders } = context;
    const found = await budget.queued(() =>
      recordStatistics(deps, { filter: filter ?? null, by, limit: first }, caller),
    );
    const keyOf = (values: readonly (string | null)[]): string => JSON.stringify(values);
    let sums: Promise<Map<string, StatisticsGroup>> | undefined;
    const sumsOf = async (values: readonly (string | null)[]): Promise<StatisticsGroup> => {
      sums ??= budget
        .queued(() => found.sums())
        .then(({ groups }) => new Map(groups.map((group) => [keyOf(group.values), group])));
      const none = { values: [], records: 0, bytes: 0, averageBytes: null, averageScore: null };
      return (await sums).get(keyOf(values)) ?? none;
    };
    return {
      hasMore: found.more,
      groups: found.groups.map(({ values, records }) => {
        const value = (key: StatisticsKey): string | null => values[by.indexOf(key)] ?? null;
        const node = (key: StatisticsKey): (() => Promise<RecordNode>) | null => {
          const ark = value(key);
          return ark === null ? null : () => loaders.node(ark);
        };
        return {
          kind: value("kind") as KindName | null,
          month: value("month"),
          publicationYear: value("publicationYear"),
          owner: node("owner"),
          keyword: value("keyword"),
          publicationStatus: value("status") as PublicationStatusEnum | null,
          format: value("format"),
          license: value("licence"),
          scoreBand: value("scoreBand") as ScoreBand | null,
          crate: node("crate"),
          project: node("project"),
          count: records,
          bytes: async () => (await sumsOf(values)).bytes,
          averageBytes: async () => (await sumsOf(values)).averageBytes,
          averageScore: async () => (await sumsOf(values)).averageScore,
        };
      }),
    };
  }
}

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
  @Field(() => DateTime, { description: "When the record was last changed." })
  modifiedAt!: Date;
  @Field(() => Tombstone, { nullable: true, description: "What a deletion says of itself." })
  tombstone!: Tombstone | null;
}

@ObjectType("RecordChanges", {
  description: "Changes that are sent together, in the order of their commits.",
  simpleResolvers: true,
})
class RecordChangesType {
  @Field(() => BigIntScalar, {
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
  tombstone: tombstone ? tombstoneOf(tombstone) : null,
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
    @Arg("afterSequence", () => BigIntScalar, {
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
    description: "The record as it is now, also after later changes; null when deleted.",
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
