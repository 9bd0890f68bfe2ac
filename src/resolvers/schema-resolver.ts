import "reflect-metadata";
import GraphQLUpload from "graphql-upload/GraphQLUpload.mjs";
import type { FileUpload } from "graphql-upload/processRequest.mjs";
import { Arg, Ctx, Field, ID, Int, Mutation, ObjectType, Resolver } from "type-graphql";
import type { IncomingFile } from "../use-cases/files/staged-file.js";
import { checkTable, type TableCheckAnswer } from "../use-cases/schemas/check-table.js";
import type { Context } from "./context.js";
import { withUpload } from "./upload.js";

@ObjectType({ description: "One thing wrong with one row.", simpleResolvers: true })
class TableError {
  @Field(() => Int, { description: "Position among the data rows, from 0." }) row!: number;
  @Field({ description: "ParsingError: the row cannot be converted. ValidationError: a value breaks a rule." }) errorType!: string;
  @Field(() => String, { nullable: true, description: "Violated JSON Schema keyword." }) failedKeyword!: string | null;
  @Field() message!: string;
}
@ObjectType("TableCheck", { description: "What a check of a table came to.", simpleResolvers: true })
class TableCheckType {
  @Field() conforms!: boolean;
  @Field(() => [TableError], { description: "Parsing errors by row, then validation errors by row." }) errors!: TableError[];
  @Field({ description: "True when there are more errors than TABLE_MAX_ERRORS." }) truncated!: boolean;
}

/** Schemas at work. {@link SchemaResolver.check} is called by REST as well. */
@Resolver()
export class SchemaResolver {
  /** @throws as `checkTable` */
  check(id: string, file: IncomingFile, { deps }: Context): Promise<TableCheckAnswer> {
    return checkTable(deps, id, file);
  }

  @Mutation(() => TableCheckType, { description: "Checks a table against a stored schema; nothing is kept (GraphQL multipart request; send the header apollo-require-preflight)." })
  async validateTable(@Arg("schema", () => ID) schema: string, @Arg("file", () => GraphQLUpload) upload: Promise<FileUpload>, @Ctx() context: Context): Promise<TableCheckType> {
    const { errors, ...rest } = await withUpload(upload, context, (file) => this.check(schema, file, context));
    return { ...rest, errors: errors.map(({ row, error_type, failed_keyword, message }) => ({ row, errorType: error_type, failedKeyword: failed_keyword, message })) };
  }
}
