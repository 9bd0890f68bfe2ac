import type { ErrorCode } from "../../errors.js";
import { EXAMPLES } from "../../model/examples.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import { type Kind, publicView } from "../../model/kind.js";
import { COLLECTIVES, KINDS } from "../../model/kinds.js";
import { json as jsonForm, jsonld } from "../../services/formats/documents.js";
import { fullType, type RecordFormat } from "../../services/formats/format.js";
import { formatsOf } from "../../services/formats/table.js";
import {
  arkPath,
  AUTHORIZATION,
  BACKLINKS,
  BODY_REFUSALS,
  type ContractRow,
  FIND_REFUSALS,
  formatQuery,
  IF_MATCH,
  IF_NONE_MATCH,
  json,
  LIST,
  type MediaTypeObject,
  NOT_MODIFIED,
  path,
  REVISION,
  schemaRef,
  TOMBSTONE,
  WRITE_REFUSALS,
} from "./rows.js";
import { answerOf, bodyOf, recordExample } from "./schemas.js";

const HEADERS = ["ETag", "X-Publication-Status"] as const;
const READ_REFUSALS = [...FIND_REFUSALS, "NOT_ACCEPTABLE"] as const;

/** The six operations of a kind. Differences of a kind are stated where they apply. */
function recordRows(kind: Kind): ContractRow[] {
  return [
    listOperation(kind),
    createOperation(kind),
    updateOperation(kind),
    patchOperation(kind),
    getOperation(kind),
    deleteOperation(kind),
  ];
}

const article = (kind: Kind): string =>
  `${/^[aeio]/i.test(kind.typeName) ? "an" : "a"} ${labelOf(kind)}`;
/** `EvidenceGraph` → `evidence graph`, `MLModel` → `ML model`. */
const labelOf = (kind: Kind): string =>
  kind.typeName
    .replace(/(?<=[a-z]|^ML)(?=[A-Z])/g, " ")
    .toLowerCase()
    .replace(/^ml /, "ML ");

function listOperation(kind: Kind): ContractRow {
  const example = publicView(kind, recordExample(kind));
  return {
    method: "get",
    path: `/${kind.path ?? kind.name}`,
    operationId: `list_${kind.name}`,
    tag: "records",
    summary: `List of records: ${labelOf(kind)}`,
    description: "Without `limit` the whole list. Deleted records are left out.",
    parameters: LIST,
    answer: {
      description: "The records.",
      content: json({ type: "array", items: answerOf(kind) }, [example], `${kind.typeName}List`),
      headers: ["Link", "X-Total-Count"],
    },
    ...(kind.name === "user"
      ? { token: "required", refusals: ["NOT_AUTHENTICATED", "INVALID_TOKEN"] }
      : {}),
  };
}

function createOperation(kind: Kind): ContractRow {
  return {
    method: "post",
    path: `/${kind.path}`,
    operationId: `create_${kind.name}`,
    tag: "records",
    summary: `Create ${article(kind)}`,
    description:
      `${kind.description} Without \`@id\` an identifier is ` +
      `minted.${
        kind.fields["owner"]
          ? " `owner` may also be given in compact form, as an object with `@id`; its " +
            "`@id` is stored."
          : ""
      }`,
    body: bodiesOf(kind),
    answer: {
      description: "The created record.",
      content: json(answerOf(kind), recordExample(kind), `${kind.typeName}Record`),
      headers: HEADERS,
    },
    ...(kind.name === "user"
      ? {
          bodyLimit: "MAX_LOGIN_BYTES" as const,
          refusals: [...WRITE_REFUSALS, ...BODY_REFUSALS, "DUPLICATE", "EMAIL_TAKEN"],
        }
      : { token: "required", refusals: [...WRITE_REFUSALS, ...BODY_REFUSALS, "DUPLICATE"] }),
  };
}

