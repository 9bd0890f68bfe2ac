import { expandCurie } from "../../model/field.js";
import { PROVENANCE, type ProvenanceName } from "../../model/provenance.js";

/** Property IRI that a statement is told by. `evi:directlySupportedBy` is inferred as well, so PROV-O's twin speaks for it. */
export const statedAs = (name: ProvenanceName): string => expandCurie(name === "informedBy" ? "prov:wasInformedBy" : PROVENANCE[name].evi);

/** Property IRI as the graph states it → name. */
export const NAME_OF_IRI: ReadonlyMap<string, ProvenanceName> = new Map((Object.keys(PROVENANCE) as ProvenanceName[]).map((name) => [statedAs(name), name]));
