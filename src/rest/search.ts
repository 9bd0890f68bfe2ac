import { searchParameters, SearchResolver } from "../graphql/resolvers/query-resolver.js";
import { sendJson } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import type { JsonObject } from "../model/field.js";
import { KIND_NAMES } from "../model/kind.js";
import { searchAnswer, type SearchMode } from "../services/search/search.js";
import { type ContractRow, json, query, schemaRef } from "./contract/rows.js";
import type { Handler, Handlers } from "./request.js";

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
    "What cannot be an operator is read as words.",
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
  ],
  answer: {
    description: "The results, the best first.",
    content: json(schemaRef("SearchAnswer"), EXAMPLE, "SearchAnswer"),
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
  async ({ req, res, query, context }) => {
    const request = { ...searchParameters(query), mode };
    const found = await resolver.search(request, context);
    sendJson(req, res, await searchAnswer(context.deps, request.query, found), {
      headers: { "Cache-Control": "no-store" },
    });
  };

export const searchOperations: Handlers = {
  search_basic: searchBy("basic"),
  search_semantic: searchBy("semantic"),
};
