import { PREFIXES } from "../../../model/field.js";
import { PROVENANCE } from "../../../model/provenance.js";
import type { EvidenceGraph } from "../types.js";
import { ARKGRAPH, RELATIONS, provModel, type ProvClass } from "./prov-model.js";

type Attributes = Record<string, unknown>;

/** PROV-JSON (W3C Member Submission, 24 April 2013): identifiers are qualified names, an ARK with the prefix `ark`. */
export function provJson(graph: EvidenceGraph): string {
  const { classes, nodes, relations } = provModel(graph);
  const names = new Names();
  const document: Record<string, Record<string, Attributes>> = {};
  const put = (section: string, id: string, attributes: Attributes): unknown => ((document[section] ??= {})[id] = attributes);
  for (const [iri, isA] of classes) {
    const node = nodes.get(iri);
    const attributes: Attributes = {
      ...(node?.name !== undefined && { "prov:label": node.name }),
      ...(node && node["@type"].length > 0 && { "prov:type": node["@type"].map((type) => qualified(names.of(expand(type)))) }),
    };
    for (const section of isA) put(section satisfies ProvClass, names.of(iri), attributes);
  }
  for (const [index, { relation, supported, supporting, names: said, records, owners, thirdParty }] of relations.entries()) {
    const [a, b] = RELATIONS[relation];
    put(relation, `_:r${index}`, {
      [`prov:${a}`]: names.of(supported), [`prov:${b}`]: names.of(supporting), "prov:type": said.map((name) => qualified(PROVENANCE[name].evi)),
      ...(records.size > 0 && { "arkgraph:assertedBy": [...records].map((record) => qualified(names.of(record))) }),
      ...(owners.size > 0 && { "arkgraph:assertedByOwner": [...owners].map((owner) => qualified(names.of(owner))) }),
      ...(thirdParty && { "arkgraph:thirdParty": true }),
    });
  }
  return JSON.stringify({ prefix: names.prefixes, ...document });
}

const qualified = (name: string): Attributes => ({ $: name, type: "xsd:QName" });
const expand = (type: string): string => type.includes(":") ? type.replace(/^(evi|prov):/, (_, prefix: "evi" | "prov") => PREFIXES[prefix]) : PREFIXES.schema + type;

/** Prefixes as they are needed. `prov` and `xsd` are known to every reader, and declared by none. */
class Names {
  readonly prefixes: Record<string, string> = { ark: "ark:", arkgraph: ARKGRAPH, evi: PREFIXES.evi, schema: PREFIXES.schema };
  readonly #byNamespace = new Map<string, string>([[PREFIXES.evi, "evi"], [PREFIXES.schema, "schema"], [PREFIXES.prov, "prov"]]);

  of(iri: string): string {
    if (iri.startsWith("ark:")) return iri;
    const cut = Math.max(iri.lastIndexOf("/"), iri.lastIndexOf("#"), iri.indexOf(":")) + 1;
    const namespace = iri.slice(0, cut);
    let prefix = this.#byNamespace.get(namespace);
    if (prefix === undefined) {
      this.#byNamespace.set(namespace, (prefix = `ns${this.#byNamespace.size - 2}`));
      this.prefixes[prefix] = namespace;
    }
    return `${prefix}:${iri.slice(cut)}`;
  }
}
