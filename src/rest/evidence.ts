import { SETTINGS } from "../config/config.js";
import { invalid } from "../errors.js";
import { signedIn } from "../graphql/resolvers/context.js";
import { CrateResolver } from "../graphql/resolvers/crate-resolver.js";
import { EvidencePictureResolver } from "../graphql/resolvers/evidence-picture-resolver.js";
import { EvidenceResolver } from "../graphql/resolvers/evidence-resolver.js";
import { formatNamed, preferred } from "../http/negotiation.js";
import { sendBytes, sendJson, streamBytes } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import type { JsonObject } from "../model/field.js";
import { KINDS } from "../model/kinds.js";
import { EVIDENCE_FORMATS, type EvidenceFormat } from "../services/evidence/formats.js";
import { PICTURE_POLICY } from "../services/evidence/picture/svg.js";
import {
  assertedByParameter,
  type EvidenceGraph,
  evidenceParameters,
} from "../services/evidence/types.js";
import { askedArk } from "../services/records/find.js";
import {
  arkPath,
  type ContractRow,
  FIND_REFUSALS,
  json,
  path,
  query,
  schemaRef,
} from "./contract/rows.js";
import { QUEUED } from "./crates.js";
import { arkOf, type Handlers, linkToNext, type RestRequest } from "./request.js";

const CELLS = "ark:99999/dataset-cells";
const RUN = "ark:99999/computation-count";
const IMAGES = "ark:99999/dataset-images";
const OWNED: JsonObject = { owner: "ark:99999/user-ada", ownsSource: true, ownsTarget: true };
const reference = (id: string): JsonObject => ({ "@id": id });

const EXAMPLE: JsonObject = {
  "@context": {
    "@vocab": "https://schema.org/",
    evi: "https://w3id.org/EVI#",
    generatedBy: { "@id": "evi:generatedBy", "@type": "@id" },
  },
  "@id": CELLS,
  direction: "upstream",
  "@graph": [
    {
      "@id": CELLS,
      "@type": ["evi:Dataset"],
      name: "Cell counts",
      generatedBy: [reference(RUN)],
      statements: [{ property: "generatedBy", object: RUN, record: CELLS, ...OWNED }],
    },
    {
      "@id": RUN,
      "@type": ["evi:Computation"],
      name: "Counting run",
      usedDataset: [reference(IMAGES)],
      statements: [
        { property: "usedDataset", object: IMAGES, record: RUN, ...OWNED, ownsTarget: false },
      ],
    },
  ],
  outputs: [reference(CELLS)],
  dangling: [{ ...reference(IMAGES), reason: "unknown" }],
  hidden: {},
  truncated: false,
  asOf: 42,
};
const ANSWER = {
  schema: schemaRef("EvidenceGraphAnswer"),
  example: EXAMPLE,
  exampleName: "EvidenceGraphAnswer",
};
const TEXT: JsonObject = { type: "string" };
const TURTLE =
  `@prefix prov: <http://www.w3.org/ns/prov#>.\n\n<${CELLS}> a prov:Entity;\n    ` +
  `prov:wasGeneratedBy <${RUN}>.\n`;
const DOT =
  'digraph evidence {\n  n0 [label="Cell counts"];\n  n1 [label="Counting run"];\n  n0 -> ' +
  'n1 [label="generatedBy"];\n}\n';
const MERMAID =
  'flowchart RL\n  n0(["Cell counts"])\n  n1["Counting run"]\n  n0 -- generatedBy --> n1\n';

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" class="ev" width="412" height="76"><title>Evidence ' +
  "of Cell counts</title></svg>\n";