function updateOperation(kind: Kind): ContractRow {
  return {
    method: "put",
    path: `/${kind.path}`,
    operationId: `update_${kind.name}`,
    tag: "records",
    summary: `Replace ${article(kind)}`,
    description:
      "Replaces the whole record that the body's `@id` names: absent fields get their " +
      "default or are removed. A body that changes nothing creates no revision.",
    parameters: [IF_MATCH],
    body: bodiesOf(kind),
    answer: {
      description: "The updated record.",
      content: json(answerOf(kind), recordExample(kind), `${kind.typeName}Record`),
      headers: HEADERS,
    },
    token: "required",
    refusals: [
      ...WRITE_REFUSALS,
      ...BODY_REFUSALS,
      ...FIND_REFUSALS,
      "WRONG_KIND",
      "REVISION_MISMATCH",
      ...passwordRefusals(kind),
    ],
  };
}

/** A new password needs the current one. */
const passwordRefusals = ({ name }: Kind): readonly ErrorCode[] =>
  name === "user" ? ["BAD_CREDENTIALS"] : [];

/** The bodies of a patch, and what they may be refused with. */
export const PATCH_BODIES: Readonly<Record<string, MediaTypeObject>> = {
  "application/merge-patch+json": {
    schema: schemaRef("MergePatch"),
    example: { description: "Described anew, by a patch.", url: null },
    exampleName: "MergePatch",
  },
  "application/json-patch+json": {
    schema: schemaRef("JsonPatch"),
    example: [
      { op: "test", path: "/description", value: "Described anew, by a patch." },
      { op: "replace", path: "/description", value: "Described once more, by a patch." },
      { op: "add", path: "/alternateName", value: "Patched" },
    ],
    exampleName: "JsonPatch",
  },
};
export const PATCH_DESCRIPTION =
  "Changes what the patch names and leaves the rest. The patch applies to the record as `GET` " +
  "answers it; the result is stored as `PUT` would store it. `@id` and `@type` stay. A patch " +
  "that changes nothing creates no revision.";
export const PATCH_REFUSALS = [
  ...WRITE_REFUSALS,
  ...BODY_REFUSALS,
  ...FIND_REFUSALS,
  "PATCH_CONFLICT",
  "REVISION_MISMATCH",
] as const;

function patchOperation(kind: Kind): ContractRow {
  const example = recordExample(kind);
  return {
    method: "patch",
    path: `/${kind.path}/ark:{NAAN}/{postfix}`,
    operationId: `patch_${kind.name}`,
    tag: "records",
    summary: `Change parts of ${article(kind)}`,
    description: PATCH_DESCRIPTION,
    parameters: [...arkPath(example["@id"] as string), IF_MATCH],
    body: PATCH_BODIES,
    answer: {
      description: "The changed record.",
      content: json(answerOf(kind), example, `${kind.typeName}Record`),
      headers: HEADERS,
    },
    token: "required",
    refusals: [...PATCH_REFUSALS, ...passwordRefusals(kind)],
  };
}

function getOperation(kind: Kind): ContractRow {
  const example = publicView(kind, recordExample(kind));
  return {
    method: "get",
    path: `/${kind.path}/ark:{NAAN}/{postfix}`,
    operationId: `get_${kind.name}`,
    tag: "records",
    summary: `One record: ${labelOf(kind)}`,
    description: kind.closed
      ? "Anyone sees the declared public fields; the account itself and administrators see " +
        "the rest."
      : "Lists that other records imply are filled in when the record is read.",
    parameters: [
      ...arkPath(example["@id"] as string),
      IF_NONE_MATCH,
      formatQuery(kind.name),
      REVISION,
      BACKLINKS,
    ],
    answer: {
      description: "The record.",
      content: representations(kind, example),
      headers: [...HEADERS, "Link", "Content-Location"],
    },
    also: NOT_MODIFIED,
    token: "optional",
    refusals: READ_REFUSALS,
  };
}

function deleteOperation(kind: Kind): ContractRow {
  const example = recordExample(kind);
  return {
    method: "delete",
    path: `/${kind.path}/ark:{NAAN}/{postfix}`,
    operationId: `delete_${kind.name}`,
    tag: "records",
    summary: `Delete ${article(kind)}`,
    description:
      "Leaves a tombstone: the identifier is not used again, and reading it returns 410.",
    parameters: [...arkPath(example["@id"] as string), IF_MATCH, ...TOMBSTONE],
    answer: {
      description: "The deleted record.",
      content: json(answerOf(kind), example, `${kind.typeName}Record`),
    },
    token: "required",
    refusals: [
      ...WRITE_REFUSALS,
      ...FIND_REFUSALS,
      ...(COLLECTIVES.has(kind.name) ? (["OWNS_RECORDS"] as const) : []),
      "REVISION_MISMATCH",
    ],
  };
}

