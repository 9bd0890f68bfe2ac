import { registerEnumType } from "type-graphql";
import { KIND_NAMES, type KindName } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds.js";
import { TEXT_FORMATS } from "../../../services/formats/read.js";

/** GraphQL name of a value: the value in the code, and what it means. */
type Values<V extends string> = Readonly<Record<string, readonly [value: V, description: string]>>;

/** A GraphQL enum whose every value is described; fields have the values of the code. */
export function describedEnum<V extends string>(
  name: string,
  description: string,
  values: Values<V>,
): Record<string, V> {
  const of = <T>(part: (value: readonly [V, string]) => T): Record<string, T> =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, part(value)]));
  const type = of(([value]) => value);
  registerEnumType(type, {
    name,
    description,
    valuesConfig: of(([, about]) => ({ description: about })),
  });
  return type;
}

/** `DATASET`, `DATADOWNLOAD` …: the kinds by their names in the model. */
export const RecordKindEnum = describedEnum<KindName>(
  "RecordKind",
  "Kinds of records, by the name of their path.",
  Object.fromEntries(
    KIND_NAMES.map((kind) => [kind.toUpperCase(), [kind, KINDS[kind].description] as const]),
  ),
);

/** The formats of records that are text. */
export const RecordFormatEnum = describedEnum(
  "RecordFormat",
  "Formats of records as text, by their names in `?format=`.",
  Object.fromEntries(
    TEXT_FORMATS.map(({ name, label, description }) => [
      name.toUpperCase(),
      [name, `${label}. ${description}`] as const,
    ]),
  ),
);

export const DifferenceKind = describedEnum(
  "DifferenceKind",
  "How a member of a document differs from the earlier state.",
  {
    ADDED: ["ADDED", "The earlier state does not have it."],
    REMOVED: ["REMOVED", "The later state does not have it."],
    CHANGED: ["CHANGED", "Both states have it, with other values."],
  },
);

export const SubmissionStatusEnum = describedEnum("SubmissionStatus", "State of a submission.", {
  QUEUED: ["queued", "It waits for its first or its next attempt."],
  RUNNING: ["running", "It is being worked on."],
  FINISHED: ["finished", "It succeeded, and its results are stored."],
  FAILED: ["failed", "It ended without results; its errors say why."],
});

export const RevisionActionEnum = describedEnum("RevisionAction", "What made a revision.", {
  CREATE: ["create", "The record was created, or created again after a deletion."],
  UPDATE: ["update", "The document was changed."],
  DELETE: ["delete", "The record was deleted; a tombstone remains."],
  PUBLISH: ["publish", "The publication status was changed."],
});

export const FindingSeverityEnum = describedEnum(
  "FindingSeverity",
  "How much a finding in a crate matters.",
  {
    REQUIRED: ["REQUIRED", "The upload is refused."],
    RECOMMENDED: ["RECOMMENDED", "Advice: the upload would be accepted nevertheless."],
  },
);

export const ShapeSeverityEnum = describedEnum("ShapeSeverity", "Severity of a SHACL result.", {
  VIOLATION: ["Violation", "A constraint is broken: the record does not conform."],
  WARNING: ["Warning", "A constraint that records should meet is not met."],
  INFO: ["Info", "A remark."],
});

export const TableErrorTypeEnum = describedEnum("TableErrorType", "What is wrong with a row.", {
  PARSING_ERROR: ["ParsingError", "The row cannot be converted."],
  VALIDATION_ERROR: ["ValidationError", "A value breaks a rule of the schema."],
});

export const ContentStateEnum = describedEnum("ContentState", "Whether bytes are stored.", {
  STORED: ["stored", "The bytes are stored here."],
  DAMAGED: ["damaged", "The stored bytes were found damaged: upload the file again."],
  DELETED: ["deleted", "The bytes were deleted."],
  NONE: ["none", "No bytes were stored here."],
});

export const HealthStateEnum = describedEnum("HealthState", "State of a part of the service.", {
  OK: ["ok", "It works."],
  LOADING: ["loading", "An index that is being filled; records are served meanwhile."],
  DAMAGED: ["damaged", "Some of what it stores is damaged; the rest is served."],
  FAILED: ["failed", "It does not answer."],
});
