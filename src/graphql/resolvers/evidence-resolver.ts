import { GraphQLJSON } from "graphql-scalars";
import {
  Arg,
  Args,
  ArgsType,
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
  registerEnumType,
} from "type-graphql";
import { ServiceError } from "../../errors.js";
import type { Ark } from "../../identifiers/ark.js";
import { instantOf } from "../../model/dates.js";
import type { KindName } from "../../model/kind.js";
import type { AssertedBy } from "../../model/provenance.js";
import { type SubmissionView, viewNow } from "../../services/crates/submissions.js";
import { impactOf, type PathEdge, supportPath } from "../../services/evidence/analysis.js";
import {
  evidenceGraph,
  fieldsStatedBy,
  writeEvidence,
} from "../../services/evidence/evidence-graph.js";
import {
  EVIDENCE_FORMATS,
  type EvidenceFormat,
  edgesOf,
  type ShownEdge,
} from "../../services/evidence/formats.js";
import { evidenceCard } from "../../services/evidence/picture/card.js";
import { type DrawnEvidence, drawEvidence } from "../../services/evidence/picture/drawing.js";
import { originOf, sentenceOf } from "../../services/evidence/origin.js";
import { requestBuild } from "../../services/evidence/stored/build.js";
import {
  evidenceDeps,
  type EvidenceGraph,
  type EvidenceRequest,
  type Hidden,
} from "../../services/evidence/types.js";
import { askedArk } from "../../services/records/find.js";
import { type Context, countWrite, requestOf, type SignedIn, signedIn } from "./context.js";
import { submissionPayload, submitted } from "./crate-resolver.js";
import { idOf, inputOf, optional, withDefault } from "./types/mutations.js";
import { DateTimeRange } from "./types/inputs.js";
import {
  checkedPage,
  connectionTo,
  PageArguments,
  PageInfo,
  pageOf,
  USUAL_PAGE,
} from "./types/pages.js";
import { RecordKindEnum, RecordConnection, RecordNode, Reference } from "./types/records.js";

enum DirectionEnum {
  UPSTREAM = "upstream",
  DOWNSTREAM = "downstream",
  BOTH = "both",
}
registerEnumType(DirectionEnum, {
  name: "Direction",
  description: "UPSTREAM: what supports the record; DOWNSTREAM: what it supports.",
  valuesConfig: {
    UPSTREAM: { description: "What supports the record." },
    DOWNSTREAM: { description: "What the record supports." },
    BOTH: { description: "Both." },
  },
});

enum AssertedByEnum {
  ANYONE = "anyone",
  OWNER = "owner",
}
registerEnumType(AssertedByEnum, {
  name: "AssertedBy",
  description: "Whose statements count: ANYONE's, or those of a record's OWNER.",
  valuesConfig: {
    ANYONE: { description: "All statements count." },
    OWNER: { description: "Statements of third parties are left out." },
  },
});

const FormatEnum = {
  PROV_JSON: "prov-json",
  TURTLE: "turtle",
  DOT: "dot",
  MERMAID: "mermaid",
  SVG: "svg",
} as const satisfies Record<string, EvidenceFormat | "svg">;
registerEnumType(FormatEnum, {
  name: "EvidenceFormat",
  description: "Formats of evidence besides JSON-LD, which document has.",
  valuesConfig: {
    PROV_JSON: { description: "PROV-JSON of the W3C." },
    TURTLE: { description: "RDF as Turtle." },
    DOT: { description: "A drawing for Graphviz." },
    MERMAID: { description: "A drawing for Mermaid." },
    SVG: { description: "A picture. In a graph that is too large like siblings become groups." },
  },
});

@ObjectType({ description: "Who said an edge.", simpleResolvers: true })
class EvidenceStatement {
  @Field(() => Reference, { description: "The record whose document says it." })
  record!: Reference;
  @Field(() => String, {
    nullable: true,
    description: "The field that says it; null where the document does not now.",
  })
  field!: string | null;
  @Field(() => Reference, { nullable: true, description: "Owner of that record." })
  owner!: Reference | null;
  @Field({ description: "Whether that owner owns the source as well, or may change it." })
  ownsSource!: boolean;
  @Field({ description: "Whether that owner owns the target as well, or may change it." })
  ownsTarget!: boolean;
  @Field({ description: "That owner has no right over the end that the answer comes from." })
  thirdParty!: boolean;
}

