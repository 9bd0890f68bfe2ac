/** Finding records: by words, and in lists by filter. */
import { SearchResolver, searchParameters } from "../graphql/resolvers/query-resolver.js";
import { RecordResolver } from "../graphql/resolvers/record-resolver.js";
import { StatisticsResolver } from "../graphql/resolvers/selection-resolver.js";
import { sendJson, streamJsonArray } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import type { JsonObject } from "../model/field.js";
import { KIND_NAMES, PUBLICATION_STATUSES } from "../model/kind.js";
import { KINDS } from "../model/kinds.js";
import { tombstoneMembers } from "../services/records/find.js";
import {
  ORDERS,
  STATISTICS_KEYS,
  selectionParameters,
  statisticsParameters,
} from "../services/records/select.js";
import { documentBytes, viewsOf } from "../services/records/view.js";
import { MOST_FACET_VALUES, type SearchMode, searchAnswer } from "../services/search/search.js";
import type { StoredRecord } from "../storage/records/port.js";
import { type ContractRow, json, query, schemaRef } from "./contract/rows.js";
import { recordExample } from "./contract/schemas.js";
import { type Handler, type Handlers, linkToNext } from "./request.js";

const text = { type: "string" };
const time = { type: "string", format: "date-time" };
const percent = { type: "integer", minimum: 0, maximum: 100 };

/** Conditions on records; all that are given must hold. */
const FILTERS: readonly JsonObject[] = [
  query("kind", `Kinds, separated by commas: ${KIND_NAMES.join(", ")}.`, text),
  query("name", "Part of the name, without case.", text),
  query("nameIs", "The whole name, without case.", text),
  query("nameStartsWith", "Beginning of the name, without case.", text),
  query("keyword", "One of the keywords, without case.", text),
  query("owner", "User, group, organization or project that owns the records: an ARK.", text),
  query("crate", "Crate that the records came with: an ARK.", text),
  query("used", "Records that used this one: an ARK.", text),
  query("generatedBy", "Records that this computation generated: an ARK.", text),
  query("partOf", "Records that are parts of this one: an ARK.", text),
  query("format", "Media types of the stored content, separated by commas.", text),
  query(
    "status",
    `Publication statuses, separated by commas: ${PUBLICATION_STATUSES.join(", ")}.`,
    text,
  ),
  query("createdSince", "Created at this time or later (ISO 8601).", time),
  query("createdBefore", "Created before this time.", time),
  query("modifiedSince", "Changed last at this time or later.", time),
  query("modifiedBefore", "Changed last before this time.", time),
  query(
    "deletedSince",
    "Deleted records, in place of others, deleted at this time or later. Only `kind`, `owner`, " +
      "`group`, `crate`, `describedBy` and times can be combined with it.",
    time,
  ),
  query("deletedBefore", "Deleted records, in place of others, deleted before this time.", time),
  query(
    "licence",
    "Licences, separated by commas: SPDX identifiers, or addresses. Both find a licence that is " +
      "known, however it is stated.",
    text,
  ),
  query(
    "scoreAtLeast",
    "Crates whose stored AI-readiness score has at least so many per cent.",
    percent,
  ),
  query("scoreBelow", "Crates whose stored AI-readiness score has fewer per cent.", percent),
  query("text", "A query in the language of search, without corrections of its spelling.", text),
  query(
    "project",
    "Records of this project: those that it owns or states, that are parts of it, or that name " +
      "it as `sourceProject`.",
    text,
  ),
  query(
    "group",
    "Records that this group, organization or project owns, or one of its members: an ARK.",
    text,
  ),
  query(
    "describedBy",
    "Records that a crate describes: those that came with it, and those that it uses besides.",
    text,
  ),
];

export const SELECTIONS: readonly ContractRow[] = [
  {
    method: "get",
    path: "/records",
    operationId: "list_records",
    tag: "records",
    summary: "Records of all kinds by filter",
    description:
      "All conditions must hold. GraphQL's `records` combines them with `and`, `or` and `not`. " +
      "Users are among the records only for callers with a token. Of a deleted record the list " +
      "has its identifier, kind, revision and tombstone.",
    parameters: [
      ...FILTERS,
      query("order", "Order of the list; `-` reverses it.", {
        type: "string",
        enum: [...ORDERS],
        default: "created",
      }),
      query("limit", "Records in one page.", {
        type: "integer",
        minimum: 1,
        maximum: 1000,
        default: 100,
      }),
      query("cursor", "Cursor of the page: take it from the `Link` header of the previous page.", {
        type: "string",
      }),
    ],
    answer: {
      description: "One page.",
      content: json({ type: "array", items: schemaRef("EntityRecord") }, [
        recordExample(KINDS.dataset),
      ]),
      headers: ["Link", "X-Total-Count"],
    },
    token: "optional",
    refusals: ["QUERY_TIMEOUT"],
  },
  {
    method: "get",
    path: "/records/statistics",
    operationId: "list_record_statistics",
    tag: "records",
    summary: "Counts of records",
    description: "Counts the records that the conditions select, the largest groups first.",
    parameters: [
      {
        ...query(
          "by",
          `Up to three of ${STATISTICS_KEYS.join(", ")}, separated by commas.`,
          text,
          "kind,month",
        ),
        required: true,
      },
      ...FILTERS,
      query("limit", "Groups in the answer.", {
        type: "integer",
        minimum: 1,
        maximum: 1000,
        default: 100,
      }),
    ],
    answer: {
      description: "The groups; `hasMore` when there are more than were asked for.",
      content: json(schemaRef("RecordStatistics"), {
        groups: [{ kind: "dataset", month: "2024-05", count: 3, bytes: 2_048 }],
        hasMore: false,
      }),
    },
    token: "optional",
    refusals: ["QUERY_TIMEOUT"],
  },
];

const records = new RecordResolver();
const statistics = new StatisticsResolver();

/** What is shown of a deleted record. */
const tombstoneOf = (record: StoredRecord): Uint8Array =>
  documentBytes({
    "@id": record.ark,
    kind: record.kind,
    revision: record.revision,
    ...tombstoneMembers(record),
  });

const list: Handler = async (asking) => {
  const { req, res, context } = asking;
  const request = selectionParameters(asking.query);
  const found = await records.select(request, context);
  const [views, total] = await Promise.all([
    viewsOf(context.deps, found.items, context.caller),
    found.count(),
  ]);
  const last = found.positions.at(-1);
  const headers: Record<string, string> = {
    "X-Total-Count": String(total),
    Vary: "Authorization, Cookie",
  };
  if (found.more && last !== undefined)
    headers["Link"] = linkToNext(asking, {
      ...asking.query,
      limit: String(request.range.limit),
      cursor: last,
    });
  await streamJsonArray(
    req,
    res,
    (async function* () {
      yield views.map(({ record, bytes }) => (record.tombstone ? tombstoneOf(record) : bytes));
    })(),
    headers,
  );
};

const count: Handler = async ({ req, res, query: asked, context }) => {
  const request = statisticsParameters(asked);
  const found = await (await statistics.count(request, context)).bytes();
  sendJson(
    req,
    res,
    {
      groups: found.groups.map(({ values, records: number, bytes }) => ({
        ...Object.fromEntries(request.by.map((key, index) => [key, values[index] ?? null])),
        count: number,
        bytes,
      })),
      hasMore: found.more,
    },
    { headers: { "Cache-Control": "no-cache", Vary: "Authorization, Cookie" } },
  );
};

export const selectionOperations: Handlers = {
  list_records: list,
  list_record_statistics: count,
};

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
