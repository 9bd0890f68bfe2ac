import { signedIn } from "../graphql/resolvers/context.js";
import { PublicationResolver } from "../graphql/resolvers/record-resolver.js";
import { readJson } from "../http/body.js";
import { expectedRevision } from "../http/negotiation.js";
import { sendJson } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import { publicationOf } from "../services/publication/publish.js";
import { etagOf } from "../services/records/view.js";
import type { StoredRecord } from "../storage/records/port.js";
import {
  arkPath,
  BODY_REFUSALS,
  type ContractRow,
  FIND_REFUSALS,
  IF_MATCH,
  json,
  schemaRef,
  WRITE_REFUSALS,
} from "./contract/rows.js";
import { arkOf, type Handlers, type RestRequest } from "./request.js";

const ARK = EXAMPLES.dataset["@id"] as string;
const PUBLISHED = { "@id": ARK, publicationStatus: "PUBLISHED", embargoedUntil: null };

export const PUBLICATION: readonly ContractRow[] = [
  {
    method: "put",
    path: "/publish",
    operationId: "publish",
    tag: "publication",
    summary: "Set whether the content of a record is open",
    description:
      "Every change of status is allowed. The content of a PUBLISHED record is readable " +
      "by anyone, of others by those who may change the record; EMBARGOED content opens " +
      "at `embargoedUntil`, of a crate's member when the crate is published too. " +
      "Publishing a crate publishes its members that are DRAFT, and leaves all others " +
      "alone.",
    parameters: [IF_MATCH],
    body: json(schemaRef("PublicationRequest"), { "@id": ARK, publicationStatus: "PUBLISHED" }),
    answer: {
      description: "The current status.",
      content: json(schemaRef("Publication"), PUBLISHED, "Publication"),
      headers: ["ETag", "X-Publication-Status"],
    },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...BODY_REFUSALS, ...FIND_REFUSALS, "REVISION_MISMATCH"],
  },
  {
    method: "get",
    path: "/publish/ark:{NAAN}/{postfix}",
    operationId: "publication_status",
    tag: "publication",
    summary: "Whether the content of a record is open",
    parameters: arkPath(ARK),
    answer: {
      description: "The status.",
      content: json(schemaRef("Publication"), PUBLISHED, "Publication"),
      headers: ["ETag", "X-Publication-Status"],
    },
    refusals: FIND_REFUSALS,
  },
];

const publications = new PublicationResolver();

function send({ req, res }: RestRequest, record: StoredRecord): void {
  sendJson(req, res, publicationOf(record), {
    headers: {
      ETag: etagOf(record),
      "X-Publication-Status": record.publicationStatus,
      "Cache-Control": "no-cache",
    },
  });
}

export const publicationOperations: Handlers = {
  publish: async (request) => {
    const { req } = request;
    const context = signedIn(request.context);
    send(
      request,
      await publications.publish(await readJson(req, context.deps), expectedRevision(req), context),
    );
  },
  publication_status: async (request) =>
    send(request, await publications.status(arkOf(request), request.context)),
};