@ObjectType({
  description: "One provenance statement between two nodes of the answer.",
  simpleResolvers: true,
})
class EvidenceLink {
  /** Source, name and target: no other statement of an answer has all three. */
  key!: string;
  @Field(() => Reference, { description: "The record that the statement is about." })
  source!: () => Reference;
  @Field({ description: "Canonical name, e.g. generatedBy or usedDataset." }) name!: string;
  @Field(() => Reference, { description: "What the statement leads to." })
  target!: () => Reference;
  @Field({ description: "Only third parties state it." }) thirdParty!: boolean;
  @Field(() => [Reference], { description: "Owners of the records that state it." })
  assertedByOwners!: () => Reference[];
  @Field(() => [EvidenceStatement], { description: "Fields of records that state it." }) statedBy!:
    EvidenceStatement[] | (() => Promise<EvidenceStatement[]>);
}

@ObjectType({
  description: "A page of provenance statements; go on with after: pageInfo.endCursor.",
  simpleResolvers: true,
})
class EvidenceLinkConnection extends connectionTo("EvidenceLink", EvidenceLink) {}

@ObjectType({
  description: "Like siblings that one node of the answer stands in for.",
  simpleResolvers: true,
})
class EvidenceGroup {
  @Field(() => ID, { description: "Stands in edges for each of them." }) id!: string;
  @Field(() => [String], { description: "Types that each of them has." }) types!: string[];
  @Field(() => Int, { description: "How many." }) count!: number;
  @Field({ description: "Pass it in expand to get them one by one." }) group!: string;
}

@ArgsType()
class NodeArguments {
  @Field(() => [RecordKindEnum], { nullable: true, description: "Only records of these kinds." })
  kinds?: KindName[] | null;
  @Field(() => DateTimeRange, {
    nullable: true,
    description:
      "Only records from this time: by dateFinished, dateModified, datePublished or dateCreated, " +
      "the first that is stated, else by when they were registered.",
  })
  date?: DateTimeRange | null;
}
@ArgsType()
class EvidenceRecordArguments extends NodeArguments implements PageArguments {
  @Field(() => Int, { nullable: true, defaultValue: USUAL_PAGE })
  first!: number;
  @Field(() => String, { nullable: true })
  after?: string | null;
}

@ObjectType("HiddenEvidence", {
  description: "How much an answer leaves out, by reason.",
  simpleResolvers: true,
})
class HiddenType implements Required<Hidden> {
  @Field(() => Int, { description: "Nodes one step beyond the depth." }) depth!: number;
  @Field(() => Int, { description: "Nodes on later pages." }) limit!: number;
  @Field(() => Int, { description: "References to deleted records, which are in dangling." })
  deleted!: number;
  @Field(() => Int, { description: "References to what is unknown here, or not for the caller." })
  unknown!: number;
  @Field(() => Int, { description: "Nodes of other kinds." }) kind!: number;
  @Field(() => Int, { description: "Nodes that groups stand in for." }) collapsed!: number;
  @Field(() => Int, { description: "Statements of third parties, with assertedBy OWNER." })
  thirdParty!: number;
}
const NOTHING_HIDDEN: Required<Hidden> = {
  depth: 0,
  limit: 0,
  deleted: 0,
  unknown: 0,
  kind: 0,
  collapsed: 0,
  thirdParty: 0,
};

@ObjectType("Evidence", {
  description: "What supports a record, or what it supports.",
  simpleResolvers: true,
})
class EvidenceAnswerType {
  /** Identifiers of the records, in the order of the answer. */
  ids!: readonly string[];
  @Field(() => [EvidenceLink], {
    description: "The statements between them, all at once. links has pages of them.",
  })
  edges!: EvidenceLink[];
  @Field(() => [EvidenceGroup], { description: "None unless collapse was asked for." })
  groups!: EvidenceGroup[];
  @Field(() => [Reference], {
    description: "Nodes of this answer that support no other node found.",
  })
  outputs!: Reference[];
  @Field(() => [Reference], { description: "References to what is not stored here." })
  dangling!: Reference[];
  @Field(() => HiddenType, { description: "What the answer leaves out, counted by reason." })
  hidden!: HiddenType;
  @Field(() => PageInfo, {
    description:
      "Where the answer ends, and whether there are more nodes. Those at which edges of the next " +
      "answer begin come again. startCursor is null: edges of a graph have no cursors.",
  })
  pageInfo!: PageInfo;
  @Field(() => Int, { description: "Commit that the answer reflects." }) asOf!: number;
  graph!: EvidenceGraph;
  asked!: Asked;
}

