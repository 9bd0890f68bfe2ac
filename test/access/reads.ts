/** Every read of the registry: REST from the contract, GraphQL from the schema, pages from the site. */
import {
  getNamedType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
} from "graphql";
import { graphqlSchema } from "../../src/graphql/schema.js";
import type { JsonObject } from "../../src/model/field.js";
import { ROUTES } from "../../src/web/site.js";
import { type ContractOperation, SERVED } from "../support/contract.js";
import { COMMON, type MatrixWorld, type Target } from "./matrix-world.js";

/** What is sent. */
export interface Question {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}
/** One read; `of` says whether it names a record. */
export interface Read {
  /** Of the operation, field or page, and of its variant. */
  name: string;
  of: "record" | "registry";
  by: "REST" | "GraphQL" | "page";
  isFeed?: true;
  /** By words. */
  isSearch?: boolean;
  /** Kinds of targets that it is asked about; absent: all. */
  whats?: readonly Target["what"][];
  /** Asked first: where it finds nothing, the variants are left out. */
  plain?: string;
  question(world: MatrixWorld, ark: string): Question;
}

/** Operations that read what is harvested. */
const FEEDS = new Set(
  "oai_get oai_post sitemap catalog feed void_description api_catalog".split(" "),
);
const SEARCHES = new Set("search_basic search_semantic search /search".split(" "));
/** Parameters that choose a page of a list, or how much an answer says. */
const OF_PAGES = new Set(
  "limit cursor offset before page facetLimit resumptionToken from until minSize depth collapse expand".split(
    " ",
  ),
);
type Values = (world: MatrixWorld, ark: string) => readonly string[];
const fixed =
  (...values: string[]): Values =>
  () =>
    values;
const ofCrate: Values = ({ targets }) =>
  targets.filter(({ what }) => what === "crate").map(({ ark }) => ark);
/** Values of parameters, by name. */
const VALUES: Readonly<Record<string, Values>> = {
  query: ({ targets }) => [
    COMMON,
    "zircon*",
    "zirconum",
    `"${COMMON} described"`,
    ...targets.map(({ ark }) => ark),
  ],
  text: fixed(COMMON, "zircon*"),
  name: fixed(COMMON),
  nameIs: fixed(COMMON),
  nameStartsWith: fixed("zir"),
  keyword: fixed(COMMON),
  by: fixed("owner,status,format", "keyword", "kind,month", "licence", "crate", "project"),
  kind: fixed("datadownload", "rocrate"),
  owner: ({ group }) => [group],
  group: ({ group }) => [group],
  project: ({ group }) => [group],
  crate: ofCrate,
  describedBy: ofCrate,
  partOf: ofCrate,
  used: ofCrate,
  generatedBy: ofCrate,
  record: ofCrate,
  to: ({ open }) => [open],
  status: fixed("DRAFT", "PUBLISHED", "EMBARGOED", "ARCHIVED"),
  licence: fixed("https://spdx.org/licenses/CC-BY-4.0"),
  format: fixed("text/csv"),
  folder: fixed("report"),
  type: fixed("rocrate"),
  createdSince: fixed("2000-01-01"),
  createdBefore: fixed("2100-01-01"),
  publishedSince: fixed("2000-01-01"),
  publishedBefore: fixed("2100-01-01"),
  modifiedSince: fixed("2000-01-01"),
  modifiedBefore: fixed("2100-01-01"),
  deletedSince: fixed("2000-01-01"),
  deletedBefore: fixed("2100-01-01"),
  since: fixed("2000-01-01"),
  scoreAtLeast: fixed("0"),
  scoreBelow: fixed("100"),
  facets: fixed("kind,keyword,owner"),
  revision: fixed("1", "2"),
  backlinks: fixed("10"),
  info: fixed(""),
  actor: ({ group }) => [group],
  subject: ofCrate,
  identifier: (_world, ark) => [ark],
  metadataPrefix: fixed("oai_dc"),
  set: fixed("rocrate"),
  verb: fixed("Identify", "ListSets"),
  "default-graph-uri": fixed("urn:x-arq:UnionGraph"),
  "named-graph-uri": fixed("urn:x-arq:UnionGraph"),
  submissionUUID: ({ submission }) => [submission],
  page_name: fixed("about"),
};
const GRAPHS = "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }";
const STATEMENTS = "SELECT ?s ?p ?o { ?s ?p ?o }";
/** Queries of operations whose parameters depend on each other. */
const WHOLE_QUERIES: Readonly<Record<string, Values>> = {
  oai_get: ({ targets }) => [
    "?verb=Identify",
    "?verb=ListSets",
    "?verb=ListRecords&metadataPrefix=oai_dc",
    "?verb=ListIdentifiers&metadataPrefix=oai_dc",
    ...targets.map(({ ark }) => `?verb=GetRecord&metadataPrefix=oai_dc&identifier=${ark}`),
  ],
  sparql_get: fixed(...[GRAPHS, STATEMENTS].map((text) => `?query=${encodeURIComponent(text)}`)),
  feed: ({ group, targets }) => [
    "",
    `?text=${COMMON}`,
    `?keyword=${COMMON}`,
    `?owner=${group}`,
    ...targets.filter(({ what }) => what === "crate").map(({ ark }) => `?crate=${ark}`),
  ],
};
/** Reads that are sent as a POST. */
export const POSTS: Readonly<Record<string, (ark: string) => Omit<Question, "method" | "path">>> = {
  sparql_post: () => ({ body: GRAPHS, headers: { "Content-Type": "application/sparql-query" } }),
  oai_post: () => ({
    body: "verb=ListRecords&metadataPrefix=oai_dc",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
  }),
  validate: (ark) => ({
    body: JSON.stringify({ "@id": ark }),
    headers: { "Content-Type": "application/json" },
  }),
};
/** Segments of a path that are an identifier. */
const IN_PATH = /ark:\{NAAN\}\/(?:\{organization\}\/)?\{(?:postfix|download_id)\}/;

