import { GraphQLError, GraphQLScalarType } from "graphql";
import { GraphQLDateTimeISO, GraphQLSafeInt } from "graphql-scalars";

/** A time; as text also for pages, which ask in this process and get no JSON. */
export const DateTime = new GraphQLScalarType({
  ...GraphQLDateTimeISO.toConfig(),
  name: "DateTime",
  specifiedByURL: "https://scalars.graphql.org/andimarek/date-time.html",
});

/** The library's errors name its own type. */
const asBigInt =
  <A extends unknown[], T>(read: (...given: A) => T) =>
  (...given: A): T => {
    try {
      return read(...given);
    } catch (error) {
      throw new GraphQLError((error as Error).message.replace("SafeInt", "BigInt"));
    }
  };

const safeInt = GraphQLSafeInt.toConfig();
/** A whole number that may be larger than Int: a size, a sequence. JSON has it as a number. */
export const BigIntScalar = new GraphQLScalarType({
  // graphql-scalars' own BigInt prints a warning when it reads its first argument.
  ...safeInt,
  name: "BigInt",
  description: "A whole number beyond the range of Int, up to 2^53 - 1; a number in JSON.",
  parseValue: asBigInt(safeInt.parseValue),
  parseLiteral: asBigInt(safeInt.parseLiteral),
});