@ObjectType("KindCount", { description: "How many records have a kind.", simpleResolvers: true })
export class KindCountType {
  @Field(() => RecordKindEnum, { description: "Kind of the records." }) kind!: KindName;
  @Field(() => Int, { description: "How many." }) count!: number;
}
@ObjectType("OwnerCount", { description: "How many records have an owner.", simpleResolvers: true })
class OwnerCountType {
  @Field(() => Reference, {
    nullable: true,
    description: "Who owns them; null for records without one.",
  })
  owner!: Reference | null;
  @Field(() => String, { nullable: true, description: "Name of the owner." }) name!: string | null;
  @Field(() => Int, { description: "How many." }) count!: number;
  @Field(() => [KindCountType], { description: "The same by kind." }) kinds!: KindCountType[];
}
@ObjectType("Impact", {
  description: "What a record supports: what loses support when the record is wrong.",
  simpleResolvers: true,
})
class ImpactType {
  @Field(() => ID, { description: "The record." }) id!: string;
  @Field(() => Int, { description: "Records that it supports, directly or through others." })
  total!: number;
  @Field(() => Int, { description: "Records that it supports directly." }) direct!: number;
  @Field(() => Int, { description: "Steps to the furthest of them." }) furthest!: number;
  @Field(() => [KindCountType], { description: "Counts by kind." }) byKind!: KindCountType[];
  @Field(() => [OwnerCountType], { description: "Counts by owner." }) byOwner!: OwnerCountType[];
  @Field(() => Int, {
    description: "Identifiers that it supports and that no record here describes.",
  })
  unresolved!: number;
  @Field(() => HiddenType, { description: "Statements that are left out." }) hidden!: HiddenType;
  @Field(() => Int, { description: "Commit that the answer reflects." }) asOf!: number;
}

@ObjectType("SupportPath", {
  description: "A shortest support path from one record to another.",
  simpleResolvers: true,
})
class SupportPathType {
  @Field(() => ID, { description: "Where the path begins." }) from!: string;
  @Field(() => ID, { description: "Where the path ends." }) to!: string;
  @Field(() => DirectionEnum, {
    description: "UPSTREAM: to supports from; DOWNSTREAM: the other way.",
  })
  direction!: "upstream" | "downstream";
  @Field(() => Int, { description: "Steps." }) length!: number;
  @Field(() => [RecordNode], { description: "The records." }) nodes!: () => Promise<RecordNode[]>;
  @Field(() => [EvidenceLink], { description: "The statements between them." })
  edges!: EvidenceLink[];
  @Field(() => Int, { description: "Commit that the answer reflects." }) asOf!: number;
}

@ObjectType("OriginPart", {
  description: "Words, or the name of a record.",
  simpleResolvers: true,
})
class OriginPartType {
  @Field({ description: "The part as text." }) text!: string;
  @Field(() => ID, { nullable: true, description: "The record that the text names." })
  id!: string | null;
}
@ObjectType("Origin", {
  description: "Where a record came from, by its evidence.",
  simpleResolvers: true,
})
class OriginType {
  @Field(() => ID, { description: "The record." }) id!: string;
  @Field({ description: "One sentence; empty where nothing is stated about the origin." })
  sentence!: string;
  @Field(() => [OriginPartType], { description: "The same in parts, so that names can be links." })
  parts!: OriginPartType[];
  @Field(() => Int, { description: "Records that support it, directly or through others." })
  supporting!: number;
  @Field(() => Int, { description: "Activities that it came from." }) activities!: number;
  @Field(() => Int, {
    description: "Data, files, models and samples it came from, known or not.",
  })
  inputs!: number;
  @Field(() => Int, { description: "Those that are described here." }) inputsHere!: number;
  @Field(() => Int, {
    description: "Files, its own and of what supports it, that were brought here.",
  })
  files!: number;
  @Field(() => Int, {
    description: "Those that are stored and match their hashes.",
  })
  filesIntact!: number;
  @Field(() => Int, { description: "Those that were found damaged." }) filesDamaged!: number;
  @Field(() => [OriginPartType], { description: "Software that took part." })
  software!: OriginPartType[];
  @Field(() => Int, { description: "Statements that only third parties make." })
  thirdParty!: number;
  @Field({ description: "More supports the record than was read: numbers are at least so large." })
  truncated!: boolean;
  @Field(() => Int, { description: "Commit that the answer reflects." }) asOf!: number;
}

