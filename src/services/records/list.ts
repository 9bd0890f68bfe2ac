import { ValidationError, type ValidationItem } from "../../errors.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { mediaTypeIn } from "../../model/file-facts.js";
import { type KindName, publicView } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { textOf, wholeTextOf } from "../../model/texts.js";
import type { RecordOrder, StoredRecord } from "../../storage/records/port.js";
import { authenticated, type Caller } from "../access/rules.js";
import type { Deps } from "../deps.js";
import { checkOneOf, limitOf, type QueryStrings } from "../query-parameters.js";
import { pagesOf } from "./pages.js";
import { filterOf, orderOf, type RecordFilterInput } from "./select.js";
import { parseDocument, type RecordView, viewsOf } from "./view.js";
import { pairs } from "../../pairs.js";

/** Filter and order of a list of one kind. */
interface ListRequest {
  filter: RecordFilterInput;
  order: RecordOrder;
}

/**
 * Records in one read while a whole list is streamed: one page is in memory, and no cursor stays
 * open between reads.
 */
const STREAM_PAGE = 200;

/** The whole list, in constant memory. @throws ValidationError for an invalid owner */
export async function* listAll(
  deps: Deps,
  kind: KindName,
  { filter, order }: ListRequest,
  caller: Caller | null,
): AsyncGenerator<RecordView[]> {
  if (kind === "user") authenticated(caller);
  const selection = { filter: filterOf(deps, { kind, filter }) };
  const page = { order, limit: STREAM_PAGE, bytes: deps.config.MAX_PAGE_BYTES };
  for await (const records of pagesOf(deps.records, selection, page))
    yield await viewsOf(deps, records, caller);
}

/**
 * Reads `limit`, `cursor`, `order` and the filters of a query string.
 * @throws ValidationError with all that is wrong
 */
export function listParameters(query: QueryStrings): ListRequest & {
  page: { limit: number; after?: string } | null;
} {
  const problems: ValidationItem[] = [];
  const { name, owner, keyword, limit, cursor, order = "created" } = query;
  checkOneOf(problems, "order", order, ["created", "-created", "name"]);
  const number = limitOf(problems, query);
  if (problems.length > 0) throw new ValidationError(problems);
  return {
    filter: {
      ...(name ? { name: { contains: name } } : {}),
      ...(owner === undefined ? {} : { owner }),
      ...(keyword === undefined ? {} : { keyword: [keyword] }),
    },
    order: orderOf(order),
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
  const counts = await Promise.all(
    kinds.map((kind) => records.countSelected({ filter: { kinds: [kind] } })),
  );
  return new Map(pairs(kinds, counts));
}
