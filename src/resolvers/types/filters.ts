import { ArgsType, Field, ID, InputType } from "type-graphql";
import { ValidationError, type ValidationItem } from "../../errors.js";
import { lookupArk } from "../../identifiers/ark.js";
import type { ListFilter } from "../../use-cases/records/list.js";
import { PageArguments } from "./connection.js";

@InputType({ description: "Narrows and orders a list." })
export class RecordFilter {
  @Field(() => String, { nullable: true, description: "Part of the name." }) name?: string | null;
  @Field(() => ID, { nullable: true, description: "User, group, organization or project that owns the records." }) owner?: string | null;
  @Field(() => String, { nullable: true, description: "One of the keywords, upper and lower case alike." }) keyword?: string | null;
  @Field(() => String, { nullable: true, description: "created (the usual one), -created or name." }) order?: string | null;
}

@InputType({ description: "Narrows and orders a list of what crates bring." })
export class CrateRecordFilter extends RecordFilter {
  @Field(() => ID, { nullable: true, description: "Crate that the records came with; the crate itself is among them." }) crate?: string | null;
}

@ArgsType()
export class ListArguments extends PageArguments {
  @Field(() => RecordFilter, { nullable: true }) filter?: RecordFilter | null;
}

@ArgsType()
export class CrateListArguments extends PageArguments {
  @Field(() => CrateRecordFilter, { nullable: true }) filter?: CrateRecordFilter | null;
}

const ORDERS = ["created", "-created", "name"];

/** The filter as lists take it; what was given as null is not asked for. @throws ValidationError with all that is wrong */
export function filterOf(filter: CrateRecordFilter | null | undefined): ListFilter {
  const { crate, ...rest } = Object.fromEntries(Object.entries(filter ?? {}).filter(([, value]) => value !== null && value !== undefined)) as Record<string, string>;
  const problems: ValidationItem[] = [];
  const expected = "'created', '-created' or 'name'";
  if (rest["order"] !== undefined && !ORDERS.includes(rest["order"])) problems.push({ loc: ["query", "order"], msg: `Input should be ${expected}`, type: "literal_error", ctx: { expected } });
  const ark = crate === undefined ? undefined : lookupArk(crate);
  if (crate !== undefined && ark === undefined) problems.push({ loc: ["query", "crate"], msg: "Value error, not an ARK; for example ark:99999/rocrate-example", type: "value_error" });
  if (problems.length > 0) throw new ValidationError(problems);
  return { ...rest, ...(ark === undefined ? {} : { crate: ark }) };
}
