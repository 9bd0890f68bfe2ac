import { GraphQLScalarType } from "graphql";
import { GraphQLDateTimeISO } from "graphql-scalars";

/** A time; as text also for pages, which ask in this process and get no JSON. */
export const DateTime = new GraphQLScalarType({
  ...GraphQLDateTimeISO.toConfig(),
  name: "DateTime",
  specifiedByURL: "https://scalars.graphql.org/andimarek/date-time.html",
});
