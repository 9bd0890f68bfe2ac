import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
import { dataciteXml } from "../formats/datacite.js";
import { dublinCoreXml } from "../formats/dublin-core.js";
import { element, parent } from "../formats/xml.js";
import type { RecordView } from "../records/view.js";

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

/** No format shows what other records imply, so that is not read. */
const viewOf = (record: StoredRecord): RecordView => ({ record, bytes: record.document, etag: "" });

const DUBLIN_CORE: OaiFormat = {
  prefix: "oai_dc",
  namespace: "http://www.openarchives.org/OAI/2.0/oai_dc/",
  schema: "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
  write: (deps, record) => dublinCoreXml(deps, viewOf(record)),
};

const OAI_DATACITE = "http://schema.datacite.org/oai/oai-1.1/";
/** The envelope in which DataCite's own repository delivers its documents. */
const DATACITE: OaiFormat = {
  prefix: "oai_datacite",
  namespace: OAI_DATACITE,
  schema: `${OAI_DATACITE}oai.xsd`,
  write: async (deps, record) =>
    parent(
      "oai_datacite",
      [
        element("schemaVersion", "4.7"),
        element("datacentreSymbol", deps.config.REGISTRY_NAME),
        parent("payload", [await dataciteXml(deps, viewOf(record))]),
      ],
      { xmlns: OAI_DATACITE, "xsi:schemaLocation": `${OAI_DATACITE} ${OAI_DATACITE}oai.xsd` },
    ),
};

/** The formats of the repository; each record has the first one. */
export const OAI_FORMATS: readonly [OaiFormat, ...OaiFormat[]] = [DUBLIN_CORE, DATACITE];
