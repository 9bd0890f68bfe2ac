import type { Kind, KindName } from "../kind.js";
import { group, organization, project, user } from "./agents.js";
import { entity, rocrate, schema } from "./crates.js";
import { computation, datadownload, dataset, evidencegraph, software } from "./objects.js";

/** Every kind by its name, in the order of the contract. */
export const KINDS: Readonly<Record<KindName, Kind>> = {
  user, group, organization, project, software, dataset, computation, evidencegraph, rocrate, datadownload, schema, entity,
};