export type Asked = Omit<EvidenceRequest, "limit"> & { limit?: number };

@ArgsType()
class EvidenceArguments {
  @Field(() => ID, { description: "Record that the graph begins at." }) id!: string;
  @Field(() => DirectionEnum, {
    defaultValue: DirectionEnum.UPSTREAM,
    description: "Which way to go from the record.",
  })
  direction!: DirectionEnum;
  @Field(() => Int, {
    nullable: true,
    description: "How many steps from the record; without limit when absent.",
  })
  depth?: number | null;
  @Field(() => Int, { nullable: true, description: "Nodes in one answer, at most 100000." })
  first?: number | null;
  @Field(() => String, { nullable: true, description: "endCursor of the answer before." }) after?:
    string | null;
  @Field(() => [RecordKindEnum], {
    nullable: true,
    description: "Only nodes of these kinds, and what is not stored here.",
  })
  kinds?: KindName[] | null;
  @Field(() => Int, {
    nullable: true,
    description: "Minimum number of like siblings that become one group.",
  })
  collapse?: number | null;
  @Field(() => AssertedByEnum, {
    defaultValue: AssertedByEnum.ANYONE,
    description: "OWNER leaves out what only third parties state.",
  })
  assertedBy!: AssertedByEnum;
  @Field(() => [String], {
    nullable: true,
    description:
      "Groups to expand, by their group; and records from which to go one step more than depth, by " +
      "their id. At most 50 records.",
  })
  expand?: string[] | null;
}

/** The request that arguments state. */
const askedIn = ({
  id,
  direction,
  depth,
  first,
  after,
  kinds,
  assertedBy,
  collapse,
  expand,
}: EvidenceArguments): Asked => ({
  ark: askedArk(id),
  direction,
  assertedBy,
  ...(depth == null ? {} : { depth }),
  ...(first == null ? {} : { limit: first }),
  ...(after == null ? {} : { cursor: after }),
  ...(kinds == null ? {} : { kinds }),
  ...(collapse == null ? {} : { collapse }),
  ...(expand == null ? {} : { expand }),
});

/** An evidence graph as GraphQL shows it. */
function answerOf(document: EvidenceGraph, asked: Asked, context: Context): EvidenceAnswerType {
  const groups = [...document["@graph"], ...document.dangling].flatMap(
    ({ count, group, ...each }) =>
      count === undefined || group === undefined
        ? []
        : [
            {
              id: each["@id"],
              types: "@type" in each ? each["@type"] : [],
              count,
              group,
            },
          ],
  );
  const records = document["@graph"].filter(({ group }) => group === undefined);
  return {
    edges: shownEdges(edgesOf(document["@graph"]), context),
    groups,
    ids: records.map((node) => node["@id"]),
    outputs: document.outputs.map((output) => referenceTo(output["@id"], context)),
    dangling: document.dangling.map((reference) => referenceTo(reference["@id"], context)),
    hidden: { ...NOTHING_HIDDEN, ...document.hidden },
    pageInfo: {
      hasNextPage: document.truncated,
      hasPreviousPage: asked.cursor !== undefined,
      startCursor: null,
      endCursor: document.cursor ?? null,
    },
    asOf: document.asOf,
    graph: document,
    asked,
  };
}

/** Provenance of records. REST calls the methods without decorators as well. */
const BuildInput = inputOf("buildEvidenceGraph", {
  id: idOf(),
  direction: withDefault<DirectionEnum>(
    DirectionEnum,
    "Which way to go from the record.",
    DirectionEnum.UPSTREAM,
  ),
  depth: optional<number>(Int, "How many steps from the record; without limit when absent."),
  assertedBy: withDefault<AssertedByEnum>(
    AssertedByEnum,
    "OWNER leaves out edges that third parties state.",
    AssertedByEnum.ANYONE,
  ),
});
const BuildPayload = submissionPayload("buildEvidenceGraph");