const DIRECTION = query(
  "direction",
  "`upstream`: what supports the record; `downstream`: what it supports.",
  { type: "string", enum: ["upstream", "downstream", "both"], default: "upstream" },
);
const DEPTH = query("depth", "How many steps from the record; without limit when absent.", {
  type: "integer",
  minimum: 1,
  maximum: 100_000,
});
const ASSERTED_BY = query(
  "assertedBy",
  "`owner`: edges of third parties are left out, and what only they lead to; " +
    "`hidden.thirdParty` counts them. A third party has no right over the end of the edge " +
    "that the walk comes from.",
  { type: "string", enum: ["anyone", "owner"], default: "anyone" },
);
const INDEX_REFUSALS = ["INDEX_LOADING", "INDEX_BEHIND", "QUERY_TIMEOUT"] as const;
const BUILD: JsonObject = { ...QUEUED, sha256: null, evidenceGraphIdentifier: null };
const BUILT: JsonObject = {
  ...BUILD,
  status: "finished",
  stage: "committing",
  timeStarted: "2024-05-03T08:00:00Z",
  timeFinished: "2024-05-03T08:00:01Z",
  completed: true,
  success: true,
  identifiersMinted: 1,
  evidenceGraphIdentifier: "ark:99999/evidence-graph-3f1b0a9c2d4e5f607182",
};

export const EVIDENCE: readonly ContractRow[] = [
  {
    method: "get",
    path: "/evidencegraph/query/ark:{NAAN}/{postfix}",
    operationId: "query_evidence",
    tag: "evidence",
    summary: "What supports a record, or what it supports",
    description:
      "Built for the request and never older than it; nothing is stored. Every stated " +
      "relation counts, through nested crates and over cycles. As JSON-LD, or with " +
      "`format` as PROV-JSON, PROV-O in Turtle, a diagram for Graphviz or for Mermaid, or a " +
      "drawing as SVG, where a graph with more nodes than EVIDENCE_PICTURE_NODES is drawn with " +
      "like siblings as groups; these formats signal truncation with `X-Truncated` and a `Link` to the next page.",
    parameters: [
      ...arkPath(CELLS),
      DIRECTION,
      DEPTH,
      ASSERTED_BY,
      query("limit", "Nodes in one answer.", {
        type: "integer",
        minimum: 1,
        maximum: 100_000,
        default: SETTINGS.EVIDENCE_LIMIT.default,
      }),
      query("cursor", "Cursor of the next page, from the previous answer.", { type: "string" }),
      query(
        "kind",
        "Only nodes of these kinds, with commas between them, and what is not stored here; " +
          `the others are counted in \`hidden.kind\`. Of ${Object.keys(KINDS).join(", ")}.`,
        { type: "string" },
        "dataset,computation",
      ),
      query(
        "collapse",
        "Minimum number of like siblings (the same kind, the same relations to the same " +
          "nodes, or to nodes that are alike) that become one node with their count; " +
          "`true` for 5.",
        {
          anyOf: [
            { type: "integer", minimum: 2, maximum: 100_000 },
            { type: "string", enum: ["true", "false"] },
          ],
        },
      ),
      query(
        "expand",
        "Groups to expand, with commas between them: the `group` of the nodes that stand " +
          "for them; and records from which to go one step more than `depth`: their `@id`. At " +
          "most 50 records.",
        { type: "string" },
      ),
      query(
        "statements",
        "Adds to each edge the field of the record that states it, in `statements` of the node.",
        { type: "boolean", default: false },
      ),
      query("format", "Format of the answer; takes precedence over `Accept`.", {
        type: "string",
        enum: ["jsonld", "json", "prov-json", "turtle", "dot", "mermaid", "svg"],
      }),
    ],
    answer: {
      description: "The evidence graph.",
      content: {
        "application/ld+json": ANSWER,
        "application/json": ANSWER,
        "text/turtle": { schema: TEXT, example: TURTLE },
        "text/vnd.graphviz": { schema: TEXT, example: DOT },
        "text/vnd.mermaid": { schema: TEXT, example: MERMAID },
        "image/svg+xml": { schema: TEXT, example: SVG },
      },
    },
    refusals: [...FIND_REFUSALS, "NOT_ACCEPTABLE", ...INDEX_REFUSALS],
  },
  {
    method: "get",
    path: "/evidencegraph/impact/ark:{NAAN}/{postfix}",
    operationId: "evidence_impact",
    tag: "evidence",
    summary: "What a record supports, by kind and by owner",
    description: "Counts all records that this record supports, directly or through others.",
    parameters: [...arkPath(IMAGES), ASSERTED_BY],
    answer: {
      description: "The counts.",
      content: json(schemaRef("Impact"), {
        "@id": IMAGES,
        total: 2,
        direct: 1,
        furthest: 2,
        byKind: [
          { kind: "computation", count: 1 },
          { kind: "dataset", count: 1 },
        ],
        byOwner: [
          {
            owner: "ark:99999/user-ada",
            name: "Ada",
            count: 2,
            kinds: [
              { kind: "computation", count: 1 },
              { kind: "dataset", count: 1 },
            ],
          },
        ],
        unresolved: 0,
        asOf: 42,
      }),
    },
    refusals: [...FIND_REFUSALS, ...INDEX_REFUSALS],
  },
  {
    method: "get",
    path: "/evidencegraph/path/ark:{NAAN}/{postfix}",
    operationId: "evidence_path",
    tag: "evidence",
    summary: "The shortest support path between two records",
    description:
      "Looks first for what supports the record, then for what it supports. Where neither " +
      "record supports the other, `direction` and `length` are null.",
    parameters: [
      ...arkPath(CELLS),
      {
        ...query(
          "to",
          "The other record, in any spelling of its identifier.",
          { type: "string" },
          IMAGES,
        ),
        required: true,
      },
      ASSERTED_BY,
    ],
    answer: {
      description: "The path.",
      content: json(schemaRef("SupportPath"), {
        from: CELLS,
        to: IMAGES,
        direction: "upstream",
        length: 2,
        nodes: [
          { "@id": CELLS, "@type": ["evi:Dataset"], name: "Cell counts" },
          { "@id": RUN, "@type": ["evi:Computation"], name: "Counting run" },
          { "@id": IMAGES, "@type": ["evi:Dataset"], name: "Images" },
        ],
        edges: [
          {
            source: RUN,
            name: "generated",
            target: CELLS,
            statedBy: [{ record: RUN, field: "generated", ...OWNED }],
          },
          {
            source: RUN,
            name: "usedDataset",
            target: IMAGES,
            statedBy: [{ record: RUN, field: "usedDataset", ...OWNED }],
          },
        ],
        asOf: 42,
      }),
    },
    refusals: [...FIND_REFUSALS, ...INDEX_REFUSALS],
  },
  {
    method: "post",
    path: "/evidencegraph/build/ark:{NAAN}/{postfix}",
    operationId: "build_evidence",
    tag: "evidence",
    summary: "Build and store an evidence graph",
    description:
      "Built in the background and stored as a record of the caller's, one for each record, " +
      "direction, depth, `assertedBy` and owner. Poll `GET " +
      "/evidencegraph/build/status/{submissionUUID}` until `completed`. When its inputs " +
      "change, the stored graph is renewed before it is next read.",
    parameters: [...arkPath(EXAMPLES.dataset["@id"] as string), DIRECTION, DEPTH, ASSERTED_BY],
    answer: { description: "The submission.", content: json(schemaRef("Submission"), BUILD) },
    token: "required",
    refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN", "TOO_MANY_REQUESTS", ...FIND_REFUSALS],
  },
  {
    method: "get",
    path: "/evidencegraph/build/status/{submissionUUID}",
    operationId: "evidence_build_status",
    tag: "evidence",
    summary: "Status of a build",
    description:
      "For its submitter and administrators. A finished one names the stored graph in " +
      "`evidenceGraphIdentifier`.",
    parameters: [
      path(
        "submissionUUID",
        "The submissionUUID that the build returned.",
        { type: "string" },
        QUEUED["submissionUUID"] as string,
      ),
    ],
    answer: { description: "The submission.", content: json(schemaRef("Submission"), BUILT) },
    token: "required",
    refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN", "NOT_FOUND"],
  },
];

