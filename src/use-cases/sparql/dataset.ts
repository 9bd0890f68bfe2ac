import { storedArk } from "../../identifiers/ark.js";
import { ServiceError } from "../../errors.js";
import { inferredGraph } from "../../model/provenance.js";
import { isIri } from "../../stores/queries/iri.js";

export interface GraphNames { default: readonly string[]; named: readonly string[] }

/**
 * The dataset of a query: what the protocol names, else what FROM and FROM NAMED name (SPARQL 1.1 Protocol, section
 * 2.1.4), else `undefined`: the union of all graphs, with each of them by name.
 * @param baseUrl address of this registry: its spelling of an identifier names the same graph
 * @throws ServiceError `QUERY_REFUSED` for what is no IRI
 */
export function datasetOf(asked: GraphNames, from: GraphNames | undefined, baseUrl: string): GraphNames | undefined {
  const stated = asked.default.length + asked.named.length > 0 ? asked : from;
  if (!stated) return undefined;
  const graphs = (iris: readonly string[]) => [...new Set(iris.map((iri) => graphName(iri, baseUrl)))];
  return { default: graphs(stated.default), named: graphs(stated.named) };
}

const INFERRED = inferredGraph("");

function graphName(iri: string, baseUrl: string): string {
  if (!isIri(iri)) throw new ServiceError("QUERY_REFUSED", `A graph of the dataset is no IRI: ${iri.slice(0, 300)}; write the ARK of a record.`);
  const local = iri.startsWith(`${baseUrl}/`) ? iri.slice(baseUrl.length + 1) : iri;
  if (!/^ark:/i.test(local)) return iri;
  const inferred = local.endsWith(INFERRED);
  const ark = storedArk(inferred ? local.slice(0, -INFERRED.length) : local);
  return ark === undefined ? iri : inferred ? inferredGraph(ark) : ark;
}
