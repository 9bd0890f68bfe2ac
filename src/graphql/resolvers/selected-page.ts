import type { KindName } from "../../model/kind.js";
import { selectRecords } from "../../services/records/select.js";
import type { Context } from "./context.js";
import { checkedRange, orderOf, type RecordsArguments } from "./types/filters.js";
import { nodeOf, pageOf } from "./types/records.js";

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
