import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { attributionOf } from "../records/attribution.js";
import { landmarksOf } from "../records/list.js";
import { element } from "./xml.js";

/** A metadata format of the repository. */
export interface OaiFormat {
  readonly prefix: string;
  readonly namespace: string;
  readonly schema: string;
  /**
   * The metadata of a record, as one XML element.
   * @throws ValidationError where the record lacks what the format requires
   */
  write(deps: Deps, record: StoredRecord): Promise<string>;
}

/** Rights of the content in the words of OpenAIRE; metadata is open of every record. */
const RIGHTS = {
  PUBLISHED: "openAccess",
  EMBARGOED: "embargoedAccess",
  ARCHIVED: "closedAccess",
  DRAFT: "restrictedAccess",
} as const satisfies Record<StoredRecord["publicationStatus"], string>;

const NAMESPACE = "http://www.openarchives.org/OAI/2.0/oai_dc/";
const SCHEMA = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd";

const DUBLIN_CORE: OaiFormat = {
  prefix: "oai_dc",
  namespace: NAMESPACE,
  schema: SCHEMA,
  async write(deps, record) {
    const landmarks = landmarksOf(record);
    const { authors, when } = await attributionOf(deps, landmarks);
    const values: readonly (readonly [name: string, text: string | null])[] = [
      ["title", landmarks.name ?? record.ark],
      ...authors.map(({ name, id }) => ["creator", name ?? id] as const),
      ...landmarks.keywords.map((keyword) => ["subject", keyword] as const),
      ["description", landmarks.description],
      ["publisher", deps.config.REGISTRY_NAME],
      ["date", when],
      ["type", landmarks.schemaType.slice("https://schema.org/".length)],
      ["format", landmarks.content?.mediaType ?? null],
      ["identifier", `${deps.baseUrl()}/${encodeURI(record.ark)}`],
      ["identifier", record.ark],
      ["relation", record.crate && `${deps.baseUrl()}/${encodeURI(record.crate)}`],
      ["rights", `info:eu-repo/semantics/${RIGHTS[record.publicationStatus]}`],
      ["rights", landmarks.license],
    ];
    return (
      `<oai_dc:dc xmlns:oai_dc="${NAMESPACE}" xmlns:dc="http://purl.org/dc/elements/1.1/" ` +
      `xsi:schemaLocation="${NAMESPACE} ${SCHEMA}">` +
      `${values.map(([name, text]) => (text === null ? "" : element(`dc:${name}`, text))).join("")}` +
      "</oai_dc:dc>"
    );
  },
};

/** The formats of the repository; each record has the first one. */
export const OAI_FORMATS: readonly [OaiFormat, ...OaiFormat[]] = [DUBLIN_CORE];
