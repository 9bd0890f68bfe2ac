/** Finding records: by words, and in lists by filter. */
import { searchParameters } from "../graphql/resolvers/query-resolver.js";
import { sendJson, streamJsonArray } from "../http/reply.js";
import { tombstoneMembers } from "../services/records/find.js";
import {
  recordStatistics,
  selectionParameters,
  selectRecords,
  statisticsParameters,
} from "../services/records/select.js";
import { documentBytes, viewsOf } from "../services/records/view.js";
import { find, type SearchMode, searchAnswer } from "../services/search/search.js";
import type { StoredRecord } from "../storage/records/port.js";
import { type Handler, type Handlers, linkToNext } from "./request.js";

/** What is shown of a deleted record. */
const tombstoneOf = (record: StoredRecord): Uint8Array =>
  documentBytes({
    "@id": record.ark,
    kind: record.kind,
    revision: record.revision,
    ...tombstoneMembers(record),
  });

const list: Handler = async (request) => {
  const { req, res, context, query } = request;
  const selection = selectionParameters(query);
  const found = await selectRecords(context.deps, selection, context.caller);
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
    headers["Link"] = linkToNext(request, {
      ...query,
      limit: String(selection.range.limit),
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
  const found = await (await recordStatistics(context.deps, request, context.caller)).sums();
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

const searchBy =
  (mode: SearchMode): Handler =>
  async ({ req, res, query: asked, path, context }) => {
    const { fragments, ...parameters } = searchParameters(asked);
    const request = { ...parameters, mode };
    const found = await find(context.deps, request);
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
