import { GraphQLJSON } from "graphql-scalars";
import {
  Arg,
  Ctx,
  Field,
  Float,
  Int,
  ObjectType,
  Query,
  registerEnumType,
  Resolver,
} from "type-graphql";
import { ValidationError, type ValidationItem } from "../../errors.js";
import { networkOf } from "../../http/client.js";
import {
  find,
  type Found,
  kindOf,
  type SearchMode,
  type SearchRequest,
} from "../../services/search/search.js";
import { answerQuery, type SparqlRequest } from "../../services/sparql/answer.js";
import type { OpenAnswer } from "../../storage/graph/port.js";
import type { Context } from "./context.js";
import { RecordNode } from "./types/records.js";

/**
 * SPARQL for anyone. GraphQL has no field for it: the SPARQL endpoint serves that language better.
 */
export class SparqlResolver {
  /** @throws ServiceError as `answerQuery` of the use cases */
  query(
    request: Omit<SparqlRequest, "caller" | "shared">,
    { deps, caller, address, ownAddress }: Context,
  ): Promise<OpenAnswer> {
    return answerQuery(
      {
        ...request,
        caller: caller?.user ?? `address ${networkOf(address)}`,
        shared: caller === null && !ownAddress,
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
});

@ObjectType({ description: "A record that was found.", simpleResolvers: true })
class SearchHit {
  @Field(() => RecordNode) record!: () => Promise<RecordNode>;
  @Field(() => Float, { description: "Above 0; comparable within one answer only." })
  score!: number;
  @Field(() => GraphQLJSON, {
    description: "By field, as HTML: matches are in em, everything else is escaped.",
  })
  highlight!: object;
}
@ObjectType("SearchAnswer", {
  description: "The results of a search, the best first.",
  simpleResolvers: true,
})
class SearchAnswerType {
  @Field() query!: string;
  @Field(() => Int, { description: "Records found in all." }) totalResults!: number;
  @Field(() => Int, {
    description:
      "How many of them were ranked: all, or of very many a few thousand, chosen among the newest, " +
      "first those with the words in name or keywords. The others follow them.",
  })
  rankedResults!: number;
  @Field(() => [SearchHit]) results!: SearchHit[];
  @Field(() => Float) timeTakenMs!: number;
}

/** Search in all records. REST calls {@link SearchResolver.search} as well. */
@Resolver()
export class SearchResolver {
  /** @throws ValidationError; ServiceError `QUERY_TIMEOUT` */
  search(request: SearchRequest, { deps }: Context): Promise<Found> {
    return find(deps, request);
  }

  @Query(() => SearchAnswerType, {
    name: "search",
    description:
      'Records by their name, keywords and description. The query is words, "phrases", prefixes ' +
      "(`gen*`), exclusions (`-mouse`) and fields (`name:`, `description:`, `keyword:`).",
  })
  async find(
    @Arg("query", () => String) query: string,
    @Ctx() context: Context,
    @Arg("mode", () => SearchModeEnum, { defaultValue: SearchModeEnum.BASIC }) mode: SearchMode,
    @Arg("type", () => String, {
      nullable: true,
      description: "Only records of this kind, e.g. Dataset.",
    })
    type?: string,
    @Arg("first", () => Int, { defaultValue: 10, description: "At most 100." }) first = 10,
    @Arg("offset", () => Int, { defaultValue: 0, description: "At most 10000." }) offset = 0,
  ): Promise<SearchAnswerType> {
    const { total, ranked, found, ms } = await this.search(
      {
        query,
        mode,
        limit: first,
        offset,
        ...(type == null ? {} : { kind: kindOf(type) }),
      },
      context,
    );
    return {
      query,
      totalResults: total,
      rankedResults: ranked,
      timeTakenMs: ms,
      results: found.map(({ ark, score, highlight }) => ({
        score,
        highlight,
        record: () => context.loaders.node(ark),
      })),
    };
  }
}

/**
 * `query`, `type`, `limit` and `offset` of a query string.
 * @throws ValidationError with all that is wrong
 */
export function searchParameters({
  query,
  type,
  ...rest
}: Readonly<Record<string, string | undefined>>): Omit<SearchRequest, "mode"> {
  const problems: ValidationItem[] = [];
  const numbers = { limit: 10, offset: 0 };
  if (query === undefined)
    problems.push({ loc: ["query", "query"], msg: "Field required", type: "missing" });
  for (const name of ["limit", "offset"] as const) {
    const raw = rest[name];
    if (raw === undefined) continue;
    if (/^[+-]?\d{1,15}$/.test(raw)) numbers[name] = Number(raw);
    else
      problems.push({
        loc: ["query", name],
        msg: "Input should be a valid integer, unable to parse string as an integer",
        type: "int_parsing",
      });
  }
  if (problems.length > 0) throw new ValidationError(problems);
  return { query: query!, ...numbers, ...(type === undefined ? {} : { kind: kindOf(type) }) };
}
