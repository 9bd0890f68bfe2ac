import { Arg, Args, ArgsType, Ctx, Field, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from "type-graphql";
import { lookupArk } from "../identifiers/ark.js";
import type { KindName } from "../model/kind.js";
import { viewNow, type SubmissionView } from "../use-cases/crates/submissions.js";
import {
  EVIDENCE_FORMATS, edgesOf, evidenceGraph, fieldsStated, impactOf, openEvidence, requestBuild, supportPath,
  type EvidenceAnswer, type EvidenceDeps, type EvidenceFormat, type EvidenceGraph, type EvidenceRequest, type Impact, type AssertedBy, type ShownEdge, type SupportPath,
} from "../use-cases/evidence/index.js";
import { requestOf, type Context } from "./context.js";
import {
  AssertedByEnum, DirectionEnum, EvidenceAnswerType, FormatEnum, ImpactType, KindEnum, SupportPathType, type EvidenceEdge, type EvidenceStatement,
} from "./types/evidence.js";
import type { RecordNode } from "./types/record-node.js";
import { SubmissionType } from "./types/submission.js";
import { countWrite } from "./write-rate.js";

type Asked = Omit<EvidenceRequest, "limit"> & { limit?: number };

@ArgsType()
class EvidenceArguments {
  @Field(() => ID) id!: string;
  @Field(() => DirectionEnum, { defaultValue: DirectionEnum.UPSTREAM }) direction!: DirectionEnum;
  @Field(() => Int, { nullable: true, description: "How many steps from the record; without limit when absent." }) depth?: number | null;
  @Field(() => Int, { nullable: true, description: "Nodes in one answer, at most 100000." }) first?: number | null;
  @Field(() => String, { nullable: true }) after?: string | null;
  @Field(() => [KindEnum], { nullable: true, description: "Only nodes of these kinds, and what is not stored here." }) kinds?: KindName[] | null;
  @Field(() => Int, { nullable: true, description: "So many like siblings or more become one group." }) collapse?: number | null;
  @Field(() => AssertedByEnum, { defaultValue: AssertedByEnum.ANYONE, description: "OWNER leaves out edges that third parties state, and what only they lead to." }) assertedBy!: AssertedByEnum;
  @Field(() => [String], { nullable: true, description: "Groups to leave open, by their group." }) expand?: string[] | null;
}

/** Provenance of records. The methods without decorators are called by REST as well. */
@Resolver(() => EvidenceAnswerType)
export class EvidenceResolver {
  /** @throws ServiceError `NOT_FOUND`, `GONE`, `INDEX_LOADING`, `INDEX_BEHIND`, `QUERY_TIMEOUT` */
  query(request: Asked, { deps }: Context): Promise<EvidenceGraph> {
    return evidenceGraph(whole(request, deps.config.EVIDENCE_LIMIT), evidenceDeps(deps));
  }
  /** The same with its nodes still to be read. */
  open(request: Asked, { deps }: Context): Promise<EvidenceAnswer> {
    return openEvidence(whole(request, deps.config.EVIDENCE_LIMIT), evidenceDeps(deps));
  }
  async exported(graph: EvidenceGraph, format: EvidenceFormat): Promise<string> {
    return EVIDENCE_FORMATS[format].write(graph);
  }
  impactOf(ark: string, { deps }: Context, assertedBy?: AssertedBy): Promise<Impact> {
    return impactOf(looked(ark), evidenceDeps(deps), assertedBy);
  }
  pathBetween(from: string, to: string, { deps }: Context, assertedBy?: AssertedBy): Promise<SupportPath> {
    return supportPath(looked(from), looked(to), evidenceDeps(deps), assertedBy);
  }
  /** @throws ServiceError as `requestBuild` */
  async build(request: { ark: string; direction: "upstream" | "downstream" | "both"; depth?: number; assertedBy?: AssertedBy }, context: Context): Promise<SubmissionView> {
    await countWrite(context);
    const submission = await requestBuild(context.deps, context.caller, { ...request, ...requestOf(context) });
    return viewNow(context.deps, submission);
  }

  @Query(() => EvidenceAnswerType, { description: "The evidence graph of a record, built when asked for." })
  async evidenceGraph(@Args(() => EvidenceArguments) { id, direction, depth, first, after, kinds, assertedBy, collapse, expand }: EvidenceArguments, @Ctx() context: Context): Promise<EvidenceAnswerType> {
    const document = await this.query({
      ark: id, direction, ...(depth == null ? {} : { depth }), ...(first == null ? {} : { limit: first }), ...(after == null ? {} : { cursor: after }),
      assertedBy, ...(kinds == null ? {} : { kinds }), ...(collapse == null ? {} : { collapse }), ...(expand == null ? {} : { expand }),
    }, context);
    const groups = [...document["@graph"], ...document.dangling].flatMap(({ count, group, ...each }) =>
      count === undefined ? [] : [{ id: each["@id"], types: "@type" in each ? each["@type"] as string[] : [], count, group: group! }]);
    const records = document["@graph"].filter(({ group }) => group === undefined);
    return {
      edges: shownEdges(edgesOf(document["@graph"]), context), groups,
      nodes: () => nodesOf(records.map((node) => node["@id"]), context),
      outputs: document.outputs.map((output) => output["@id"]), dangling: document.dangling.map((reference) => reference["@id"]), hidden: document.hidden,
      truncated: document.truncated, endCursor: document.cursor ?? null, asOf: document.asOf, document,
    };
  }

  @FieldResolver(() => String, { description: "The same in another form." })
  export(@Root() answer: EvidenceAnswerType, @Arg("format", () => FormatEnum) format: EvidenceFormat): Promise<string> {
    return this.exported(answer.document, format);
  }

  @Query(() => ImpactType, { description: "What rests on a record, counted by kind and by owner." })
  async impact(
    @Arg("id", () => ID) id: string, @Ctx() context: Context, @Arg("assertedBy", () => AssertedByEnum, { defaultValue: AssertedByEnum.ANYONE }) assertedBy: AssertedByEnum,
  ): Promise<ImpactType> {
    const { "@id": stored, hidden = {}, ...counts } = await this.impactOf(id, context, assertedBy);
    return { id: stored, ...counts, hidden };
  }

  @Query(() => SupportPathType, { nullable: true, description: "The shortest support path between two records; null when neither supports the other." })
  async supportPath(
    @Arg("from", () => ID) from: string, @Arg("to", () => ID) to: string, @Ctx() context: Context,
    @Arg("assertedBy", () => AssertedByEnum, { defaultValue: AssertedByEnum.ANYONE }) assertedBy: AssertedByEnum,
  ): Promise<SupportPathType | null> {
    const { direction, length, nodes, edges, ...path } = await this.pathBetween(from, to, context, assertedBy);
    if (direction === null || length === null) return null;
    return { ...path, direction, length, nodes: () => nodesOf(nodes.map((node) => node["@id"]), context), edges: edges.map((edge) => ({ ...withEnds(edge, context), statedBy: edge.statedBy.map(statementOf) })) };
  }

  @Mutation(() => SubmissionType, { description: "Builds an evidence graph in the background and stores it as a record of yours; it is renewed when its inputs change." })
  buildEvidenceGraph(
    @Arg("id", () => ID) id: string, @Ctx() context: Context,
    @Arg("direction", () => DirectionEnum, { defaultValue: DirectionEnum.UPSTREAM }) direction: DirectionEnum,
    @Arg("assertedBy", () => AssertedByEnum, { defaultValue: AssertedByEnum.ANYONE }) assertedBy: AssertedByEnum,
    @Arg("depth", () => Int, { nullable: true }) depth?: number,
  ): Promise<SubmissionView> {
    return this.build({ ark: id, direction, assertedBy, ...(depth == null ? {} : { depth }) }, context);
  }
}

const looked = (ark: string): string => lookupArk(ark) ?? ark;
const whole = (request: Asked, limit: number): EvidenceRequest => ({ ...request, ark: looked(request.ark), limit: request.limit ?? limit });
const evidenceDeps = ({ records, queries, config }: Context["deps"]): EvidenceDeps => ({ records, queries, wait: config.INDEX_WAIT, timeout: config.QUERY_TIMEOUT });

function nodesOf(ids: readonly string[], { loaders }: Context): Promise<RecordNode[]> {
  loaders.spend(ids.length);
  return Promise.all(ids.map((id) => loaders.node(id)));
}

/** What the two kinds of edges have in common. */
type Edge = Pick<ShownEdge, "source" | "name" | "target"> & { thirdParty?: boolean; statedBy: readonly { owner: string | null }[] };

const withEnds = ({ source, name, target, thirdParty = false, statedBy }: Edge, { loaders }: Context): Omit<EvidenceEdge, "statedBy"> => {
  const end = (id: string) => (): Promise<RecordNode> => {
    loaders.spend(1);
    return loaders.node(id);
  };
  const owners = [...new Set(statedBy.flatMap(({ owner }) => (owner === null ? [] : [owner])))];
  return { source, name, target, thirdParty, assertedByOwners: owners, sourceNode: end(source), targetNode: end(target) };
};

const statementOf = <T extends { thirdParty?: true }>(statement: T): T & { thirdParty: boolean } => ({ ...statement, thirdParty: statement.thirdParty === true });

/** The fields that state them are looked up for all edges at once, when the first is asked. */
function shownEdges(edges: readonly ShownEdge[], context: Context): EvidenceEdge[] {
  // Of a group each member has its own.
  const stated = edges.flatMap(({ source, name, target, statedBy }, index) =>
    statedBy.flatMap(({ record, ...said }) => (record === null ? [] : [{ index, source, name, target, record, said }])));
  let statements: Promise<EvidenceStatement[][]> | undefined;
  const withFields = async (): Promise<EvidenceStatement[][]> => {
    const fields = await fieldsStated(stated, context.deps.records);
    const found = edges.map((): EvidenceStatement[] => []);
    for (const [place, { index, record, said }] of stated.entries()) for (const field of fields[place]!) found[index]!.push({ ...statementOf(said), record, field });
    return found;
  };
  const said = (): Promise<EvidenceStatement[][]> => {
    if (!statements) context.loaders.spend(edges.length);
    return (statements ??= withFields());
  };
  return edges.map((edge, index) => ({ ...withEnds(edge, context), statedBy: async () => (await said())[index]! }));
}
