import {
  ArgsType,
  Field,
  GraphQLISODateTime,
  ID,
  InputType,
  Int,
  registerEnumType,
} from "type-graphql";
import { invalid } from "../../../errors.js";
import type { KindName } from "../../../model/kind.js";
import type { RecordFilterInput, SelectionRange } from "../../../services/records/select.js";
import type { RecordOrder } from "../../../storage/records/selection-port.js";
import { RecordKindEnum } from "./enums.js";
import { checkedPage, PageArguments, PublicationStatusEnum, USUAL_PAGE } from "./records.js";

enum RecordOrderField {
  CREATED = "created",
  MODIFIED = "modified",
  NAME = "name",
}
registerEnumType(RecordOrderField, {
  name: "RecordOrderField",
  description: "What records are ordered by.",
  valuesConfig: {
    CREATED: { description: "The order in which the registry stored the records." },
    MODIFIED: { description: "Time of the last change." },
    NAME: { description: "Name, without case." },
  },
});

enum OrderDirection {
  ASC = "ASC",
  DESC = "DESC",
}
registerEnumType(OrderDirection, {
  name: "OrderDirection",
  description: "ASC: the smallest, first or oldest comes first. DESC: the other way round.",
  valuesConfig: {
    ASC: { description: "The smallest, first or oldest comes first." },
    DESC: { description: "The largest, last or newest comes first." },
  },
});

@InputType("RecordOrder", { description: "An order of records." })
class RecordOrderInput {
  @Field(() => RecordOrderField, { description: "What to order by." }) field!: RecordOrderField;
  @Field(() => OrderDirection, { defaultValue: OrderDirection.ASC, description: "Which way." })
  direction!: OrderDirection;
}

@InputType({ description: "From one time up to another; each may be left out." })
export class DateTimeRange {
  @Field(() => GraphQLISODateTime, { nullable: true, description: "At this time or later." })
  since?: Date | null;
  @Field(() => GraphQLISODateTime, { nullable: true, description: "Before this time." })
  before?: Date | null;
}

@InputType({
  description:
    "Conditions on records; all that are given must hold. A null is ignored. At most 10 levels of " +
    "and, or and not, and 1000 conditions and values in all.",
})
export class RecordFilter implements RecordFilterInput {
  @Field(() => [RecordFilter], { nullable: true, description: "All of these hold." })
  and?: RecordFilter[] | null;
  @Field(() => [RecordFilter], {
    nullable: true,
    description: "One of these holds; no record meets an empty list.",
  })
  or?: RecordFilter[] | null;
  @Field(() => RecordFilter, { nullable: true, description: "This does not hold." })
  not?: RecordFilter | null;
  @Field(() => [RecordKindEnum], { nullable: true, description: "Of one of these kinds." })
  kind?: KindName[] | null;
  @Field(() => String, { nullable: true, description: "Part of the name, without case." })
  name?: string | null;
  @Field(() => String, { nullable: true, description: "The whole name, without case." })
  nameIs?: string | null;
  @Field(() => String, { nullable: true, description: "Beginning of the name, without case." })
  nameStartsWith?: string | null;
  @Field(() => String, {
    nullable: true,
    description: "One of the keywords, upper and lower case alike.",
  })
  keyword?: string | null;
  @Field(() => [String], {
    nullable: true,
    description: "The record has one of these keywords, upper and lower case alike.",
  })
  keywords?: string[] | null;
  @Field(() => ID, {
    nullable: true,
    description: "User, group, organization or project that owns the records.",
  })
  owner?: string | null;
  @Field(() => [ID], { nullable: true, description: "One of these owns the record." })
  owners?: string[] | null;
  @Field(() => ID, {
    nullable: true,
    description: "Crate that the records came with; the crate itself is not among them.",
  })
  crate?: string | null;
  @Field(() => ID, {
    nullable: true,
    description: "Activities that used this record, whichever of the two states it.",
  })
  used?: string | null;
  @Field(() => ID, {
    nullable: true,
    description: "What this activity generated, whichever of the two states it.",
  })
  generatedBy?: string | null;
  @Field(() => ID, {
    nullable: true,
    description: "Parts of this record, whichever of the two states it.",
  })
  partOf?: string | null;
  @Field(() => [String], {
    nullable: true,
    description: "The media type of the stored content is one of these.",
  })
  format?: string[] | null;
  @Field(() => [PublicationStatusEnum], {
    nullable: true,
    description: "The publication status is one of these.",
  })
  status?: PublicationStatusEnum[] | null;
  @Field(() => DateTimeRange, { nullable: true, description: "When the record was created." })
  created?: DateTimeRange | null;
  @Field(() => DateTimeRange, { nullable: true, description: "When it was last changed." })
  modified?: DateTimeRange | null;
  @Field(() => DateTimeRange, {
    nullable: true,
    description:
      "Deleted records, in place of others, by the time of their deletion. It stands in the " +
      "outermost filter or in its and, together with kind, owner, group, crate, describedBy and " +
      "times only.",
  })
  deleted?: DateTimeRange | null;
  @Field(() => [String], {
    nullable: true,
    description:
      "The licence is one of these: SPDX identifiers, or addresses. Both find a licence that is " +
      "known, however the record states it.",
  })
  licence?: string[] | null;
  @Field(() => Int, {
    nullable: true,
    description:
      "Crates whose stored AI-readiness score has at least so many per cent. A crate whose score " +
      "was never asked for has none.",
  })
  scoreAtLeast?: number | null;
  @Field(() => Int, {
    nullable: true,
    description: "Crates whose stored AI-readiness score has fewer per cent.",
  })
  scoreBelow?: number | null;
  @Field(() => String, {
    nullable: true,
    description: "A query in the language of search, without corrections of its spelling.",
  })
  text?: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      "Records of this project: those that it owns or states, that are parts of it, or that name " +
      "it as sourceProject.",
  })
  project?: string | null;
  @Field(() => ID, {
    nullable: true,
    description: "Records that this group, organization or project owns, or one of its members.",
  })
  group?: string | null;
  @Field(() => ID, {
    nullable: true,
    description:
      "Records that this crate describes: those that came with it, and those that it uses besides.",
  })
  describedBy?: string | null;
  @Field(() => String, {
    nullable: true,
    description: "created, -created or name; in the outermost filter of a list of one kind.",
    deprecationReason: "Use the argument orderBy.",
  })
  order?: string | null;
}