const valuesOf = ({ name, schema }: JsonObject): Values => {
  const { enum: values, type } = schema as { enum?: string[]; type?: string };
  if (values) return fixed(...values);
  if (type === "boolean") return fixed("true");
  const found = VALUES[name as string];
  if (!found)
    throw new Error(`test/access/reads.ts has no value for the parameter ${String(name)}`);
  return found;
};

/** The queries of an operation: without parameters that it does not need, and with each one. */
function queriesOf(operation: ContractOperation, world: MatrixWorld, ark: string): string[] {
  const whole = WHOLE_QUERIES[operation.operationId];
  if (whole) return [...whole(world, ark)];
  const parameters = operation.parameters.filter(
    ({ in: place, name }) => place === "query" && !OF_PAGES.has(name as string),
  );
  const pair = (parameter: JsonObject, value: string) =>
    `${parameter["name"] as string}=${encodeURIComponent(value)}`;
  const needed = parameters.filter(({ required }) => required === true);
  const others = parameters.filter(({ required }) => required !== true);
  const [first, ...more] = needed.map((parameter) =>
    valuesOf(parameter)(world, ark).map((value) => pair(parameter, value)),
  );
  if (more.length > 0) throw new Error(`${operation.operationId} needs several parameters`);
  const bases = first ?? [""];
  const queries = [
    ...bases,
    ...others.flatMap((parameter) =>
      valuesOf(parameter)(world, ark).map((value) =>
        [bases[0]!, pair(parameter, value)].filter((part) => part !== "").join("&"),
      ),
    ),
  ];
  return queries.map((query) => (query === "" ? "" : `?${query}`));
}

/** Paths without an identifier of a record. */
function pathOf(path: string, world: MatrixWorld): string {
  return path.replaceAll(/\{(\w+)\}|:(\w+)/g, (_whole, inBraces: string, afterColon: string) => {
    const name = inBraces ?? afterColon;
    const value = name === "name" ? "context.jsonld" : VALUES[name]?.(world, "")[0];
    if (value === undefined)
      throw new Error(`test/access/reads.ts has no value for {${name}} of ${path}`);
    return value;
  });
}

/** The contract itself, which is no answer about a record. */
const CONTRACT = new Set(["openapi_json", "openapi_yaml"]);

function restReads(world: MatrixWorld): Read[] {
  return SERVED.flatMap((operation): Read[] => {
    const { operationId: id, method, path } = operation;
    if (CONTRACT.has(id)) return [];
    const post = method === "post" ? POSTS[id] : undefined;
    if (method !== "get" && !post) return [];
    const ofRecord = IN_PATH.test(path);
    const marks = {
      by: "REST" as const,
      ...(FEEDS.has(id) ? { isFeed: true as const } : {}),
      ...(SEARCHES.has(id) ? { isSearch: true as const } : {}),
    };
    if (post)
      return [
        {
          name: id,
          of: id === "validate" ? "record" : "registry",
          ...marks,
          question: (_world, ark) => ({ method: "POST", path, ...post(ark) }),
        },
      ];
    const queries = queriesOf(operation, world, world.targets[0]!.ark);
    const read = (query: string, verb = "GET", headers = {}): Read => ({
      name: `${verb === "GET" ? "" : `${verb} `}${id}${query}`,
      of: ofRecord ? "record" : "registry",
      ...marks,
      // By identifier it is no search by words.
      ...(query.includes("query=ark") ? { isSearch: false } : {}),
      ...(ofRecord && query !== queries[0] ? { plain: `${id}${queries[0]!}` } : {}),
      question: (asked, ark) => ({
        method: verb,
        path: `${ofRecord ? path.replace(IN_PATH, encodeURI(ark)) : pathOf(path, asked)}${query}`,
        headers,
      }),
    });
    const heads = ofRecord ? [{ ...read(queries[0]!, "HEAD"), plain: `${id}${queries[0]!}` }] : [];
    return [...queries.map((query) => read(query)), ...heads];
  });
}

