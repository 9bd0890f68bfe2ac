import { searchParameters, SearchResolver } from "../graphql/resolvers/query-resolver.js";
import { sendJson } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import type { JsonObject } from "../model/field.js";
import { KIND_NAMES } from "../model/kind.js";
import { STATISTICS_KEYS } from "../services/records/select.js";
import { MOST_FACET_VALUES, searchAnswer, type SearchMode } from "../services/search/search.js";
import { type ContractRow, json, query, schemaRef } from "./contract/rows.js";
import type { Handler, Handlers } from "./request.js";
import { FILTERS } from "./selections.js";

const { "@id": ID, "@type": TYPE, name, description } = EXAMPLES.dataset;
const EXAMPLE: JsonObject = {
  query: "cell counts",
  total_results: 1,
  time_taken_ms: 1.2,
  results: [
    {
      "@id": ID!,
      "@type": TYPE!,
      name: name!,
      description: description!,
      keywords: [],
      score: 7.1,
      highlight: { name: "<em>Cell</em> <em>counts</em>" },
    },
  ],
};

const FLAG: JsonObject = { type: "boolean", default: false };

const searching = (mode: "basic" | "semantic", summary: string, about: string): ContractRow => ({
  method: "get",
  path: `/search/${mode}`,
  operationId: `search_${mode}`,
  tag: "search",
  summary,
  description:
    `${about} Searched are the names, keywords and descriptions that anyone may see, of ` +
    'records that are not deleted. The query is words, and may have operators: `"cell ' +
    'line"` (words next to each other), `gen*` (words that begin so), `-mouse` (not these ' +
    "records), `name:`, `description:` or `keyword:` before a word or phrase (in that field). " +
    "What cannot be an operator is read as words. Conditions such as `kind` and `keyword` narrow " +
    "the records that are searched, as those of `GET /records` do.",
  parameters: [
    {
      ...query(
        "query",
        "Words to search for, and operators; at most SEARCH_MAX_QUERY_BYTES.",
        { type: "string", minLength: 1 },
        "cell counts",
      ),
      required: true,
    },
    query(
      "type",
      `Only records of this kind: ${KIND_NAMES.join(", ")}; a type such as \`Dataset\` or ` +
        "`evi:Dataset` is accepted too.",
      { type: "string" },
    ),
    query("limit", "Results in one answer.", {
      type: "integer",
      minimum: 1,
      maximum: 100,
      default: 10,
    }),
    query("offset", "Number of results to skip.", {
      type: "integer",
      minimum: 0,
      maximum: 10_000,
      default: 0,
    }),
    query(
      "cursor",
      "Cursor of the page: take it from the `Link` header of the previous page. `offset` counts " +
        "from there.",
      { type: "string" },
    ),
    ...FILTERS,
    query(
      "facets",
      "Also count all results by these, separated by commas: " +
        `${STATISTICS_KEYS.join(", ")}. Of more than 50,000 results the newest are counted.`,
      { type: "string" },
    ),
    query("facetLimit", "Values of one facet.", {
      type: "integer",
      minimum: 1,
      maximum: MOST_FACET_VALUES,
      default: 10,
    }),
    query("fragments", "Also return matches as pieces of plain text.", FLAG),
    query("explain", "Also return what made each score.", FLAG),
  ],
  answer: {
    description: "The results, the best first.",
    content: json(schemaRef("SearchAnswer"), EXAMPLE, "SearchAnswer"),
    headers: ["Link"],
  },
  refusals: ["QUERY_TIMEOUT"],
});

export const SEARCH: readonly ContractRow[] = [
  searching(
    "basic",
    "Records that contain all the words",
    "Words are compared by their stems, without case and accents. When no record " +
      "contains all of them, similarly spelt words count for words that no record contains.",
  ),
  searching(
    "semantic",
    "Records about the words",
    "Finds records that contain any of the words and phrases, and records that share words with the " +
      "best of those, because similar records may use other words. Where the registry has " +
      "an embeddings server, it also finds records that are near the query in meaning, and " +
      "`score` adds both. Without one no model is used, and related words are derived from " +
      "the records themselves.",
  ),
];

const resolver = new SearchResolver();

const searchBy =
  (mode: SearchMode): Handler =>
  async ({ req, res, query: asked, path, context }) => {
    const { fragments, ...parameters } = searchParameters(asked);
    const request = { ...parameters, mode };
    const found = await resolver.search(request, context);
    const headers: Record<string, string> = { "Cache-Control": "no-store" };
    const cursor = found.found.at(-1)?.cursor;
    if (found.hasNext && cursor !== undefined) {
      // The cursor counts from the beginning.
      const { offset: _, ...rest } = asked as Record<string, string>;
      const next = new URLSearchParams({ ...rest, cursor });
      headers["Link"] = `<${context.deps.baseUrl()}${path}?${next}>; rel="next"`;
    }
    sendJson(req, res, await searchAnswer(context.deps, request.query, found, { fragments }), {
      headers,
    });
  };

export const searchOperations: Handlers = {
  search_basic: searchBy("basic"),
  search_semantic: searchBy("semantic"),
};