@Resolver(() => EvidenceAnswerType)
export class EvidenceResolver {
  /** @throws ServiceError `NOT_FOUND`, `GONE`, `INDEX_LOADING`, `INDEX_BEHIND`, `QUERY_TIMEOUT` */
  query(request: Asked, { deps }: Context): Promise<EvidenceGraph> {
    return evidenceGraph(whole(request, deps.config.EVIDENCE_LIMIT), evidenceDeps(deps));
  }
  /** The same as JSON, written while its nodes are read. */
  written(request: Asked, { deps }: Context): AsyncGenerator<Buffer> {
    return writeEvidence(
      whole(request, deps.config.EVIDENCE_LIMIT),
      evidenceDeps(deps),
      deps.config.EVIDENCE_CACHE,
    );
  }
  /** The picture that REST answers as a file. */
  draw(request: Asked, { deps }: Context): Promise<DrawnEvidence> {
    return drawEvidence(deps, request, { form: "file", base: deps.baseUrl() });
  }
  /** The picture for links to the record, as PNG. */
  card(request: Asked, { deps, budget }: Context): Promise<Uint8Array> {
    return budget.queued(() => evidenceCard(deps, request));
  }
  /** @throws ServiceError as `requestBuild` */
  async build(
    request: {
      ark: Ark;
      direction: "upstream" | "downstream" | "both";
      depth?: number;
      assertedBy?: AssertedBy;
    },
    context: SignedIn,
  ): Promise<SubmissionView> {
    await countWrite(context);
    const submission = await requestBuild(context.deps, context.caller, {
      ...request,
      ...requestOf(context),
    });
    return viewNow(context.deps, submission);
  }

  @Query(() => EvidenceAnswerType, {
    description: "What supports a record, or what it supports: built when asked for.",
  })
  async evidence(
    @Args(() => EvidenceArguments) asked: EvidenceArguments,
    @Ctx() context: Context,
  ): Promise<EvidenceAnswerType> {
    const request = askedIn(asked);
    return answerOf(await this.query(request, context), request, context);
  }

  @FieldResolver(() => GraphQLJSON, {
    description: "The same as JSON-LD, unless it is large: then ask for pages.",
  })
  async document(
    @Root() { graph }: EvidenceAnswerType,
    @Ctx() { budget }: Context,
  ): Promise<EvidenceGraph> {
    await budget.countJson(graph["@graph"]);
    const { further: _, ...document } = graph;
    return document;
  }

  @FieldResolver(() => [RecordNode], {
    description:
      "The records of the answer, the nearest first: all, or those of some kinds and times. " +
      "records has pages of them.",
  })
  async nodes(
    @Root() { ids }: EvidenceAnswerType,
    @Args(() => NodeArguments) selection: NodeArguments,
    @Ctx() context: Context,
  ): Promise<RecordNode[]> {
    return selected(await nodesOf(ids, context), selection);
  }

  @FieldResolver(() => RecordConnection, {
    description:
      "A page of the records of the answer, the nearest first: of all, or of those of some kinds " +
      "and times.",
  })
  async records(
    @Root() { ids }: EvidenceAnswerType,
    @Args(() => EvidenceRecordArguments) args: EvidenceRecordArguments,
    @Ctx() context: Context,
  ): Promise<RecordConnection> {
    const { limit, after } = checkedPage(args);
    if (!args.kinds && !args.date) {
      const { items, more } = pageWithin(ids, (id) => id, limit, after);
      return {
        ...pageOf(await nodesOf(items, context), items.map(cursorOf), more, after),
        totalCount: ids.length,
      };
    }
    const all = selected(await nodesOf(ids, context), args);
    const { items, more } = pageWithin(all, ({ ark }) => ark, limit, after);
    return {
      ...pageOf(
        items,
        items.map(({ ark }) => cursorOf(ark)),
        more,
        after,
      ),
      totalCount: all.length,
    };
  }

  @FieldResolver(() => EvidenceLinkConnection, {
    description: "A page of the statements between the records of the answer.",
  })
  links(
    @Root() { edges }: EvidenceAnswerType,
    @Args(() => PageArguments) page: PageArguments,
  ): EvidenceLinkConnection {
    const { limit, after } = checkedPage(page);
    const { items, more } = pageWithin(edges, ({ key }) => key, limit, after);
    return {
      ...pageOf(
        items,
        items.map(({ key }) => cursorOf(key)),
        more,
        after,
      ),
      totalCount: edges.length,
    };
  }

