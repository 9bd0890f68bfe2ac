import { CONNECTIONS } from "../../../model/connections.js";
import { ServiceError } from "../../../errors.js";
import { KINDS } from "../../../model/kinds.js";
import { KindLabel, Pager, RecordCard, RecordLink } from "../../components.js";
import {
  ListedPageDocument,
  type RecordFilter,
  type RecordKind,
  type RecordRelation,
  RelatedPageDocument,
} from "../../documents.js";
import { countText, kindText, nameText, shortened } from "../../format.js";
import { labelOf } from "../../labels.js";
import { type Page, type PageRequest, recordPath, type Route } from "../../page.js";

/** Relations by their names in addresses: `used_by`. */
const RELATIONS: ReadonlyMap<string, string> = new Map(
  Object.keys(CONNECTIONS).map((name) => [
    name
      .replace(/([a-z])([A-Z])/g, "$1_$2")
      .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
      .toLowerCase(),
    name,
  ]),
);

/** All records of one relation of a record, for example all that used it. */
async function related(request: PageRequest): Promise<Page> {
  const { params, query } = request;
  const id = params["ark"]!;
  const relation = query.get("relation") ?? "";
  if (relation === "owner") return listed(request, "Records", { owner: id });
  if (relation === "contents") {
    const kind = kindAsked(query.get("kind"));
    return listed(request, kind === null ? "Contents" : kindText(kind, true), {
      describedBy: id,
      ...(kind === null ? {} : { kind: [kind] }),
    });
  }
  const name = RELATIONS.get(relation);
  if (name === undefined)
    throw new ServiceError(
      "NOT_FOUND",
      "The address names no relation. Open the record and follow a link from there.",
    );
  const { record } = await request.ask(RelatedPageDocument, {
    id,
    relation: relation.toUpperCase() as RecordRelation,
    after: query.get("after"),
  });
  if (!record) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  const { nodes, totalCount, pageInfo } = record.related;
  const title = `${labelOf(name)}: ${nameText(record)}`;
  return {
    title: shortened(title, 200),
    section: "browse",
    body: (
      <>
        <Back record={record} />
        <h1>
          {labelOf(name)} <span class="count">{totalCount !== null && countText(totalCount)}</span>
        </h1>
        <div class="scroll" tabIndex={0} role="region" aria-label="Records">
          <table class="wide">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Kind</th>
                <th scope="col">Description</th>
              </tr>
            </thead>
            <tbody>
              {nodes.map((node) => (
                <tr>
                  <td>
                    <RecordLink record={node} />
                  </td>
                  <td>
                    <KindLabel kind={node.kind} />
                  </td>
                  <td dir="auto">{shortened(node.description ?? "", 160)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <Pager path={recordPath(id, "related")} query={query} pageInfo={pageInfo} />
      </>
    ),
  };
}

/** A kind as an address names it: `?kind=dataset`. */
const kindAsked = (text: string | null): RecordKind | null =>
  text !== null && Object.hasOwn(KINDS, text) ? (text.toUpperCase() as RecordKind) : null;

const ON_A_PAGE = 30;

/** Records by filter, as cards. */
async function listed(request: PageRequest, heading: string, filter: RecordFilter): Promise<Page> {
  const { params, query } = request;
  const id = params["ark"]!;
  const before = query.get("before");
  const { record, records } = await request.ask(ListedPageDocument, {
    id,
    filter,
    after: query.get("after"),
    before,
    first: before === null ? ON_A_PAGE : null,
    last: before === null ? null : ON_A_PAGE,
  });
  if (!record) throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  return {
    title: `${heading} of ${shortened(nameText(record), 100)}`,
    section: "browse",
    body: (
      <>
        <Back record={record} />
        <h1>
          {heading} <span class="count">{countText(records.totalCount)}</span>
        </h1>
        <div class="results-list">
          {records.nodes.map((each) => (
            <RecordCard record={each} />
          ))}
        </div>
        <Pager path={recordPath(id, "related")} query={query} pageInfo={records.pageInfo} />
      </>
    ),
  };
}

interface Linked {
  id: string;
  name: string | null;
  kind: string | null;
}

/** The way back to the record that the page is about. */
export const Back = ({ record }: { record: Linked }) => (
  <nav class="crumb" aria-label="Where this is">
    <RecordLink record={record} glyph /> <span aria-hidden="true">›</span>
  </nav>
);

export const relatedRoutes: readonly Route[] = [{ path: "/related/{ark}", get: related }];