type Form = "jsonld" | "json" | "svg" | EvidenceFormat;
/** Names of `?format=`. */
const EVIDENCE_FORM_NAMES: Readonly<Record<Form, Form>> = {
  jsonld: "jsonld",
  json: "json",
  "prov-json": "prov-json",
  turtle: "turtle",
  dot: "dot",
  mermaid: "mermaid",
  svg: "svg",
};
const JSON_TYPES = { jsonld: "application/ld+json", json: "application/json" } as const;
/** PROV-JSON is not among them: it has no media type of its own. */
const BY_TYPE: Readonly<Record<string, Form>> = {
  "application/ld+json": "jsonld",
  "application/json": "json",
  [EVIDENCE_FORMATS.turtle.type]: "turtle",
  [EVIDENCE_FORMATS.dot.type]: "dot",
  [EVIDENCE_FORMATS.mermaid.type]: "mermaid",
  "image/svg+xml": "svg",
};

const TYPES = Object.keys(BY_TYPE) as [string, ...string[]];

/**
 * The requested form.
 * @throws ServiceError `NOT_ACCEPTABLE`; ValidationError for an unknown name
 */
function evidenceForm({ req, query }: RestRequest): Form {
  return query["format"] === undefined
    ? BY_TYPE[preferred(req.headers.accept, TYPES)]!
    : formatNamed(query["format"], EVIDENCE_FORM_NAMES);
}