/** A record in every media type that `Accept` may ask for; JSON-LD when it does not say. */
export function representations(kind: Kind, example: JsonObject): Record<string, MediaTypeObject> {
  return representationsOf(
    answerOf(kind),
    example,
    kind,
    kind.closed ? `Public${kind.typeName}` : `${kind.typeName}Record`,
  );
}

/** The same for a record when only the kind of the example is known. */
export function representationsOf(
  schema: JsonObject,
  example: JsonObject,
  kind: Kind,
  exampleName = `${kind.typeName}Record`,
  formats: readonly RecordFormat[] = formatsOf(kind.name),
): Record<string, MediaTypeObject> {
  return Object.fromEntries(
    formats.map((format) => [
      fullType(format),
      format === jsonld || format === jsonForm
        ? { schema, example, exampleName }
        : documentOf(format),
    ]),
  );
}

/** A document in a format that has no schema of its own here. */
function documentOf({ name, mediaType, isBinary, example }: RecordFormat): MediaTypeObject {
  if (isBinary || example === undefined) return { schema: {} };
  return mediaType.endsWith("json")
    ? {
        schema: { type: ["object", "array"] },
        example: JSON.parse(example) as JsonValue,
        exampleName: `Format_${name}`,
      }
    : { schema: { type: "string" }, example, exampleName: `Format_${name}` };
}

const bodiesOf = (kind: Kind): Record<string, MediaTypeObject> => ({
  "application/json": {
    schema: bodyOf(kind),
    example: EXAMPLES[kind.name],
    exampleName: kind.typeName,
  },
  "application/ld+json": {
    schema: bodyOf(kind),
    example: EXAMPLES[kind.name],
    exampleName: kind.typeName,
  },
});

const NAMES = [
  "user",
  "group",
  "software",
  "dataset",
  "computation",
  "evidencegraph",
  "schema",
] as const;

/** Kinds whose operations are all alike; projects and organizations have their own table. */
export const RECORDS: readonly ContractRow[] = NAMES.flatMap((name) => recordRows(KINDS[name]));

/** Kinds that are created in other ways have the list only. */
export const LISTS: readonly ContractRow[] = [
  KINDS.datadownload,
  ...Object.values(KINDS).filter(({ path }) => path === null),
].map(listOperation);

const withHeader = (operation: ContractRow): ContractRow => ({
  ...operation,
  parameters: [...(operation.parameters ?? []), AUTHORIZATION],
});

/** The contract declares the header on every project operation. */
const projects = recordRows(KINDS.project).map(withHeader);
const get = projects.find((operation) => operation.operationId === "get_project")!;

/**
 * A project by the organization it belongs to: the path that the contract names; `get_project`
 * accepts the identifier as a whole.
 */
const getOfOrganization: ContractRow = {
  ...get,
  path: "/project/ark:{NAAN}/{organization}/{postfix}",
  operationId: "get_project_of_organization",
  summary: "One project of an organization",
  description:
    "The project with the identifier `ark:{NAAN}/{organization}/{postfix}`; else the " +
    "project `ark:{NAAN}/{postfix}` whose `memberOf` is `ark:{NAAN}/{organization}`.",
  parameters: [
    ...arkPath("ark:99999/project-atlas").slice(0, 1),
    path(
      "organization",
      "The organization's identifier after the NAAN.",
      { type: "string" },
      "organization-lab",
    ),
    ...arkPath("ark:99999/project-atlas").slice(1),
    ...(get.parameters ?? []).slice(arkPath("").length),
  ],
};

export const PROJECTS: readonly ContractRow[] = [...projects, getOfOrganization];

/** The contract declares the header on every organization operation but the list. */
export const ORGANIZATIONS: readonly ContractRow[] = recordRows(KINDS.organization).map(
  (operation) =>
    operation.operationId === "list_organization" ? operation : withHeader(operation),
);
