import type { StoredRecord } from "../../storage/records/port.js";
import type { Deps } from "../deps.js";
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

const DC: OaiFormat = {
  prefix: "oai_dc",
  namespace: "http://www.openarchives.org/OAI/2.0/oai_dc/",
  schema: "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
  async write(_deps, record) {
    const { name } = landmarksOf(record);
    return `<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/">${element("dc:title", name ?? record.ark)}</oai_dc:dc>`;
  },
};

export const OAI_FORMATS: readonly OaiFormat[] = [DC, { ...DC, prefix: "oai_datacite" }];
