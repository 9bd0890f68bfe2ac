import { ValidationError, type ValidationItem } from "../../errors.js";
import { referencedArk } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { mediaTypeIn } from "../../model/file-facts.js";
import { type KindName, publicView } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { textOf, wholeTextOf } from "../../model/texts.js";
import type { ListedPage, ListQuery, StoredRecord } from "../../storage/records/port.js";
import { authenticated, type Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { checkOneOf, limitOf, type QueryStrings } from "../query-parameters.js";
import { withoutForgotten } from "./forgotten.js";
import { parseDocument, type RecordView, viewsOf } from "./view.js";
import { pairs } from "../../pairs.js";

/** Filters and order of a list. */
export interface ListFilter {
  name?: string;
  owner?: string;
  keyword?: string;
  order?: "created" | "-created" | "name";
  crate?: string;
}
/** A page of records, and how many there are in all. */
export type RecordPage = ListedPage & { count(): Promise<number> };

/**
 * Records in one read while a whole list is streamed: one page is in memory, and no cursor stays
 * open between reads.
 */
const STREAM_PAGE = 200;

function queryOf(
  kind: KindName | undefined,
  filter: ListFilter,
): Omit<ListQuery, "limit" | "bytes"> {
  const { owner, ...rest } = filter;
  const ark = owner === undefined ? undefined : referencedArk(owner);
  if (owner !== undefined && ark === undefined)
    throw new ValidationError([
      {
        loc: ["query", "owner"],
        msg: "Value error, not an ARK; for example ark:99999/user-ada",
        type: "value_error",
      },
    ]);
  return {
    ...rest,
    ...(kind ? { kind } : {}),
    ...(ark === undefined ? {} : { ownerKey: ark.key }),
  };
}

/**
 * One page by key, without derived entries, and counted only on request: clients of GraphQL select
 * what they get.
 * @throws ValidationError for an invalid cursor or owner
 */
export async function listRecords(
  deps: Deps,
  kind: KindName | undefined,
  filter: ListFilter,
  page: { limit: number; after?: string; bytes?: number },
  caller: Caller | null,
): Promise<RecordPage> {
  if (kind === "user") authenticated(caller);
  const query = queryOf(kind, filter);
  const found = await deps.records.list({
    ...query,
    limit: page.limit,
    bytes: page.bytes ?? deps.config.MAX_PAGE_BYTES,
    ...(page.after === undefined ? {} : { after: page.after }),
  });
  return {
    ...found,
    items: await withoutForgotten(deps, found.items),
    count: () => deps.records.count(query),
  };
}

/** The whole list, in constant memory. */
export async function* listAll(
  deps: Deps,
  kind: KindName,
  filter: ListFilter,
  caller: Caller | null,
): AsyncGenerator<RecordView[]> {
  if (kind === "user") authenticated(caller);
  const query = queryOf(kind, filter);
  let after: string | undefined;
  do {
    const page: { items: StoredRecord[]; next?: string } = await deps.records.list({
      ...query,
      limit: STREAM_PAGE,
      bytes: deps.config.MAX_PAGE_BYTES,
      ...(after === undefined ? {} : { after }),
    });
    if (page.items.length > 0) yield await viewsOf(deps, page.items, caller);
    after = page.next;
  } while (after !== undefined);
}

/**
 * Reads `limit`, `cursor`, `order` and the filters of a query string.
 * @throws ValidationError with all that is wrong
 */
export function listParameters(query: QueryStrings): {
  filter: ListFilter;
  page: { limit: number; after?: string } | null;
} {
  const problems: ValidationItem[] = [];
  const filter: ListFilter = {};
  for (const name of ["name", "owner", "keyword"] as const)
    if (query[name] !== undefined) filter[name] = query[name];
  const { limit, cursor, order } = query;
  if (order !== undefined) {
    checkOneOf(problems, "order", order, ["created", "-created", "name"]);
    filter.order = order as NonNullable<ListFilter["order"]>;
  }
  const number = limitOf(problems, query);
  if (problems.length > 0) throw new ValidationError(problems);
  return {
    filter,
    page:
      limit === undefined && cursor === undefined
        ? null
        : { limit: number, ...(cursor === undefined ? {} : { after: cursor }) },
  };
}

/** The same for a list that always comes in pages, of this length where the query names none. */
export const pageParameters = (
  { limit, cursor }: QueryStrings,
  length: number,
): { limit: number; after?: string } =>
  listParameters({ limit: limit ?? String(length), cursor }).page ?? { limit: length };

/** The parts of a record that links in headers, the landing page and the kernel metadata use. */
export interface Landmarks {
  record: StoredRecord;
  document: JsonObject;
  name: string | null;
  description: string | null;
  /** URLs of licence and authors; texts that are not URLs are left out. */
  license: string | null;
  authors: string[];
  /** As it is stated. */
  datePublished: string | null;
  keywords: string[];
  /** Address of the content, here or elsewhere, with its media type where that is known. */
  content: { url: string; mediaType: string | null } | null;
  /** Type on schema.org. */
  schemaType: string;
}

/** Headers stay small: further items are in the link set of the record. */
const MAX_ITEMS = 20;

/** schema.org's term for each kind. */
const SCHEMA_TYPES: Readonly<Record<KindName, string>> = {
  user: "Person",
  group: "Organization",
  organization: "Organization",
  project: "Project",
  software: "SoftwareSourceCode",
  dataset: "Dataset",
  computation: "Action",
  evidencegraph: "CreativeWork",
  rocrate: "Dataset",
  datadownload: "MediaObject",
  schema: "CreativeWork",
  mlmodel: "CreativeWork",
  sample: "Thing",
  instrument: "Product",
  experiment: "Action",
  annotation: "CreativeWork",
  entity: "Thing",
};

/**
 * Derived from the document alone, since every answer includes them: where content is stored here,
 * `contentUrl` names it.
 */
export function landmarksOf(record: StoredRecord): Landmarks {
  const document = publicView(KINDS[record.kind], parseDocument(record.document));
  const [url] = references(document["contentUrl"]).filter(isUrl);
  const authors = references(document["author"] ?? document["creator"]);
  return {
    record,
    document,
    content:
      url === undefined
        ? null
        : {
            url,
            mediaType:
              references(document["encodingFormat"]).flatMap(
                (type) => mediaTypeIn(type) ?? [],
              )[0] ?? null,
          },
    // A crate without a name is called as its archive.
    name: textOf(document["name"]) ?? (record.kind === "rocrate" ? record.name : null),
    description: wholeTextOf(document["description"]),
    license:
      references(document["license"])
        .map((url) => url.trim())
        .find(isUrl) ?? null,
    authors: authors.filter(isUrl).slice(0, MAX_ITEMS),
    datePublished: references(document["datePublished"]).find((date) => date.trim() !== "") ?? null,
    keywords: references(document["keywords"]),
    schemaType: `https://schema.org/${SCHEMA_TYPES[record.kind]}`,
  };
}

const isUrl = (value: string): boolean => /^https?:\/\/\S+$/.test(value) && URL.canParse(value);

/** Texts and ids of a value, a list of them, or objects with `@id` or `name`. */
function references(value: JsonValue | undefined): string[] {
  return (Array.isArray(value) ? value : [value]).flatMap((item) => {
    if (typeof item === "string") return [item];
    if (item === null || typeof item !== "object" || Array.isArray(item)) return [];
    const id = item["@id"] ?? item["name"];
    return typeof id === "string" ? [id] : [];
  });
}

/** How many live records of each kind there are; the store has these counts ready. */
export async function totalsByKind({
  records,
}: Pick<Deps, "records">): Promise<ReadonlyMap<KindName, number>> {
  const kinds = Object.keys(KINDS) as KindName[];
  const counts = await Promise.all(kinds.map((kind) => records.count({ kind })));
  return new Map(pairs(kinds, counts));
}
