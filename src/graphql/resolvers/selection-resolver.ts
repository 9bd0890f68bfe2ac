import {
  Arg,
  Ctx,
  Field,
  Float,
  Int,
  ObjectType,
  Query,
  Resolver,
  registerEnumType,
} from "type-graphql";
import type { KindName } from "../../model/kind.js";
import { recordStatistics, selectRecords } from "../../services/records/select.js";
import {
  SCORE_BANDS,
  type ScoreBand,
  STATISTICS_KEYS,
  type StatisticsKey,
} from "../../storage/records/selection-port.js";
import type { Context } from "./context.js";
import { RecordKindEnum } from "./types/enums.js";
import { checkedRange, orderOf, RecordFilter, type RecordsArguments } from "./types/inputs.js";
import { nodeOf, PublicationStatusEnum, pageOf, RecordNode } from "./types/records.js";

/**
 * The page of a list by filter, of one kind or of all.
 * @throws as `selectRecords`
 */
export async function selectedPage(
  page: RecordsArguments,
  kind: KindName | undefined,
  context: Context,
): Promise<object> {
  const { deps, caller, loaders } = context;
  const range = checkedRange(page);
  // A part of what an answer may hold: a page that ends early still fits.
  const { MAX_PAGE_BYTES, GRAPHQL_MAX_BYTES } = deps.config;
  const found = await loaders.queued(() =>
    selectRecords(
      deps,
      {
        ...(kind === undefined ? {} : { kind }),
        filter: page.filter ?? null,
        order: orderOf(page),
        range: { ...range, bytes: Math.min(MAX_PAGE_BYTES, GRAPHQL_MAX_BYTES / 4) },
      },
      caller,
    ),
  );
  const nodes = found.items.map(nodeOf);
  await loaders.hold(nodes);
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

export const StatisticsKeyEnum = Object.fromEntries(
  STATISTICS_KEYS.map((key) => [key.replace(/[A-Z]/g, "_$&").toUpperCase(), key]),
) as Record<string, StatisticsKey>;
registerEnumType(StatisticsKeyEnum, {
  name: "RecordStatisticsKey",
  description: "What records are counted by.",
  valuesConfig: {
    KIND: { description: "Kind of the record." },
    MONTH: { description: "Month of creation, UTC." },
    OWNER: { description: "Owner of the record." },
    KEYWORD: { description: "Each keyword: a record counts once for each that it has." },
    STATUS: { description: "Publication status." },
    FORMAT: { description: "Media type of the stored content." },
    LICENCE: { description: "Licence." },
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
  @Field(() => RecordNode, { nullable: true, description: "Owner of the records." }) owner!:
    (() => Promise<RecordNode>) | null;
  @Field(() => String, { nullable: true, description: "In lower case." }) keyword!: string | null;
  @Field(() => PublicationStatusEnum, { nullable: true, description: "Publication status." })
  status!: PublicationStatusEnum | null;
  @Field(() => String, { nullable: true, description: "Media type, in lower case." })
  format!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "SPDX identifier where the licence is known, else the licence as it is stated.",
  })
  licence!: string | null;
  @Field(() => ScoreBandEnum, { nullable: true, description: "Band of their score." })
  scoreBand!: ScoreBand | null;
  @Field(() => RecordNode, { nullable: true, description: "Crate that the records came with." })
  crate!: (() => Promise<RecordNode>) | null;
  @Field(() => RecordNode, { nullable: true, description: "Project of the records." }) project!:
    (() => Promise<RecordNode>) | null;
  @Field(() => Int, { description: "Records of the group." }) count!: number;
  @Field(() => Float, {
    description: "Bytes of their stored content, added up only when asked for.",
  })
  bytes!: () => Promise<number>;
}

@ObjectType({ description: "Counts of records.", simpleResolvers: true })
class RecordStatistics {
  @Field(() => [RecordStatisticsGroup], { description: "The largest first." })
  groups!: RecordStatisticsGroup[];
  @Field({ description: "There are more groups than were asked for." }) hasMore!: boolean;
}

/** Counts of records by filter. */
@Resolver()
export class StatisticsResolver {
  /** @throws as `recordStatistics` */
  count(
    request: Parameters<typeof recordStatistics>[1],
    { deps, caller }: Context,
  ): ReturnType<typeof recordStatistics> {
    return recordStatistics(deps, request, caller);
  }

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
    const { loaders } = context;
    const found = await loaders.queued(() =>
      this.count({ filter: filter ?? null, by, limit: first }, context),
    );
    const keyOf = (values: readonly (string | null)[]): string => JSON.stringify(values);
    let sizes: Promise<Map<string, number>> | undefined;
    const bytesOf = async (values: readonly (string | null)[]): Promise<number> => {
      sizes ??= loaders
        .queued(() => found.bytes())
        .then(({ groups }) => new Map(groups.map((group) => [keyOf(group.values), group.bytes])));
      return (await sizes).get(keyOf(values)) ?? 0;
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
          owner: node("owner"),
          keyword: value("keyword"),
          status: value("status") as PublicationStatusEnum | null,
          format: value("format"),
          licence: value("licence"),
          scoreBand: value("scoreBand") as ScoreBand | null,
          crate: node("crate"),
          project: node("project"),
          count: records,
          bytes: () => bytesOf(values),
        };
      }),
    };
  }
}