  @FieldResolver(() => String, { description: "The same in another format, as text." })
  async as(
    @Root() { graph, asked }: EvidenceAnswerType,
    @Arg("format", () => FormatEnum, { description: "The format." })
    format: EvidenceFormat | "svg",
    @Ctx() context: Context,
  ): Promise<string> {
    const { budget } = context;
    await budget.countJson(graph["@graph"]);
    const text =
      format === "svg"
        ? (await this.draw(asked, context)).drawn.svg
        : await EVIDENCE_FORMATS[format].write(graph);
    budget.weigh(text.length);
    return text;
  }

  @Query(() => OriginType, {
    name: "origin",
    description: "Where a record came from, as the 120 nearest records say.",
  })
  async originFor(
    @Arg("id", () => ID, { description: "Identifier, in any accepted spelling." }) id: string,
    @Ctx() context: Context,
  ): Promise<OriginType> {
    const origin = await originOf(askedArk(id), context.deps);
    const { "@id": stored, phrases, ...facts } = origin;
    return {
      id: stored,
      sentence: sentenceOf(origin),
      parts: phrases,
      ...facts,
    };
  }

  @Query(() => ImpactType, { description: "What a record supports, counted by kind and by owner." })
  async impact(
    @Arg("id", () => ID, { description: "Identifier, in any accepted spelling." }) id: string,
    @Ctx() context: Context,
    @Arg("assertedBy", () => AssertedByEnum, {
      defaultValue: AssertedByEnum.ANYONE,
      description: "OWNER leaves out edges that third parties state.",
    })
    assertedBy: AssertedByEnum,
  ): Promise<ImpactType> {
    const {
      "@id": stored,
      hidden = {},
      byOwner,
      ...counts
    } = await impactOf(askedArk(id), evidenceDeps(context.deps), assertedBy);
    return {
      id: stored,
      ...counts,
      byOwner: byOwner.map(({ owner, ...count }) => ({
        ...count,
        owner: owner === null ? null : referenceTo(owner, context),
      })),
      hidden: { ...NOTHING_HIDDEN, ...hidden },
    };
  }

  @Query(() => SupportPathType, {
    nullable: true,
    description: "The shortest support path between two records, if there is one.",
  })
  async supportPath(
    @Arg("from", () => ID, { description: "A record." }) from: string,
    @Arg("to", () => ID, { description: "Another record." }) to: string,
    @Ctx() context: Context,
    @Arg("assertedBy", () => AssertedByEnum, {
      defaultValue: AssertedByEnum.ANYONE,
      description: "OWNER leaves out edges that third parties state.",
    })
    assertedBy: AssertedByEnum,
  ): Promise<SupportPathType | null> {
    const { direction, length, nodes, edges, ...path } = await supportPath(
      askedArk(from),
      askedArk(to),
      evidenceDeps(context.deps),
      assertedBy,
    );
    if (direction === null || length === null) return null;
    return {
      ...path,
      direction,
      length,
      nodes: () =>
        nodesOf(
          nodes.map((node) => node["@id"]),
          context,
        ),
      edges: edges.map((edge) => ({
        ...withEnds(edge, context),
        statedBy: edge.statedBy.map((statement) => statementOf(statement, context)),
      })),
    };
  }

  @Mutation(() => BuildPayload, {
    description:
      "Builds an evidence graph in the background and stores it as a record of yours; it is " +
      "renewed when its inputs change.",
  })
  async buildEvidenceGraph(
    @Arg("input", () => BuildInput) { id, depth, ...how }: InstanceType<typeof BuildInput>,
    @Ctx() context: Context,
  ): Promise<object> {
    const asked = { ark: askedArk(id), ...how, ...(depth == null ? {} : { depth }) };
    return submitted(this.build(asked, signedIn(context)));
  }
}

const selected = (nodes: RecordNode[], { kinds, date }: NodeArguments): RecordNode[] =>
  nodes.filter(
    (node) =>
      (!kinds || (node.stored !== null && kinds.includes(node.stored.kind))) &&
      (!date || isWithin(timeOf(node), date)),
  );

