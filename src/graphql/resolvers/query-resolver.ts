import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  Float,
  Int,
  ObjectType,
  Query,
  Resolver,
  Root,
  registerEnumType,
} from "type-graphql";
import { ValidationError, type ValidationItem } from "../../errors.js";
import { networkOf } from "../../config/client.js";
import type { KindName } from "../../model/kind.js";
import { constantOf, KINDS } from "../../model/kinds.js";
import { health, readiness } from "../../services/health.js";
import { checkOneOf, listOf, wholeNumber } from "../../services/query-parameters.js";
import { filterParameters, STATISTICS_KEYS } from "../../services/records/select.js";
import {
  type FacetsRequest,
  facetsOf,
  find,
  kindOf,
  type SearchMode,
  type SearchRequest,
} from "../../services/search/search.js";
import { refusedToAnonymous } from "../../services/access/anonymous-store.js";
import { answerQuery, type SparqlRequest } from "../../services/sparql/answer.js";
import type { OpenAnswer } from "../../storage/graph/port.js";
import type { ScorePart, SearchedField } from "../../storage/records/port.js";
import type { StatisticsKey } from "../../storage/records/port/selection.js";
import type { Context } from "./context.js";
import { StatisticsKeyEnum } from "./selection-resolver.js";
import { RecordFilter } from "./types/inputs.js";
import { ABOUT_PAGE, PageInfo } from "./types/pages.js";
import { HealthStateEnum, RecordNode } from "./types/records.js";

/**
 * SPARQL for anyone. GraphQL has no field for it: the SPARQL endpoint serves that language better.
 */
export class SparqlResolver {
  /**
   * @throws ServiceError as `answerQuery` of the use cases; `FORBIDDEN` for a reader from whom a
   * review link hides names
   */
  query(
    request: Omit<SparqlRequest, "caller" | "shared" | "anonymous">,
    { deps, caller, address, ownAddress }: Context,
  ): Promise<OpenAnswer> {
    if (deps.review?.anonymous) return Promise.reject(refusedToAnonymous());
    return answerQuery(
      {
        ...request,
        caller: caller?.user ?? `address ${networkOf(address)}`,
        shared: caller === null && !ownAddress,
        anonymous: caller === null,
      },
      deps,
    );
  }
}

enum SearchModeEnum {
  BASIC = "basic",
  SEMANTIC = "semantic",
}
registerEnumType(SearchModeEnum, {
  name: "SearchMode",
  description:
    "BASIC: every word must occur, by its stem. SEMANTIC: any word, words that are " +
    "typical of the best results, and records near in meaning where the registry has an " +
    "embeddings server.",
  valuesConfig: {
    BASIC: { description: "Every word must occur, by its stem." },
    SEMANTIC: { description: "Any word counts, typical words and nearness in meaning too." },
  },
});

enum SearchedFieldEnum {
  NAME = "name",
  KEYWORDS = "keywords",
  DESCRIPTION = "description",
}
registerEnumType(SearchedFieldEnum, {
  name: "SearchedField",
  description: "A field that a search may name and highlight.",
  valuesConfig: {
    NAME: { description: "Name of the record." },
    KEYWORDS: { description: "Its keywords." },
    DESCRIPTION: { description: "Its description." },
  },
});
enum ScoreReasonEnum {
  TERM = "term",
  RELATED = "related",
  NEARNESS = "nearness",
}
registerEnumType(ScoreReasonEnum, {
  name: "ScoreReason",
  description:
    "TERM: a word or term of the query. RELATED: a word that the best results share. NEARNESS: " +
    "how near the record is in meaning, by the embeddings server.",
  valuesConfig: {
    TERM: { description: "A word or term of the query." },
    RELATED: { description: "A word that the best results share." },
    NEARNESS: { description: "How near the record is in meaning." },
  },
});

@ObjectType({ description: "A part of a text: a match, or the text around it." })
class TextPart {
  @Field({ description: "Plain text, not HTML." }) text!: string;
  @Field({ description: "Whether it is a match." }) found!: boolean;
}
@ObjectType({ description: "Where a field matches.", simpleResolvers: true })
class SearchFragment {
  @Field(() => SearchedFieldEnum, { description: "The field." }) field!: SearchedField;
  @Field(() => [TextPart], {
    description: "In their order; together they are a piece of the field.",
  })
  parts!: TextPart[];
}
@ObjectType("ScorePart", { description: "A part of a score.", simpleResolvers: true })
class ScorePartType {
  @Field(() => ScoreReasonEnum, { description: "What it is for." }) reason!: ScorePart["reason"];
  @Field(() => String, { nullable: true, description: "The term or its stem; null for nearness." })
  text!: string | null;
  @Field(() => Float, { description: "How much it adds." }) score!: number;
}

