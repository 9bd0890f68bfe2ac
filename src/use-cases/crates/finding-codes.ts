const limit = (meaning: string) => ({ status: 413, meaning }) as const;
const conflict = (meaning: string) => ({ status: 409, meaning }) as const;
const content = (meaning: string) => ({ status: 422, meaning }) as const;

/** Every code of what can be found in a crate; stable, documented, never reused. */
export const FINDING_CODES = {
  // The archive
  NOT_A_ZIP: content("The upload is no zip archive, or its end is missing."),
  CORRUPT_ARCHIVE: content("The archive's directory contradicts itself or the file."),
  CORRUPT_MEMBER: content("A member cannot be inflated, or its checksum is wrong."),
  MEMBER_SIZE_MISMATCH: content("A member has another size than the archive's directory says."),
  MEMBER_OVERLAP: content("Two members share bytes of the archive, or one reaches into its directory."),
  MEMBER_ENCRYPTED: content("A member is encrypted."),
  UNSUPPORTED_COMPRESSION: content("A member is compressed by another method than deflate."),
  BAD_MEMBER_NAME: content("A member's name is empty, absolute, or holds `..`, a drive letter, a backslash, NUL, or bytes that are no text."),
  SPECIAL_MEMBER: content("A member is a symbolic link or a device."),
  DUPLICATE_NAME: content("Two members have names that common file systems cannot tell apart."),
  TOO_MANY_ENTRIES: limit("The archive has more members than MAX_CRATE_ENTRIES."),
  MEMBER_NAME_TOO_LONG: limit("A member's name is longer than MAX_MEMBER_NAME_BYTES."),
  INFLATED_TOO_LARGE: limit("The members together are larger than MAX_CRATE_INFLATED_BYTES."),
  RATIO_TOO_HIGH: limit("A member inflates to more than MAX_CRATE_RATIO times its compressed size."),
  // The metadata
  NO_METADATA: content("The archive has no ro-crate-metadata.json."),
  AMBIGUOUS_METADATA: content("Several metadata files lie equally deep."),
  METADATA_TOO_LARGE: limit("A metadata file is larger than MAX_METADATA_BYTES."),
  ENTITY_TOO_LARGE: limit("An entity of the metadata is larger than MAX_ENTITY_BYTES."),
  TOO_MANY_ENTITIES: limit("The crate has more entities than MAX_CRATE_ENTITIES."),
  json_invalid: content("The metadata is not JSON."),
  number_precision: content("A number cannot be kept exactly."),
  duplicate_key: content("A key stands twice in one object."),
  string_unicode: content("A string holds NUL or half of a surrogate pair."),
  too_deep: limit("The metadata nests deeper than MAX_JSON_DEPTH."),
  METADATA_SHAPE: content("The metadata is no RO-Crate: no object, or no graph of objects."),
  NO_ROOT: content("No descriptor says which entity is the crate, or the one it names is not there."),
  ROOT_NOT_DATASET: content("The entity that the descriptor calls the crate is a file."),
  UNKNOWN_CONTEXT: content("The metadata names a remote context that is not bundled."),
  JSONLD_INVALID: content("An entity or the context breaks the rules of JSON-LD."),
  INVALID_ID: content("An `@id` is not text, or leads out of the crate."),
  NAAN_NOT_ACCEPTED: content("An ARK's authority is not among ACCEPTED_NAANS."),
  DUPLICATE_ENTITY: content("Two entities have one identifier and were merged."),
  ID_MISSING: content("An entity has no `@id`; one was made for it."),
  ARK_MALFORMED: content("An `@id` begins like an ARK and is none; an identifier was made for the entity."),
  LOST_TERM: content("No context explains a term."),
  FIELD_MISSING: content("An entity lacks what its kind requires over the API."),
  FIELD_LENGTH: content("A text is shorter or longer than its kind allows over the API; it is kept whole."),
  NESTED_ELSEWHERE: content("A metadata file outside the crate's folder is kept as a plain file."),
  // The files
  FILE_MISSING: content("A file that the metadata describes is not in the archive."),
  FILE_NOT_IN_ARCHIVE: content("A `contentUrl` points to a file that is not in the archive; the record has no content."),
  SIZE_MISMATCH: content("A file has another size than its entity says."),
  DIGEST_MISMATCH: content("A file has another digest than its entity says."),
  // The registry
  CRATE_EXISTS: conflict("The crate's identifier exists and belongs to the uploader."),
  IDENTIFIER_TAKEN: conflict("An identifier of the crate belongs to another record."),
  INTAKE_TIMEOUT: limit("The intake took longer than INTAKE_TIMEOUT."),
  OUT_OF_MEMORY: limit("The intake needed more memory than INTAKE_MEMORY."),
  COMMIT_TOO_LONG: limit("Making the crate visible in one step took longer than COMMIT_LIMIT."),
  ARCHIVE_GONE: content("The uploaded archive is no longer stored."),
  CANCELLED: conflict("The submission was cancelled."),
  CRASHED_REPEATEDLY: content("The work was begun MAX_ATTEMPTS times and never came to an end."),
  MORE_FINDINGS: content("More was found than is listed."),
} as const satisfies Record<string, { status: 409 | 413 | 422; meaning: string }>;

export type FindingCode = keyof typeof FINDING_CODES;