/** Parameters of a path of a page. */
const OF_PATHS: Readonly<Record<string, readonly string[]>> = {
  kind: ["dataset", "rocrate", "datadownload", "file"],
  page: ["rest"],
  folder: ["tutorials"],
  page_name: ["about"],
  action: ["publish", "delete"],
  orcid: ["0000-0002-1825-0097"],
  // Of an issuer, and of a review link: nobody has them.
  name: ["nobody"],
  secret: ["arkreview_nothing"],
};
/** Pages that show what a query asks for. */
const PAGE_QUERIES: Readonly<Record<string, readonly string[]>> = {
  "/search": [
    "",
    "?drafts=yes",
    ...[`?q=${COMMON}`, "?q=zircon*", "?q=zirconum", `?q=${COMMON}&mode=meaning`].flatMap(
      (query) => [query, `${query}&drafts=yes`],
    ),
  ],
  "/browse": ["", `?text=${COMMON}`, "?status=DRAFT", "?drafts=yes", `?keyword=${COMMON}`],
  "/records": ["", `?text=${COMMON}`, "?status=DRAFT"],
  "/my/records": ["", `?text=${COMMON}`],
};
const AS_PAGE = { Accept: "text/html" };
/** They end the session or the link of who reads. */
const ENDS = new Set(["/review/end", "/signout"]);

function pageReads(): Read[] {
  const record: Read = {
    name: "record",
    of: "record",
    by: "page",
    question: (_world, ark) => ({ method: "GET", path: `/${encodeURI(ark)}`, headers: AS_PAGE }),
  };
  const others = ROUTES.filter(({ get, path }) => get && !ENDS.has(path)).flatMap(
    ({ path }): Read[] => {
      if (path.endsWith("/*ark"))
        return [
          {
            name: path,
            of: "record",
            by: "page",
            question: (_world, ark) => ({
              method: "GET",
              path: path.replace("*ark", encodeURI(ark)),
              headers: AS_PAGE,
            }),
          },
        ];
      let paths = [path];
      for (const [, name] of path.matchAll(/:(\w+)/g)) {
        const values = path === "/upload/:id" ? [undefined] : OF_PATHS[name!];
        if (!values) throw new Error(`test/access/reads.ts has no value for :${name} of ${path}`);
        paths = paths.flatMap((one) => values.map((value) => one.replace(`:${name}`, value ?? "")));
      }
      return paths.flatMap((one) =>
        (PAGE_QUERIES[path] ?? [""]).map((query) => ({
          name: `${one}${query}`,
          of: "registry" as const,
          by: "page" as const,
          ...(SEARCHES.has(path) && query.includes("q=") ? { isSearch: true } : {}),
          question: ({ submission }: MatrixWorld) => ({
            method: "GET",
            path: `${path === "/upload/:id" ? `/upload/${submission}` : one}${query}`,
            headers: AS_PAGE,
          }),
        })),
      );
    },
  );
  return [record, ...others];
}

/** Types of the targets' records, and what has them. */
const TYPES: Readonly<Record<string, readonly Target["what"][]>> = {
  DataDownload: ["file", "member"],
  ROCrate: ["crate"],
};
/** Entries of one list in a selection. */
const FIRST = 5;
/** Arguments that fields need. */
const ARGUMENTS: Readonly<Record<string, string>> = { number: "1", first: "5" };