@ArgsType()
export class RecordsArguments extends PageArguments {
  @Field(() => String, { nullable: true, description: "startCursor of the page behind." })
  before?: string | null;
  @Field(() => Int, {
    nullable: true,
    description: "The last ones, before the cursor in before, instead of the first; at most 1000.",
  })
  last?: number | null;
  @Field(() => RecordFilter, { nullable: true, description: "Which records; all when absent." })
  filter?: RecordFilter | null;
  @Field(() => RecordOrderInput, {
    nullable: true,
    description: "By creation unless given, the oldest first.",
  })
  orderBy?: RecordOrderInput | null;
}

/** @throws ValidationError when `first` or `last` is out of range, or both are given */
export function checkedRange({
  first,
  after,
  last,
  before,
}: RecordsArguments): Omit<SelectionRange, "bytes"> {
  const cursors = {
    ...(after == null ? {} : { after }),
    ...(before == null ? {} : { before }),
  };
  if (last == null) return { ...checkedPage({ first: first ?? USUAL_PAGE }), ...cursors };
  // The default of first cannot be told from the same number.
  if (first != null && first !== USUAL_PAGE)
    throw invalid(["query", "last"], "Value error, use either first or last, not both");
  const { limit } = checkedPage({ first: last }, "last");
  return { limit, backward: true, ...cursors };
}

const ORDERS = ["created", "-created", "name"];

/**
 * The order that a list is asked for: by its own argument, or by the older member of the filter.
 * @throws ValidationError
 */
export function orderOf({ filter, orderBy }: RecordsArguments): RecordOrder {
  const older = filter?.order;
  if (orderBy) {
    if (older != null)
      throw invalid(["query", "filter", "order"], "Value error, orderBy is given as well");
    return { by: orderBy.field, descending: orderBy.direction === OrderDirection.DESC };
  }
  if (older == null) return { by: "created", descending: false };
  const expected = "'created', '-created' or 'name'";
  if (!ORDERS.includes(older))
    throw invalid(["query", "order"], `Input should be ${expected}`, "literal_error", { expected });
  return { by: older === "name" ? "name" : "created", descending: older === "-created" };
}
