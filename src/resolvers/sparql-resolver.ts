import { networkOf } from "../client-address.js";
import { answerQuery, type SparqlRequest } from "../use-cases/sparql/index.js";
import type { OpenAnswer } from "../stores/queries/open-port.js";
import type { Context } from "./context.js";

/** SPARQL for anyone. No field of GraphQL: its own language is the better one there. */
export class SparqlResolver {
  /** @throws ServiceError as `answerQuery` of the use cases */
  query(request: Omit<SparqlRequest, "caller" | "shared">, { deps, caller, address, ownAddress }: Context): Promise<OpenAnswer> {
    return answerQuery({ ...request, caller: caller?.user ?? `address ${networkOf(address)}`, shared: caller === null && !ownAddress }, deps);
  }
}
