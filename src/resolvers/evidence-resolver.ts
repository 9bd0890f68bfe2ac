import { GraphQLJSON } from "graphql-scalars";
import { Arg, Ctx, Field, ID, Int, ObjectType, Query, Resolver, registerEnumType } from "type-graphql";
import { ValidationError, type ValidationItem } from "../errors.js";
import { lookupArk } from "../identifiers/ark.js";
import { evidenceGraph, type Direction, type EvidenceGraph, type EvidenceRequest } from "../use-cases/evidence/index.js";
import type { Context } from "./context.js";
import { RecordNode } from "./types/record-node.js";

enum DirectionEnum { UPSTREAM = "upstream", DOWNSTREAM = "downstream", BOTH = "both" }
registerEnumType(DirectionEnum, { name: "Direction", description: "UPSTREAM: what the record rests on; DOWNSTREAM: what rests on it." });

@ObjectType({ description: "One provenance statement between two nodes of the answer.", simpleResolvers: true })
class EvidenceEdge {
  @Field(() => ID) source!: string;
  @Field({ description: "Canonical name, e.g. generatedBy or usedDataset." }) name!: string;
  @Field(() => ID) target!: string;
}
@ObjectType("EvidenceGraphAnswer", { description: "What supports a record, or rests on it.", simpleResolvers: true })
class EvidenceAnswer {
  /** Read only when asked for. */
  @Field(() => [RecordNode]) nodes!: () => Promise<RecordNode[]>;
  @Field(() => [EvidenceEdge]) edges!: EvidenceEdge[];
  @Field(() => [ID], { description: "Nodes of this answer that support no other node found." }) outputs!: string[];
  @Field(() => [ID], { description: "References to what is not stored here." }) dangling!: string[];
  @Field() truncated!: boolean;
  @Field(() => String, { nullable: true, description: "Pass as after for the next nodes." }) endCursor!: string | null;
  @Field(() => Int, { description: "Commit that the answer is as of." }) asOf!: number;
  @Field(() => GraphQLJSON, { description: "The same as JSON-LD, as REST answers it." }) document!: EvidenceGraph;
}

/** Provenance of records. {@link EvidenceResolver.query} is called by REST as well. */
@Resolver()
export class EvidenceResolver {
  /** @throws ServiceError `NOT_FOUND`, `GONE`, `INDEX_LOADING`, `INDEX_BEHIND`, `QUERY_TIMEOUT` */
  query(request: Omit<EvidenceRequest, "limit"> & { limit?: number }, { deps }: Context): Promise<EvidenceGraph> {
    const { INDEX_WAIT, QUERY_TIMEOUT, EVIDENCE_LIMIT } = deps.config;
    return evidenceGraph({ ...request, ark: lookupArk(request.ark) ?? request.ark, limit: request.limit ?? EVIDENCE_LIMIT }, { records: deps.records, queries: deps.queries, wait: INDEX_WAIT, timeout: QUERY_TIMEOUT });
  }

  @Query(() => EvidenceAnswer, { description: "The evidence graph of a record, built when asked for." })
  async evidenceGraph(
    @Arg("id", () => ID) id: string, @Ctx() context: Context,
    @Arg("direction", () => DirectionEnum, { defaultValue: DirectionEnum.UPSTREAM }) direction: DirectionEnum,
    @Arg("depth", () => Int, { nullable: true }) depth?: number,
    @Arg("first", () => Int, { nullable: true, description: "Nodes in one answer, at most 100000." }) first?: number,
    @Arg("after", () => String, { nullable: true }) after?: string,
  ): Promise<EvidenceAnswer> {
    const document = await this.query({ ark: id, direction, ...(depth == null ? {} : { depth }), ...(first == null ? {} : { limit: first }), ...(after == null ? {} : { cursor: after }) }, context);
    const edges = document["@graph"].flatMap((node) => Object.entries(node).flatMap(([name, values]) =>
      name.startsWith("@") || name === "sameAs" || !Array.isArray(values) ? [] : values.map((value) => ({ source: node["@id"], name, target: (value as { "@id": string })["@id"] }))));
    return {
      edges,
      nodes: () => {
        context.loaders.spend(document["@graph"].length);
        return Promise.all(document["@graph"].map((node) => context.loaders.node(node["@id"])));
      },
      outputs: document.outputs.map((output) => output["@id"]), dangling: document.dangling.map((reference) => reference["@id"]),
      truncated: document.truncated, endCursor: document.cursor ?? null, asOf: document.asOf, document,
    };
  }
}

/** `direction`, `depth`, `limit` and `cursor` of a query string. @throws ValidationError with all that is wrong */
export function evidenceParameters(query: Readonly<Record<string, string | undefined>>): { direction: Direction; depth?: number; limit?: number; cursor?: string } {
  const problems: ValidationItem[] = [];
  const { direction = "upstream", cursor } = query;
  if (!["upstream", "downstream", "both"].includes(direction)) {
    const expected = "'upstream', 'downstream' or 'both'";
    problems.push({ loc: ["query", "direction"], msg: `Input should be ${expected}`, type: "literal_error", ctx: { expected } });
  }
  const numbers: { depth?: number; limit?: number } = {};
  for (const name of ["depth", "limit"] as const) {
    const raw = query[name];
    if (raw === undefined) continue;
    if (/^[+-]?\d{1,15}$/.test(raw)) numbers[name] = Number(raw);
    else problems.push({ loc: ["query", name], msg: "Input should be a valid integer, unable to parse string as an integer", type: "int_parsing" });
  }
  if (problems.length > 0) throw new ValidationError(problems);
  return { direction: direction as Direction, ...numbers, ...(cursor === undefined ? {} : { cursor }) };
}
