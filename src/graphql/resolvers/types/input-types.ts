import { finished } from "node:stream/promises";
import { GraphQLJSON } from "graphql-scalars";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import { Field, ID, InputType } from "type-graphql";
import { invalid, ServiceError, ValidationError } from "../../../errors.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import type { KindName } from "../../../model/kind.js";
import { KINDS } from "../../../model/kinds.js";
import { badStringItem, findBadString } from "../../../model/strings.js";
import type { IncomingFile } from "../../../services/files/stored-content.js";
import type { Context } from "../context.js";
import { scalarOf } from "./records.js";

export type RecordInput = Record<string, unknown>;

/** Members of a document that the input type of a kind has a field for. */
const FIELDS = new Map<KindName, Set<string>>();

/** GraphQL names of the JSON-LD keywords. */
const INPUT_NAMES: Readonly<Record<string, string>> = { "@type": "type", "@context": "context" };

/**
 * Input type of each kind that clients can write over the API. The type requires nothing: the rules
 * of REST decide, with the same codes.
 */
export const INPUT_TYPES = Object.fromEntries(
  Object.values(KINDS)
    .filter((kind) => kind.path !== null && kind.name !== "rocrate")
    .map((kind) => {
      const type = class {} as unknown as new () => RecordInput;
      const name = `${kind.typeName}Input`;
      Object.defineProperty(type, "name", { value: name });
      InputType(name)(type);
      const add = (field: string, of: unknown, description: string) =>
        Field((() => of) as never, { nullable: true, description })(
          type.prototype as object,
          field,
        );
      const fields = new Set(["@id"]);
      FIELDS.set(kind.name, fields);
      add("id", ID, "Identifier; minted when absent.");
      for (const [field, spec] of Object.entries(kind.fields)) {
        if (spec.computed) continue;
        const graphqlName = INPUT_NAMES[field] ?? field;
        if (graphqlName === "additionalProperties" || (kind.name === "schema" && field === "type"))
          continue;
        add(
          graphqlName,
          field === "@type" || spec.json === "stringOrList" ? GraphQLJSON : scalarOf(spec)(),
          spec.description,
        );
        fields.add(field);
      }
      add(
        "additionalProperties",
        GraphQLJSON,
        "Further members of the document, as a JSON object.",
      );
      return [kind.name, type];
    }),
) as Partial<Record<KindName, new () => RecordInput>>;

const INPUT_KEYWORDS: Readonly<Record<string, string>> = {
  id: "@id",
  type: "@type",
  context: "@context",
};

/**
 * A GraphQL input as the equivalent REST document. Where a kind has one type only, the name of the
 * mutation implies it.
 * @throws ValidationError where a JSON body would be refused; multipart requests are parsed less
 * strictly
 */
export function documentOf(kind: KindName, input: RecordInput, maxDepth: number): JsonObject {
  const { additionalProperties, ...declared } = input;
  const stated = Object.entries(declared)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, JsonValue] => [
      INPUT_KEYWORDS[name] ?? name,
      value as JsonValue,
    ]);
  const fields = FIELDS.get(kind);
  if (
    additionalProperties !== undefined &&
    additionalProperties !== null &&
    (typeof additionalProperties !== "object" || Array.isArray(additionalProperties))
  ) {
    throw invalid(
      ["body", "additionalProperties"],
      "Input should be a valid dictionary",
      "dict_type",
    );
  }
  const more = Object.entries((additionalProperties ?? {}) as JsonObject);
  const repeated = more.filter(([name]) => fields?.has(name));
  if (repeated.length > 0) {
    throw new ValidationError(
      repeated.map(([name]) => ({
        loc: ["body", "additionalProperties", name],
        type: "value_error",
        msg:
          "Value error, The input has a field for this member, " +
          `${INPUT_NAMES[name] ?? (name === "@id" ? "id" : name)}: send it there`,
      })),
    );
  }
  // fromEntries: `__proto__` is a key like any other.
  const document = Object.fromEntries([...stated, ...more]);
  const only = KINDS[kind].fields["@type"]?.const;
  if (only !== undefined && !Object.hasOwn(document, "@type")) document["@type"] = only;
  if (isDeeperThan(document, maxDepth))
    throw invalid(
      ["body"],
      `Input should be nested at most ${maxDepth} levels deep (MAX_JSON_DEPTH)`,
      "too_deep",
    );
  const bad = findBadString(document);
  if (bad) throw new ValidationError([badStringItem(["body", ...bad])]);
  return document;
}

function isDeeperThan(value: JsonValue, most: number): boolean {
  const inner = (held: JsonValue): JsonValue[] =>
    held !== null && typeof held === "object" ? Object.values(held) : [];
  let level = [value].filter((held) => typeof held === "object" && held !== null);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= most) return true;
    level = level.flatMap(inner).filter((held) => typeof held === "object" && held !== null);
  }
  return false;
}

/**
 * Passes the file of a multipart request to `use` while it arrives, and always ends its stream.
 * @throws ServiceError `TOO_LARGE`, `BAD_REQUEST` when it breaks off, or as `use`
 */
export async function withUpload<T>(
  upload: Promise<FileUpload>,
  context: Context,
  use: (file: IncomingFile) => Promise<T>,
): Promise<T> {
  try {
    const { createReadStream, filename, mimetype } = await upload;
    const stream = createReadStream();
    // Until the store reads from the stream it has no other listener; a client that disconnects at
    // that time would crash the process.
    stream.on("error", () => undefined);
    try {
      return await use({ stream, name: filename, mediaType: mimetype });
    } finally {
      stream.destroy();
      await finished(stream).catch(() => undefined);
    }
  } catch (error) {
    throw uploadRefusal(error, context.deps.config.MAX_UPLOAD_BYTES);
  }
}

/**
 * The form parser counts and watches the bytes as well, and may be the first to detect that the
 * file is too large or incomplete.
 */
function uploadRefusal(error: unknown, limit: number): unknown {
  const { status } = error as { status?: number };
  if (error instanceof ServiceError || status === undefined || status < 400 || status >= 500)
    return error;
  if (status === 413)
    return new ServiceError(
      "TOO_LARGE",
      `The upload is larger than ${limit} bytes (MAX_UPLOAD_BYTES).`,
    );
  return new ServiceError("BAD_REQUEST", "The upload ended before it was complete: send it again.");
}
