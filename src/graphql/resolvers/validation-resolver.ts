import { GraphQLJSON } from "graphql-scalars";
import GraphQLUpload from "graphql-upload/GraphQLUpload.mjs";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import "reflect-metadata";
import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from "type-graphql";
import type { Ark } from "../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import type { IncomingFile } from "../../services/records/stored-content.js";
import { askedArk } from "../../services/records/find.js";
import { documentBytes } from "../../services/records/view.js";
import { checkTable, type TableCheckAnswer } from "../../services/schemas/check-table.js";
import type { ShapeReport, ShapeResult } from "../../services/validation/document.js";
import { validateShapes } from "../../services/validation/validate.js";
import type { Context } from "./context.js";
import {
  RecordKindEnum,
  RecordNode,
  ShapeSeverityEnum,
  TableErrorTypeEnum,
} from "./types/records.js";
import { withUpload } from "./types/inputs.js";
import { idOf, inputOf, payloadOf, required } from "./types/mutations.js";

@ObjectType("ShapeResult", {
  description: "One constraint of a shape that a record breaks.",
  simpleResolvers: true,
})
class ShapeResultType implements ShapeResult {
  @Field(() => ID, { description: "The record." }) node!: string;
  @Field(() => RecordKindEnum, { description: "Kind of the record." }) kind!: KindName;
  @Field(() => String, {
    nullable: true,
    description: "IRI of the property; null when the record itself is at fault.",
  })
  path!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "The value at fault; null when one is lacking.",
  })
  value!: string | null;
  @Field({ description: "What is wrong." }) message!: string;
  @Field(() => ShapeSeverityEnum, { description: "How much it matters." })
  severity!: ShapeResult["severity"];
  @Field({ description: "SHACL constraint component, e.g. MinCountConstraintComponent." })
  constraint!: string;
  @Field({ description: "IRI of the node shape." }) shape!: string;
}
@ObjectType("ShapeReport", {
  description: "What a check by SHACL shapes found.",
  simpleResolvers: true,
})
class ShapeReportType implements ShapeReport {
  @Field({ description: "Nothing was found." }) conforms!: boolean;
  @Field(() => [ShapeResultType], { description: "What was found." }) results!: ShapeResultType[];
  @Field(() => Int, { description: "Records that were checked." }) checked!: number;
  @Field({ description: "There are more results than these." }) truncated!: boolean;
}

/** Checks by the shapes of `ontology/shapes.ttl`. */
@Resolver()
export class ValidationResolver {
  @Query(() => ShapeReportType, {
    name: "validate",
    description:
      "Checks a record by the SHACL shape of its kind and stores nothing. Only an @id: what " +
      "is stored under it; of a crate also its members.",
  })
  validateDocument(
    @Arg("document", () => GraphQLJSON, { description: "The record, or its @id alone." })
    document: JsonValue,
    @Ctx() context: Context,
    @Arg("kind", () => RecordKindEnum, {
      nullable: true,
      description: "Kind to check the document as; otherwise its @type decides.",
    })
    kind?: KindName | null,
  ): Promise<ShapeReport> {
    return validateShapes(
      context.deps,
      documentBytes(document as JsonObject),
      kind ?? undefined,
      new AbortController().signal,
    );
  }
}

/** The report of a stored record. */
@Resolver(() => RecordNode)
export class ShapeReportResolver {
  @FieldResolver(() => ShapeReportType, {
    nullable: true,
    description: "What its kind's SHACL shape finds; of a crate, in its members too.",
  })
  async shapeReport(
    @Root() { stored }: RecordNode,
    @Ctx() { deps, budget }: Context,
  ): Promise<ShapeReport | null> {
    if (!stored) return null;
    return budget.queued(() =>
      validateShapes(
        deps,
        documentBytes({ "@id": stored.ark }),
        undefined,
        new AbortController().signal,
      ),
    );
  }
}

@ObjectType({ description: "One thing wrong with one row.", simpleResolvers: true })
class TableError {
  @Field(() => Int, { description: "Position among the data rows, from 0." }) row!: number;
  @Field(() => TableErrorTypeEnum, { description: "What is wrong with the row." })
  errorType!: string;
  @Field(() => String, { nullable: true, description: "Violated JSON Schema keyword." })
  failedKeyword!: string | null;
  @Field({ description: "What is wrong." }) message!: string;
}
const ValidateTableInput = inputOf("validateTable", {
  schema: idOf("Identifier of the schema."),
  file: required<Promise<FileUpload>>(GraphQLUpload, "The table."),
});
const ValidateTablePayload = payloadOf("validateTable", {
  conforms: required<boolean>(Boolean, "No row has an error."),
  errors: required<TableError[]>(
    [TableError],
    "Parsing errors by row, then validation errors by row.",
  ),
  truncated: required<boolean>(Boolean, "True when there are more errors than TABLE_MAX_ERRORS."),
});

/** Validation of tables against schemas. REST calls {@link SchemaResolver.check} as well. */
@Resolver()
export class SchemaResolver {
  /** @throws as `checkTable` */
  check(ark: Ark, file: IncomingFile, { deps }: Context): Promise<TableCheckAnswer> {
    return checkTable(deps, ark, file);
  }

  @Mutation(() => ValidateTablePayload, {
    description:
      "Checks a table against a stored schema; nothing of it is stored (GraphQL " +
      "multipart request; send the header apollo-require-preflight).",
  })
  async validateTable(
    @Arg("input", () => ValidateTableInput)
    { schema, file: upload }: InstanceType<typeof ValidateTableInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const { errors, ...rest } = await withUpload(upload, (file) =>
      this.check(askedArk(schema), file, context),
    );
    return {
      ...rest,
      errors: errors.map(({ row, error_type, failed_keyword, message }) => ({
        row,
        errorType: error_type,
        failedKeyword: failed_keyword,
        message,
      })),
    };
  }
}
