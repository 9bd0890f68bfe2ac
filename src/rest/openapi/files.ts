import type { ErrorCode } from "../../errors.js";
import type { JsonObject } from "../../model/field.js";
import { KINDS } from "../../model/kinds/index.js";
import { NOT_MODIFIED, headerRefs, type Content, type HeaderName, type Operation } from "./operation.js";
import { FORMAT, IF_NONE_MATCH, RANGE, REVISION, arkPath } from "./parameters.js";
import { representations } from "./records.js";
import { recordExample } from "./schemas.js";

const EXAMPLE = recordExample(KINDS.datadownload);
const ARK = EXAMPLE["@id"] as string;

/** Bytes in the media type that the record names. */
export const BYTES: Record<string, Content> = { "*/*": { schema: {}, example: "image,cells\nfov-001.tif,214\n" } };
export const CONTENT_HEADERS: readonly HeaderName[] = ["ETag", "Accept-Ranges"];
export const CONTENT_REFUSALS: readonly ErrorCode[] = ["NOT_AUTHENTICATED", "INVALID_TOKEN", "FORBIDDEN", "NOT_FOUND", "AMBIGUOUS", "GONE", "CONTENT_DELETED", "RANGE_NOT_SATISFIABLE"];

/** The answer to a request with `Range`. */
export const PARTIAL = (content: Readonly<Record<string, Content>>): Record<string, JsonObject> => ({
  "206": { description: "The bytes that `Range` asks for.", headers: headerRefs([...CONTENT_HEADERS, "Content-Range"]), content: content as unknown as JsonObject },
});

/** Where S3_PRESIGNED is set. */
export const ELSEWHERE: Record<string, JsonObject> = {
  "307": { description: "The bytes are at the address in `Location`, for a while and without a token; a `Range` is to be sent there too.", headers: { ...headerRefs(["ETag"]), Location: { schema: { type: "string", format: "uri" } } } },
};

const contentOperation = (path: string, operationId: string, summary: string, parameters: JsonObject[]): Operation => ({
  method: "get", path, operationId, tag: "files", summary,
  description: "Open to anyone once the record is published; before that to those who may change it. A crate is its archive as it was uploaded, which is for those who may read every member.",
  parameters: [...parameters, RANGE, IF_NONE_MATCH],
  answer: { description: "The stored bytes.", content: BYTES, headers: CONTENT_HEADERS },
  also: { ...PARTIAL(BYTES), ...NOT_MODIFIED, ...ELSEWHERE },
  token: "optional", refusals: CONTENT_REFUSALS,
});

export const FILES: readonly Operation[] = [
  {
    method: "get", path: "/datadownload/ark:{NAAN}/{download_id}", operationId: "get_datadownload", tag: "files", summary: "The metadata of a file",
    parameters: [...arkPath(ARK, "download_id"), IF_NONE_MATCH, FORMAT, REVISION],
    answer: { description: "The record.", content: representations(KINDS.datadownload, EXAMPLE), headers: ["ETag", "Link", "X-Publication-Status", "Content-Location"] },
    also: NOT_MODIFIED,
    refusals: ["NOT_FOUND", "AMBIGUOUS", "GONE", "NOT_ACCEPTABLE"],
  },
  contentOperation("/datadownload/ark:{NAAN}/{download_id}/download", "download_datadownload", "The content of a file", arkPath(ARK, "download_id")),
  contentOperation("/dataset/download/ark:{NAAN}/{postfix}", "download_dataset", "The content of a dataset", arkPath("ark:99999/dataset-cells")),
  contentOperation("/software/download/ark:{NAAN}/{postfix}", "download_software", "The content of software", arkPath("ark:99999/software-segment")),
  contentOperation("/download/ark:{NAAN}/{postfix}", "download_content", "The content of any record, to be saved", arkPath(ARK)),
  contentOperation("/view/ark:{NAAN}/{postfix}", "view_content", "The content of any record, to be looked at", arkPath(ARK)),
];