const HEADERS = { "Cache-Control": "no-store", Vary: "Accept" };

async function sendPicture(request: RestRequest): Promise<void> {
  const { req, res, context } = request;
  const asked = { ark: arkOf(request), ...evidenceParameters(request.query) };
  const file = { form: "file", base: context.deps.baseUrl() } as const;
  const { drawn, graph } = await pictures.draw(asked, file, context);
  sendBytes(req, res, Buffer.from(drawn.svg), {
    type: "image/svg+xml; charset=utf-8",
    headers: { ...HEADERS, ...cut(request, graph), "Content-Security-Policy": PICTURE_POLICY },
  });
}

/** Sends a graph in a form other than JSON, which {@link EvidenceResolver.written} writes. */
async function sendForm(request: RestRequest, form: EvidenceFormat): Promise<void> {
  const { req, res, query, context } = request;
  const graph = await evidence.query(
    { ark: arkOf(request), ...evidenceParameters(query) },
    context,
  );
  const { type, write } = EVIDENCE_FORMATS[form];
  const text = await write(graph);
  sendBytes(req, res, Buffer.from(text), {
    type: type === "application/json" ? type : `${type}; charset=utf-8`,
    headers: { ...HEADERS, ...cut(request, graph) },
  });
}

/** A form that cannot hold a cursor signals truncation in the headers. */
function cut(request: RestRequest, { truncated, cursor }: EvidenceGraph): Record<string, string> {
  if (!truncated) return {};
  return {
    "X-Truncated": "true",
    Link: linkToNext(request, { ...request.query, cursor: cursor! }),
  };
}

const evidence = new EvidenceResolver();
const pictures = new EvidencePictureResolver();
const submissions = new CrateResolver();
const FRESH = { headers: { "Cache-Control": "no-store" } };

export const evidenceOperations: Handlers = {
  query_evidence: async (request) => {
    const form = evidenceForm(request);
    if (form === "svg") return sendPicture(request);
    if (form !== "jsonld" && form !== "json") return sendForm(request, form);
    const { req, res, query, context } = request;
    const parts = evidence.written({ ark: arkOf(request), ...evidenceParameters(query) }, context);
    await streamBytes(req, res, parts, { type: JSON_TYPES[form], headers: HEADERS });
  },
  build_evidence: async (request) => {
    const { req, res, query } = request;
    const context = signedIn(request.context);
    const { direction, depth, assertedBy } = evidenceParameters({
      direction: query["direction"],
      depth: query["depth"],
      assertedBy: query["assertedBy"],
    });
    const asked = {
      ark: arkOf(request),
      direction,
      ...(depth === undefined ? {} : { depth }),
      ...(assertedBy === undefined ? {} : { assertedBy }),
    };
    sendJson(req, res, await evidence.build(asked, context), FRESH);
  },
  evidence_build_status: async ({ req, res, params, context }) => {
    sendJson(req, res, await submissions.submission(params["submissionUUID"]!, context), FRESH);
  },
  evidence_impact: async (request) => {
    sendJson(
      request.req,
      request.res,
      await evidence.impactOf(arkOf(request), request.context, assertedByParameter(request.query)),
      FRESH,
    );
  },
  evidence_path: async (request) => {
    const { to } = request.query;
    if (to === undefined) throw invalid(["query", "to"], "Field required", "missing");
    sendJson(
      request.req,
      request.res,
      await evidence.pathBetween(
        arkOf(request),
        askedArk(to),
        request.context,
        assertedByParameter(request.query),
      ),
      FRESH,
    );
  },
};
