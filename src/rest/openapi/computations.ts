import { EXAMPLES } from "../../model/examples.js";
import { QUEUED } from "./crates.js";
import { FIND_REFUSALS, WRITE_REFUSALS, json, schemaRef, type Operation } from "./operation.js";
import { arkPath } from "./parameters.js";

export const COMPUTATIONS: readonly Operation[] = [
  {
    method: "put", path: "/computation/execute/ark:{NAAN}/{postfix}", operationId: "execute_computation", tag: "records", summary: "Run the container of a computation",
    description: "For those who may change the computation. A registry without a container engine refuses with `NO_CONTAINER_ENGINE` and changes nothing.",
    parameters: arkPath(EXAMPLES.computation["@id"] as string),
    answer: { description: "The run, as a submission to poll.", content: json(schemaRef("Submission"), QUEUED) },
    token: "required", refusals: [...WRITE_REFUSALS, ...FIND_REFUSALS, "NO_CONTAINER_ENGINE"],
  },
];