@ObjectType({ description: "A record that was found, and why.", simpleResolvers: true })
class SearchEdge {
  @Field(() => RecordNode, { description: ABOUT_PAGE.node }) node!: () => Promise<RecordNode>;
  @Field({ description: "Pass it as after for the results behind this one." }) cursor!: string;
  @Field(() => Float, { description: "Above 0; comparable within one answer only." })
  score!: number;
  @Field(() => [SearchFragment], { description: "Where it matches, by field." })
  fragments!: SearchFragment[];
  @Field(() => [ScorePartType], {
    nullable: true,
    description:
      "Parts that add up to the score, the largest first; null without the argument explain, " +
      "empty for a record that was not ranked.",
  })
  explanation!: ScorePartType[] | null;
}
@ObjectType("SearchFacetValue", {
  description: "Results that agree in a value.",
  simpleResolvers: true,
})
class SearchFacetValue {
  @Field({ description: "As a filter takes it, except months and bands of scores." })
  value!: string;
  @Field(() => String, {
    nullable: true,
    description: "For people: the name of an owner, the type of a kind, or null.",
  })
  label!: string | null;
  @Field(() => Int, { description: "Results that have it." }) count!: number;
}
@ObjectType("SearchFacet", {
  description: "Counts of the results by one of their values.",
  simpleResolvers: true,
})
class SearchFacetType {
  @Field(() => StatisticsKeyEnum, { description: "What is counted by." }) by!: StatisticsKey;
  @Field(() => [SearchFacetValue], {
    description:
      "Those of most results first. A result without a value counts nowhere, one with several " +
      "keywords at each.",
  })
  values!: SearchFacetValue[];
  @Field({ description: "There are more values than were asked for." }) hasMore!: boolean;
  @Field({ description: "All results were counted; else the newest 50,000 of them." })
  exact!: boolean;
}
@ObjectType("SearchConnection", {
  description: "The results of a search, the best first.",
  simpleResolvers: true,
})
class SearchConnectionType {
  @Field({ description: "The query as it was sent." }) query!: string;
  @Field(() => Int, { description: "Records found in all." }) totalCount!: number;
  @Field({
    description: "All were counted; else there are more than totalCount (60,000).",
  })
  totalCountIsExact!: boolean;
  @Field(() => Int, {
    description:
      "How many of them were ranked: all, or of very many a few thousand, chosen among the newest, " +
      "first those with the words in name or keywords. The others follow them.",
  })
  rankedCount!: number;
  @Field(() => String, {
    nullable: true,
    description:
      "The query with known words in place of those that no record has: it was answered. Null " +
      "where all words are known.",
  })
  didYouMean!: string | null;
  @Field({
    description: "No record has all words; these have some of them, the best first.",
  })
  matchesAnyWord!: boolean;
  @Field(() => [SearchEdge], { description: ABOUT_PAGE.edges }) edges!: () => Promise<SearchEdge[]>;
  @Field(() => [RecordNode], { description: ABOUT_PAGE.nodes }) nodes!: () => Promise<RecordNode[]>;
  @Field(() => PageInfo, { description: ABOUT_PAGE.pageInfo }) pageInfo!: () => Promise<PageInfo>;
  /** What {@link SearchResolver.facets} counts again. */
  request!: SearchRequest;
}

@ArgsType()
class SearchArgs {
  @Field(() => String, { description: "What to search for." }) query!: string;
  @Field(() => SearchModeEnum, {
    defaultValue: SearchModeEnum.BASIC,
    description: "How to match.",
  })
  mode!: SearchMode;
  @Field(() => RecordFilter, {
    nullable: true,
    description: "Only these records are found, ranked and counted.",
  })
  filter?: RecordFilter | null;
  @Field(() => Int, { defaultValue: 10, description: "At most 100." }) first!: number;
  @Field(() => Int, { defaultValue: 0, description: "At most 10000." }) offset!: number;
  @Field(() => String, {
    nullable: true,
    description: "endCursor of the page before; offset then counts from there.",
  })
  after?: string | null;
  @Field(() => Boolean, {
    defaultValue: false,
    description: "Whether to return what made each score.",
  })
  explain!: boolean;
}

/** Search in all records. */
@Resolver(() => SearchConnectionType)
export class SearchResolver {
  @Query(() => SearchConnectionType, {
    name: "search",
    description:
      'Records by their name, keywords and description. The query is words, "phrases", prefixes ' +
      "(`gen*`), exclusions (`-mouse`) and fields (`name:`, `description:`, `keyword:`).",
  })
  async find(
    @Args(() => SearchArgs) asked: SearchArgs,
    @Ctx() context: Context,
  ): Promise<SearchConnectionType> {
    const { query, mode, filter, first, offset, after, explain } = asked;
    const request: SearchRequest = {
      query,
      mode,
      limit: first,
      offset,
      after: after ?? null,
      explain,
      filter: filter ?? null,
    };
    const answer = await find(context.deps, request);
    const { total, exact, ranked, didYouMean, matchesAnyWord } = answer;
    const { found, hasNext, hasPrevious } = answer;
    const hits = found.map(({ ark, score, cursor, fragments, parts }): SearchEdge => ({
      score,
      node: () => context.loaders.node(ark),
      cursor,
      fragments: (Object.entries(fragments) as [SearchedField, TextPart[]][]).map(
        ([field, texts]) => ({ field, parts: texts }),
      ),
      explanation: parts ?? null,
    }));
    let fitting: Promise<SearchEdge[]> | undefined;
    // A page of long records ends early, as the page of a list does. Who asks for counts alone reads
    // no record.
    const shown = (): Promise<SearchEdge[]> =>
      (fitting ??= context.loaders
        .fitting(found.map(({ ark }) => ark))
        .then((count) => hits.slice(0, count)));
    return {
      query,
      totalCount: total,
      totalCountIsExact: exact,
      rankedCount: ranked,
      didYouMean,
      matchesAnyWord,
      nodes: async () => Promise.all((await shown()).map(({ node }) => node())),
      edges: shown,
      pageInfo: async () => {
        const page = await shown();
        return {
          hasNextPage: hasNext || page.length < hits.length,
          hasPreviousPage: hasPrevious,
          startCursor: page[0]?.cursor ?? null,
          endCursor: page.at(-1)?.cursor ?? null,
        };
      },
      request,
    };
  }

