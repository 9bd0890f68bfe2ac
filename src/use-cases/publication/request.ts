import { ValidationError, type ValidationItem } from "../../errors.js";
import { lookupArk } from "../../identifiers/ark.js";
import { dateProblem } from "../../model/dates.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { PublicationStatus } from "../../stores/records/port.js";

export const PUBLICATION_STATUSES = ["DRAFT", "PUBLISHED", "EMBARGOED", "ARCHIVED"] as const satisfies readonly PublicationStatus[];
const EXPECTED = "'DRAFT', 'PUBLISHED', 'EMBARGOED' or 'ARCHIVED'";

/** Which record gets which status. */
export interface PublicationRequest { id: string; status: PublicationStatus; embargoedUntil: string | null }

/** Every broken rule of a request to publish. @throws ValidationError */
export function checkedPublication(input: JsonValue | undefined, at: readonly (string | number)[] = ["body"]): PublicationRequest {
  if (input === undefined || input === null) throw new ValidationError([{ loc: [...at], msg: "Field required", type: "missing" }]);
  if (typeof input !== "object" || Array.isArray(input)) {
    throw new ValidationError([{ loc: [...at], msg: "Input should be a valid dictionary or object to extract fields from", type: "model_attributes_type" }]);
  }
  const problems = [...identifierProblems(input), ...statusProblems(input), ...embargoProblems(input)];
  if (problems.length > 0) throw new ValidationError(problems.map(({ loc, ...rest }) => ({ loc: [...at, ...loc], ...rest })));
  return { id: input["@id"] as string, status: input["publicationStatus"] as PublicationStatus, embargoedUntil: (input["embargoedUntil"] as string | null | undefined) ?? null };
}

function identifierProblems(body: JsonObject): ValidationItem[] {
  const id = own(body, "@id");
  if (id === undefined) return [{ loc: ["@id"], msg: "Field required", type: "missing" }];
  if (typeof id !== "string") return [{ loc: ["@id"], msg: "Input should be a valid string", type: "string_type" }];
  return lookupArk(id) === undefined ? [{ loc: ["@id"], msg: "Value error, not an ARK; for example ark:99999/dataset-images", type: "value_error" }] : [];
}

function statusProblems(body: JsonObject): ValidationItem[] {
  const status = own(body, "publicationStatus");
  if (status === undefined) return [{ loc: ["publicationStatus"], msg: "Field required", type: "missing" }];
  return PUBLICATION_STATUSES.some((known) => known === status) ? [] : [{ loc: ["publicationStatus"], msg: `Input should be ${EXPECTED}`, type: "literal_error", ctx: { expected: EXPECTED } }];
}

function embargoProblems(body: JsonObject): ValidationItem[] {
  const until = own(body, "embargoedUntil");
  if (until === undefined || until === null) return [];
  if (typeof until !== "string") return [{ loc: ["embargoedUntil"], msg: "Input should be a valid datetime", type: "datetime_type" }];
  const error = dateProblem(until);
  if (error !== undefined) return [{ loc: ["embargoedUntil"], msg: `Input should be a valid datetime or date, ${error}`, type: "datetime_from_date_parsing", ctx: { error } }];
  if (own(body, "publicationStatus") === "EMBARGOED") return [];
  return [{ loc: ["embargoedUntil"], msg: "Value error, only a record with the status EMBARGOED has an end of its embargo", type: "value_error" }];
}

const own = (body: JsonObject, name: string): JsonValue | undefined => (Object.hasOwn(body, name) ? body[name] : undefined);
