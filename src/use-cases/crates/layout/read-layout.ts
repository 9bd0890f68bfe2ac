import type { JsonObject, JsonValue } from "../../../model/field.js";
import type { Findings } from "../findings.js";
import { isObject, step } from "../json-path.js";
import type { MetadataFile } from "../metadata/locate.js";
import type { CrateDescription, CrateEntity } from "./description.js";
import { bareId, findDescriptor, findRoot, isDescriptorName } from "./descriptor.js";
import { embeddedEntities } from "./embedded.js";

/**
 * Reads any layout of crate metadata:
 * - RO-Crate 1.0 to 1.3: a flat `@graph` in which a descriptor names the root (`about`);
 * - the older layout: the crate is one object with its own `@graph` and no descriptor.
 * What breaks the layout is an error among the findings, and nothing is answered then.
 */
export function readLayout(metadata: JsonObject, { file, folder }: MetadataFile, findings: Findings): CrateDescription | undefined {
  const { "@context": context, "@graph": graph, ...own } = metadata;
  const entities = entitiesOf(graph, file, findings);
  const descriptor = findDescriptor(entities);
  if (descriptor) {
    const root = findRoot(descriptor, entities);
    if (!root) {
      findings.error("NO_ROOT", "The descriptor's `about` names no entity of the graph; describe the crate itself, usually as `./`.", { file, pointer: descriptor.pointer });
      return undefined;
    }
    for (const entity of entities) if (bareId(entity.id) === bareId(descriptor.id)) entity.descriptor = true;
    const described = withEmbedded(entities.includes(root) ? entities : [root, ...entities]);
    // A root that the descriptor holds is found inside it as well.
    return { file, folder, context, hasGraph: true, descriptor, root, entities: described.filter((entity) => entity === root || entity.value !== root.value) };
  }
  const silent = entities.find(({ id }) => isDescriptorName(id));
  if (silent) {
    findings.error("NO_ROOT", "The descriptor has no `about`, which says which entity is the crate. Add `\"about\": {\"@id\": \"./\"}`, see RO-Crate 1.2, section Root Data Entity.", { file, pointer: silent.pointer });
    return undefined;
  }
  if (!Object.keys(own).some((key) => key === "@id" || key === "@type" || !key.startsWith("@"))) {
    const missing = graph === undefined || graph === null ? "The crate has no `@graph`. Add one with the descriptor and the entities, see RO-Crate 1.2, section RO-Crate Metadata Document." : "No entity with the `@id` ro-crate-metadata.json says which entity is the crate. Add the descriptor.";
    findings.error("NO_ROOT", missing, { file, pointer: "" });
    return undefined;
  }
  const id = own["@id"];
  if (id !== undefined && typeof id !== "string") {
    findings.error("INVALID_ID", "The crate's `@id` is not text.", { file, pointer: "/@id" });
    return undefined;
  }
  const root: CrateEntity = { id: id ?? "./", pointer: "", value: { ...own, "@id": id ?? "./" } };
  return { file, folder, context, hasGraph: graph !== undefined && graph !== null, root, entities: withEmbedded([root, ...entities]) };
}

function entitiesOf(graph: JsonValue | undefined, file: string, findings: Findings): CrateEntity[] {
  if (graph === undefined || graph === null) return [];
  const entities: CrateEntity[] = [];
  for (const [index, value] of (Array.isArray(graph) ? graph : [graph]).entries()) {
    const pointer = Array.isArray(graph) ? `/@graph${step(index)}` : "/@graph";
    if (!isObject(value)) {
      findings.error("METADATA_SHAPE", "An item of @graph is no object.", { file, pointer });
      continue;
    }
    const id = value["@id"];
    if (typeof id === "string") entities.push({ id, pointer, value });
    else if (id === undefined || id === null) {
      findings.warn("ID_MISSING", "The entity has no `@id`; one is made for it.", { file, pointer });
      entities.push({ id: `_:${pointer.slice(1)}`, pointer, value });
    } else findings.error("INVALID_ID", "The `@id` is not text.", { file, pointer: `${pointer}/@id` });
  }
  return entities;
}

const withEmbedded = (entities: CrateEntity[]): CrateEntity[] => [...entities, ...entities.flatMap(embeddedEntities)];
