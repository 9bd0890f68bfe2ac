import type { EventStreams } from "../event-streams.js";
import type { Operations } from "../request.js";
import { accountOperations } from "./accounts.js";
import { computationOperations } from "./computations.js";
import { cratePlanOperations } from "./crate-plans.js";
import { crateOperations } from "./crates.js";
import { crateReadOperations } from "./crate-reads.js";
import { downloadOperations } from "./downloads.js";
import { evidenceOperations } from "./evidence.js";
import { fileOperations } from "./files.js";
import { groupOperations } from "./groups.js";
import { historyOperations } from "./history.js";
import { ontologyOperations } from "./ontology.js";
import { publicationOperations } from "./publication.js";
import { allRecordOperations, projectOperations, resolverOperations } from "./records.js";
import { schemaOperations } from "./schemas.js";
import { scoreOperations } from "./scores.js";
import { searchOperations } from "./search.js";
import { serviceOperations } from "./service.js";
import { sparqlOperations } from "./sparql.js";
import { submissionOperations } from "./submissions.js";
import { validationOperations } from "./validation.js";

/**
 * The handler of every operation of the contract, by operationId.
 * @param contract the OpenAPI document
 * @param streams where streams of events are kept, to be ended with the server
 */
export function operations(contract: object, streams: EventStreams): Operations {
  return {
    ...serviceOperations(contract), ...accountOperations, ...allRecordOperations, ...projectOperations, ...groupOperations, ...computationOperations, ...resolverOperations,
    ...historyOperations, ...crateOperations, ...cratePlanOperations, ...crateReadOperations, ...submissionOperations(streams), ...fileOperations, ...downloadOperations, ...publicationOperations, ...evidenceOperations,
    ...sparqlOperations, ...validationOperations, ...ontologyOperations,
    ...scoreOperations, ...searchOperations, ...schemaOperations,
  };
}
