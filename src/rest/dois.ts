import { signedIn } from "../graphql/resolvers/context.js";
import { DoiResolver } from "../graphql/resolvers/doi-resolver.js";
import { NOT_STORED, sendJson } from "../http/reply.js";
import { EXAMPLES } from "../model/examples.js";
import {
  arkPath,
  type ContractRow,
  FIND_REFUSALS,
  json,
  schemaRef,
  WRITE_REFUSALS,
} from "./contract/rows.js";
import { QUEUED } from "./crates.js";
import { arkOf, type Handlers } from "./request.js";

const ARK = EXAMPLES.dataset["@id"] as string;

export const DOIS: readonly ContractRow[] = [
  {
    method: "post",
    path: "/doi/ark:{NAAN}/{postfix}",
    operationId: "reserve_doi",
    tag: "publication",
    summary: "Reserve the DOI of a record",
    description:
      "Assigns the record a DOI, which it states as an `identifier` from then on, and " +
      "registers it in the background: as a draft at first, findable once the record is " +
      "published, updated with every change, and hidden when the record is withdrawn or " +
      "deleted. A second call repeats a registration that failed. A registry without a DOI service refuses " +
      "with `NO_DOI_SERVICE` and changes nothing.",
    parameters: arkPath(ARK),
    answer: {
      description: "The DOI, and the submission to poll at `/rocrate/upload/status`.",
      content: json(schemaRef("ReservedDoi"), {
        "@id": ARK,
        doi: "10.5072/4q8x0z7rbnt2mk",
        submission: { ...QUEUED, sha256: null, doiRecordIdentifier: ARK },
      }),
    },
    token: "required",
    refusals: [...WRITE_REFUSALS, ...FIND_REFUSALS, "WRONG_KIND", "NO_DOI_SERVICE"],
  },
];

const dois = new DoiResolver();

export const doiOperations: Handlers = {
  reserve_doi: async (request) => {
    const context = signedIn(request.context);
    const { ark, ...reserved } = await dois.reserve(arkOf(request), context);
    sendJson(request.req, request.res, { "@id": ark, ...reserved }, { headers: NOT_STORED });
  },
};