  @FieldResolver(() => [SearchFacetType], {
    description: "Counts of all results by their values, in the requested order.",
  })
  async facets(
    @Root() { request }: SearchConnectionType,
    @Ctx() { deps, budget }: Context,
    @Arg("by", () => [StatisticsKeyEnum], { description: "What to count by." })
    by: StatisticsKey[],
    @Arg("first", () => Int, { defaultValue: 10, description: "Values of each; at most 100." })
    first = 10,
  ): Promise<SearchFacetType[]> {
    const facets = await budget.queued(() => facetsOf(deps, request, { by, limit: first }));
    return facets.map(({ by: key, values, more, exact }) => ({
      by: key,
      // Kinds as the enum of filters names them.
      values:
        key === "kind"
          ? values.map((each) => ({
              ...each,
              value: constantOf(KINDS[each.value as KindName].typeName),
            }))
          : values,
      hasMore: more,
      exact,
    }));
  }
}

/** Values of a facet of a query string that names no other number. */
const FACET_VALUES = 10;

/**
 * The search of a query string, and which parts its answer has beside the usual ones.
 * @throws ValidationError with all that is wrong
 */
export function searchParameters(
  parameters: Readonly<Record<string, string | undefined>>,
): Omit<SearchRequest, "mode"> & { fragments: boolean } {
  const { query, type, cursor } = parameters;
  const problems: ValidationItem[] = [];
  if (query === undefined)
    problems.push({ loc: ["query", "query"], msg: "Field required", type: "missing" });
  const number = (name: string, usual: number): number => {
    const raw = parameters[name];
    return raw === undefined ? usual : (wholeNumber(problems, name, raw) ?? usual);
  };
  const flag = (name: string): boolean => {
    const raw = parameters[name] ?? "false";
    checkOneOf(problems, name, raw, ["true", "false"]);
    return raw === "true";
  };
  const by = listOf(parameters["facets"]) ?? [];
  for (const key of by) checkOneOf(problems, "facets", key, STATISTICS_KEYS);
  const request = {
    query: query ?? "",
    limit: number("limit", 10),
    offset: number("offset", 0),
    explain: flag("explain"),
    fragments: flag("fragments"),
    filter: filterParameters(parameters, problems),
  };
  const facets: FacetsRequest = {
    by: by as StatisticsKey[],
    limit: number("facetLimit", FACET_VALUES),
  };
  if (problems.length > 0) throw new ValidationError(problems);
  return {
    ...request,
    ...(by.length === 0 ? {} : { facets }),
    ...(cursor === undefined ? {} : { after: cursor }),
    ...(type === undefined ? {} : { kind: kindOf(type) }),
  };
}

@ObjectType("HealthCheck", {
  description: "State of one part of the service.",
  simpleResolvers: true,
})
class HealthCheckType {
  @Field({ description: "A part of the service: records, index, objects, jobs and others." })
  part!: string;
  @Field(() => HealthStateEnum, { description: "Its state." }) state!: string;
}
@ObjectType("Health", { description: "State of the node that answers.", simpleResolvers: true })
class HealthType {
  @Field({ description: "Every part that the service cannot do without works." })
  ok!: boolean;
  @Field({ description: "The node can answer requests." }) ready!: boolean;
  @Field(() => [HealthCheckType], { description: "States of the parts." })
  checks!: HealthCheckType[];
  @Field(() => Int, {
    nullable: true,
    description: "Commits that the graph index has yet to apply; null: not known.",
  })
  lag!: number | null;
  @Field(() => String, {
    nullable: true,
    description: "What the operator should set, where the graph has outgrown its engine.",
  })
  advice!: string | null;
}

@Resolver()
export class HealthResolver {
  @Query(() => HealthType, { name: "health", description: "State of the node that answers." })
  async health(@Ctx() { deps }: Context): Promise<HealthType> {
    const [state, { status }] = await Promise.all([health(deps), readiness(deps)]);
    return {
      ok: state.status === "healthy",
      ready: status === "ready",
      checks: Object.entries(state.checks).map(([part, check]) => ({ part, state: check })),
      lag: state.lag,
      advice: state.advice ?? null,
    };
  }
}