const cursorOf = (name: string): string => Buffer.from(name).toString("base64url");

/**
 * The items of an answer behind the one that the cursor names.
 * @throws ServiceError `BAD_REQUEST` for a cursor of another answer
 */
function pageWithin<T>(
  all: readonly T[],
  nameOf: (item: T) => string,
  limit: number,
  after: string | undefined,
): { items: T[]; more: boolean } {
  const last = after === undefined ? undefined : Buffer.from(after, "base64url").toString();
  const start = last === undefined ? 0 : all.findIndex((item) => nameOf(item) === last) + 1;
  if (after !== undefined && start === 0)
    throw new ServiceError(
      "BAD_REQUEST",
      "The cursor in after is not from this evidence graph: pass pageInfo.endCursor of the page " +
        "before, or begin again without after.",
    );
  const items = all.slice(start, start + limit);
  return { items, more: start + items.length < all.length };
}

/**
 * When what a record describes is from, in ms since 1970: the end of a run, else the dates it
 * states, else its registration.
 */
function timeOf({ shown, stored }: RecordNode): number | undefined {
  for (const name of ["dateFinished", "dateModified", "datePublished", "dateCreated"]) {
    const stated = shown[name];
    const instant = typeof stated === "string" ? instantOf(stated.trim()) : undefined;
    if (instant !== undefined) return instant;
  }
  return stored?.createdAt;
}

const isWithin = (time: number | undefined, { since, before }: DateTimeRange): boolean =>
  time !== undefined &&
  (since == null || time >= since.getTime()) &&
  (before == null || time < before.getTime());

const whole = (request: Asked, limit: number): EvidenceRequest => ({
  ...request,
  limit: request.limit ?? limit,
});

function nodesOf(ids: readonly string[], { budget, loaders }: Context): Promise<RecordNode[]> {
  budget.spend(ids.length);
  return Promise.all(ids.map((id) => loaders.node(id)));
}

/** Fields that both kinds of edges share. */
type Edge = Pick<ShownEdge, "source" | "name" | "target"> & {
  thirdParty?: boolean;
  statedBy: readonly { owner: string | null }[];
};

/** An identifier of an answer; its record is read only on request. */
const referenceTo = (id: string, { budget, loaders }: Context): Reference => ({
  id,
  text: id,
  record: async () => {
    budget.spend(1);
    const node = await loaders.node(id);
    return node.stored ? node : null;
  },
});

const withEnds = (
  { source, name, target, thirdParty = false, statedBy }: Edge,
  context: Context,
): Omit<EvidenceLink, "statedBy"> => ({
  key: `${source} ${name} ${target}`,
  source: () => referenceTo(source, context),
  name,
  target: () => referenceTo(target, context),
  thirdParty,
  assertedByOwners: () => {
    const owners = new Set(statedBy.flatMap(({ owner }) => owner ?? []));
    return [...owners].map((owner) => referenceTo(owner, context));
  },
});

const statementOf = (
  { record, owner, thirdParty, ...statement }: PathEdge["statedBy"][number],
  context: Context,
): EvidenceStatement => ({
  ...statement,
  record: referenceTo(record, context),
  owner: owner === null ? null : referenceTo(owner, context),
  thirdParty: thirdParty === true,
});

/** The stating fields of all edges are looked up at once, when a client asks for the first. */
function shownEdges(edges: readonly ShownEdge[], context: Context): EvidenceLink[] {
  let reader: ReturnType<typeof fieldsStatedBy> | undefined;
  const fieldReader = (): ReturnType<typeof fieldsStatedBy> => {
    if (!reader) context.budget.spend(edges.length);
    return (reader ??= fieldsStatedBy(
      edges.flatMap(({ statedBy }) => statedBy.flatMap(({ record }) => record ?? [])),
      context.deps,
    ));
  };
  return edges.map((edge) => ({
    ...withEnds(edge, context),
    statedBy: async () => {
      const fieldsOf = await fieldReader();
      const { source: subject, name, target: object } = edge;
      // Each member of a group has its own record.
      return edge.statedBy.flatMap(({ record, ...claimed }) =>
        record === null
          ? []
          : fieldsOf({ subject, name, object, graph: record }).map((field) =>
              statementOf({ ...claimed, record, field }, context),
            ),
      );
    },
  }));
}