class Selections {
  readonly #schema: GraphQLSchema;
  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** @param concrete of an interface, whose own fields are selected too */
  of(type: GraphQLNamedType, depth: number, concrete?: string): string {
    if (isLeafType(type)) return "";
    if (isUnionType(type))
      return `{ __typename ${type
        .getTypes()
        .map((one) => `... on ${one.name} ${this.of(one, depth)}`)
        .join(" ")} }`;
    if (!isInterfaceType(type) && !isObjectType(type)) throw new Error(type.name);
    const own = Object.values(type.getFields()).map((field) => this.#field(field, depth));
    const special = concrete === undefined ? undefined : this.#schema.getType(concrete);
    const more =
      isAbstractType(type) && isObjectType(special)
        ? Object.values(special.getFields())
            .filter(({ name }) => !(name in type.getFields()))
            .map((field) => this.#field(field, depth))
        : [];
    return `{ __typename ${own.join(" ")} ${more.length > 0 ? `... on ${concrete} { ${more.join(" ")} }` : ""} }`;
  }

  #field({ name, type: whole, args }: GraphQLField<unknown, unknown>, depth: number): string {
    const type = getNamedType(whole);
    if (name === "edges" || name === "pageInfo") return "";
    const inPage = name === "nodes";
    if (!isLeafType(type) && depth === 0 && !inPage) return "";
    const needed = args.filter(isRequiredArgument);
    const choice = needed.find((argument) => isEnumType(getNamedType(argument.type)));
    const inner = this.of(type, inPage ? depth : depth - 1);
    if (choice) {
      if (depth < DEPTH) return "";
      const values = getNamedType(choice.type);
      if (!isEnumType(values)) return "";
      return values
        .getValues()
        .map((value) => `${name}_${value.name}: ${name}(${choice.name}: ${value.name}) ${inner}`)
        .join(" ");
    }
    const given = needed.map(({ name: argument }) => {
      const value = ARGUMENTS[argument];
      if (value === undefined)
        throw new Error(`test/access/reads.ts has no value for ${name}(${argument}:)`);
      return `${argument}: ${value}`;
    });
    if (args.some((argument) => argument.name === "first") && !isLeafType(type))
      given.push(`first: ${FIRST}`);
    return `${name}${given.length > 0 ? `(${given.join(", ")})` : ""} ${inner}`;
  }
}
/** Levels of a record: its links, and what these have. */
const DEPTH = 2;

/** Arguments of the root fields, and the type of each as a variable. */
const ROOT_ARGUMENTS: Readonly<Record<string, (world: MatrixWorld, ark: string) => unknown>> = {
  id: (_world, ark) => ark,
  ids: (_world, ark) => [ark],
  from: (_world, ark) => ark,
  to: ({ open }) => open,
  number: () => 1,
  query: () => COMMON,
  email: () => "root@example.org",
  by: () => ["OWNER", "PUBLICATION_STATUS", "FORMAT"],
  document: (_world, ark) => ({ "@id": ark }),
};
/** `record` selects all that a record has: other root fields that find one select what it says. */
const isShallow = (type: GraphQLNamedType, name: string): boolean =>
  name !== "record" && (type.name === "Record" || type.name === "Node" || isNode(type));
const isNode = (type: GraphQLNamedType): boolean =>
  isObjectType(type) && type.getInterfaces().some(({ name }) => name === "Record");
/** Root fields about a record. */
const ABOUT_RECORD = new Set(["id", "ids", "from", "document"]);

async function graphqlReads(): Promise<Read[]> {
  const schema = await graphqlSchema();
  const selections = new Selections(schema);
  return Object.values(schema.getQueryType()!.getFields()).flatMap((field): Read[] => {
    const needed = field.args.filter(isRequiredArgument);
    const ofRecord =
      field.name !== "submission" && needed.some(({ name }) => ABOUT_RECORD.has(name));
    const type = getNamedType(field.type);
    const isRecord = type.name === "Record" || type.name === "Node";
    const concretes = isRecord ? Object.keys(TYPES) : [undefined];
    return concretes.map((concrete): Read => {
      const [variables, given] = [
        needed.map(({ name, type }) => `$${name}: ${type.toString()}`),
        needed.map(({ name }) => `${name}: $${name}`),
      ];
      if (field.args.some(({ name }) => name === "first")) given.push("first: 100");
      const [outer, inner] = [
        variables.length > 0 ? `(${variables.join(", ")})` : "",
        given.length > 0 ? `(${given.join(", ")})` : "",
      ];
      const depth = field.name === "record" ? DEPTH : isShallow(type, field.name) ? 0 : 1;
      const query = `query ${outer} { ${field.name}${inner} ${selections.of(type, depth, concrete)} }`;
      return {
        name: `${field.name}${concrete === undefined ? "" : ` as ${concrete}`}`,
        of: ofRecord ? "record" : "registry",
        by: "GraphQL",
        ...(SEARCHES.has(field.name) ? { isSearch: true as const } : {}),
        ...(concrete === undefined ? {} : { whats: TYPES[concrete]! }),
        question: (world, ark) => ({
          method: "POST",
          path: "/graphql",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({
            query,
            variables: Object.fromEntries(
              needed.map(({ name }) => {
                const value = ROOT_ARGUMENTS[name];
                if (!value)
                  throw new Error(`test/access/reads.ts has no value for ${field.name}(${name}:)`);
                return [name, field.name === "submission" ? world.submission : value(world, ark)];
              }),
            ),
          }),
        }),
      };
    });
  });
}

export const readsOf = async (world: MatrixWorld): Promise<Read[]> => [
  ...restReads(world),
  ...(await graphqlReads()),
  ...pageReads(),
];
