import { EXAMPLES } from "../../model/examples.js";
import { BODY_REFUSALS, FIND_REFUSALS, WRITE_REFUSALS, json, schemaRef, type Operation } from "./operation.js";
import { IF_MATCH, arkPath } from "./parameters.js";

const ARK = EXAMPLES.dataset["@id"] as string;
const PUBLISHED = { "@id": ARK, publicationStatus: "PUBLISHED", embargoedUntil: null };

export const PUBLICATION: readonly Operation[] = [
  {
    method: "put", path: "/publish", operationId: "publish", tag: "publication", summary: "Set whether the content of a record is open",
    description: "Any status may follow any. The content of a PUBLISHED record is readable by anyone, of others by those who may change the record; EMBARGOED content opens at `embargoedUntil`, of a crate's member when the crate is published too. Publishing a crate publishes its members that are DRAFT, and leaves all others alone.",
    parameters: [IF_MATCH],
    body: json(schemaRef("PublicationRequest"), { "@id": ARK, publicationStatus: "PUBLISHED" }),
    answer: { description: "The status as it is now.", content: json(schemaRef("Publication"), PUBLISHED, "Publication"), headers: ["ETag", "X-Publication-Status"] },
    token: "required", refusals: [...WRITE_REFUSALS, ...BODY_REFUSALS, ...FIND_REFUSALS, "REVISION_MISMATCH"],
  },
  {
    method: "get", path: "/publish/ark:{NAAN}/{postfix}", operationId: "publication_status", tag: "publication", summary: "Whether the content of a record is open",
    parameters: arkPath(ARK),
    answer: { description: "The status.", content: json(schemaRef("Publication"), PUBLISHED, "Publication"), headers: ["ETag", "X-Publication-Status"] },
    refusals: FIND_REFUSALS,
  },
];
