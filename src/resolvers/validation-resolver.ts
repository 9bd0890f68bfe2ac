import { GraphQLJSON } from "graphql-scalars";
import { Arg, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from "type-graphql";
import type { JsonObject, JsonValue } from "../model/field.js";
import type { KindName } from "../model/kind.js";
import { documentBytes } from "../use-cases/records/view.js";
import type { ShapeReport, ShapeResult } from "../use-cases/validation/report.js";
import { validateShapes } from "../use-cases/validation/validate.js";
import type { Context } from "./context.js";

@ObjectType("ShapeResult", { description: "One constraint of a shape that a record breaks.", simpleResolvers: true })
class ShapeResultType implements ShapeResult {
  @Field(() => ID, { description: "The record." }) node!: string;
  @Field(() => String) kind!: KindName;
  @Field(() => String, { nullable: true, description: "IRI of the property; null when the record itself is at fault." }) path!: string | null;
  @Field(() => String, { nullable: true, description: "The value at fault; null when one is lacking." }) value!: string | null;
  @Field() message!: string;
  @Field(() => String) severity!: ShapeResult["severity"];
  @Field({ description: "SHACL constraint component, e.g. MinCountConstraintComponent." }) constraint!: string;
  @Field({ description: "IRI of the node shape." }) shape!: string;
}
@ObjectType("ShapeReport", { description: "What a check by SHACL shapes found.", simpleResolvers: true })
class ShapeReportType implements ShapeReport {
  @Field() conforms!: boolean;
  @Field(() => [ShapeResultType]) results!: ShapeResultType[];
  @Field(() => Int, { description: "Records that were checked." }) checked!: number;
  @Field({ description: "There are more results than these." }) truncated!: boolean;
}

/** Checks by the shapes of `ontology/shapes.ttl`. */
@Resolver()
export class ValidationResolver {
  /** @throws as {@link validateShapes} */
  validate(document: Uint8Array | undefined, kind: string | undefined, { deps }: Context, signal = new AbortController().signal): Promise<ShapeReport> {
    return validateShapes(deps, document, kind, signal);
  }

  @Query(() => ShapeReportType, { name: "validate", description: "Checks a record by the SHACL shape of its kind and stores nothing. Only an @id: what is stored under it; of a crate also its members." })
  validateDocument(
    @Arg("document", () => GraphQLJSON) document: JsonValue, @Ctx() context: Context,
    @Arg("kind", () => String, { nullable: true, description: "Kind to check the document as, e.g. dataset; else its @type tells it." }) kind?: string,
  ): Promise<ShapeReport> {
    return this.validate(documentBytes(document as JsonObject), kind ?? undefined, context);
  }
}
