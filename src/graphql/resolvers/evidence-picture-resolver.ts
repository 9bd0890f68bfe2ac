import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  ObjectType,
  Query,
  registerEnumType,
  Resolver,
  Root,
} from "type-graphql";
import { invalid } from "../../errors.js";
import type { Ark } from "../../identifiers/ark.js";
import { glyphOf } from "../../services/evidence/picture/glyphs.js";
import {
  graphToDraw,
  nearbyGraph,
  type PictureBounds,
} from "../../services/evidence/picture/picture.js";
import {
  type DrawnPicture,
  drawPicture,
  type PictureOptions,
} from "../../services/evidence/picture/svg.js";
import { type TreeRow, treeRows } from "../../services/evidence/tree.js";
import type { EvidenceGraph } from "../../services/evidence/types.js";
import { askedArk } from "../../services/records/find.js";
import type { Context } from "./context.js";
import {
  answerOf,
  type Asked,
  askedIn,
  DirectionEnum,
  EvidenceAnswerType,
  EvidenceArguments,
  evidenceDeps,
  nodesOf,
} from "./evidence-resolver.js";
import { RecordNode } from "./types/records.js";

enum PictureFormEnum {
  PAGE = "page",
  FILE = "file",
}
registerEnumType(PictureFormEnum, {
  name: "PictureForm",
  description: "Where a picture is shown.",
  valuesConfig: {
    PAGE: { description: "Inside an HTML page, whose style sheet has the colours for dark mode." },
    FILE: { description: "As a document of its own: a file, or the source of an image." },
  },
});

@ObjectType({
  description: "What a picture of evidence doesn't show, by reason.",
  simpleResolvers: true,
})
class NotDrawn {
  @Field({ description: "limit, depth, kind, thirdParty or edges." }) reason!: string;
  @Field(() => Int, { description: "How many." }) count!: number;
  @Field({ description: "The same in words, after the number." }) about!: string;
}

@ObjectType({ description: "An evidence graph as a drawing.", simpleResolvers: true })
class EvidencePicture {
  @Field({
    description:
      "The drawing as SVG: inputs left, uses right, arrows from what supports to what is " +
      "supported. Nodes have data-id, data-kind, data-count and data-group, arrows data-from, " +
      "data-to and data-names, links that add a step to one node data-further.",
  })
  svg!: string;
  @Field(() => Int, { description: "Nodes that are drawn, groups among them." }) nodeCount!: number;
  @Field(() => Int, { description: "Arrows that are drawn." }) edgeCount!: number;
  @Field(() => [NotDrawn], { description: "What is not drawn." }) notDrawn!: NotDrawn[];
  @Field(() => EvidenceAnswerType, { description: "The graph that is drawn." })
  evidence!: EvidenceAnswerType;
}

@ObjectType({
  description: "One line of an evidence graph as an indented list.",
  simpleResolvers: true,
})
class EvidenceOutlineRow {
  @Field(() => Int, { description: "Steps from the record." }) depth!: number;
  @Field(() => ID, { description: "What the line is about." }) id!: string;
  @Field(() => String, { nullable: true, description: "Its name." }) name!: string | null;
  @Field(() => [String], { description: "Its types." }) types!: string[];
  @Field({
    description:
      "How pictures show it: dataset, file, computation, software, agent, schema, crate, model, " +
      "sample, instrument or other.",
  })
  symbol!: string;
  @Field(() => String, {
    nullable: true,
    description: "Property that relates it to the line above it; null at the beginning.",
  })
  property!: string | null;
  @Field({ description: "The property is one of this node, about the node above it." })
  inverse!: boolean;
  @Field({ description: "Only third parties state that." }) thirdParty!: boolean;
  @Field(() => [ID], { description: "Owners of the records that state it." })
  assertedByOwners!: string[];
  @Field(() => [RecordNode], { description: "The same as records." })
  assertedBy!: () => Promise<RecordNode[]>;
  @Field(() => Int, { nullable: true, description: "Members, where it is a group." })
  count!: number | null;
  @Field(() => String, { nullable: true, description: "Pass it in expand to get the members." })
  group!: string | null;
  @Field(() => String, {
    nullable: true,
    description: "Why no record here describes it: external, deleted or unknown.",
  })
  missing!: string | null;
  @Field({ description: "It stands further up as well, with what follows it." })
  repeated!: boolean;
  @Field({ description: "More follows it, too deep for a list." }) continues!: boolean;
  @Field(() => Int, {
    description:
      "Nodes to which it leads beyond depth, in a picture; pass its id in expand to get them.",
  })
  further!: number;
}

@ArgsType()
class PictureArguments extends EvidenceArguments {
  @Field(() => PictureFormEnum, {
    defaultValue: PictureFormEnum.PAGE,
    description: "Where the picture is shown.",
  })
  form!: PictureFormEnum;
  @Field(() => String, {
    nullable: true,
    description:
      "Beginning of the address that groups link to, and nodes that lead further than depth; the " +
      "name of the group or the id of the node is appended, as expand takes them. A path of this " +
      "service.",
  })
  groupLink?: string | null;
}

/** Most lines of an outline; lists beyond them are read by nobody. */
const MAX_ROWS = 2_000;

/** Evidence as pictures and as lists. REST calls the methods without decorators as well. */
@Resolver(() => EvidenceAnswerType)
export class EvidencePictureResolver {
  /** @throws ServiceError as `evidenceGraph` */
  async draw(
    asked: Asked,
    options: Omit<PictureOptions, keyof PictureBounds>,
    { deps }: Context,
  ): Promise<{ drawn: DrawnPicture; graph: EvidenceGraph }> {
    const bounds = boundsOf(deps.config);
    const graph = await graphToDraw(asked, bounds, evidenceDeps(deps));
    return { graph, drawn: drawPicture(graph, { ...options, ...bounds }) };
  }

  async drawNearby(
    ark: Ark,
    options: Omit<PictureOptions, keyof PictureBounds>,
    { deps }: Context,
  ): Promise<{ drawn: DrawnPicture; graph: EvidenceGraph }> {
    const bounds = boundsOf(deps.config);
    const graph = await nearbyGraph(ark, bounds, evidenceDeps(deps));
    return { graph, drawn: drawPicture(graph, { ...options, ...bounds }) };
  }

  @Query(() => EvidencePicture, {
    description:
      "The evidence graph of a record as a drawing. In a graph that is too large like siblings " +
      "become groups; the rest are counted.",
  })
  async evidencePicture(
    @Args(() => PictureArguments) asked: PictureArguments,
    @Ctx() context: Context,
  ): Promise<EvidencePicture> {
    const { drawn, graph } = await this.draw(askedIn(asked), optionsOf(asked, context), context);
    return pictured(drawn, graph, context, asked.after != null);
  }

  @Query(() => EvidencePicture, {
    description:
      "A drawing of what is next to a record: what supports it, the inputs of the activities that " +
      "made it, and what it supports directly; like siblings as groups.",
  })
  async evidenceNearby(
    @Arg("id", () => ID, { description: "Identifier, in any accepted spelling." }) id: string,
    @Ctx() context: Context,
    @Arg("form", () => PictureFormEnum, {
      defaultValue: PictureFormEnum.PAGE,
      description: "Where the picture is shown.",
    })
    form: PictureFormEnum,
    @Arg("groupLink", () => String, {
      nullable: true,
      description: "Beginning of the address that groups link to.",
    })
    groupLink?: string | null,
  ): Promise<EvidencePicture> {
    const { drawn, graph } = await this.drawNearby(
      askedArk(id),
      optionsOf({ form, groupLink: groupLink ?? null }, context),
      context,
    );
    return pictured(drawn, graph, context);
  }

  @FieldResolver(() => [EvidenceOutlineRow], {
    description:
      "The same as an indented list: what supports the record, or with DOWNSTREAM what it " +
      "supports. What stands in two places is followed in the first. At most 2000 lines.",
  })
  outline(
    @Root() { graph }: EvidenceAnswerType,
    @Ctx() context: Context,
    @Arg("direction", () => DirectionEnum, {
      nullable: true,
      description: "UPSTREAM or DOWNSTREAM, in a graph of both. Default: that of the graph.",
    })
    direction?: DirectionEnum | null,
  ): EvidenceOutlineRow[] {
    const rows: EvidenceOutlineRow[] = [];
    const downstream = (direction ?? graph.direction) === "downstream";
    const side = downstream ? "use" : "support";
    for (const row of treeRows(graph, { downstream })) {
      if (rows.length === MAX_ROWS) {
        rows.at(-1)!.continues = true;
        break;
      }
      rows.push(outlineRow(row, graph.further?.get(row.id)?.[side] ?? 0, context));
    }
    return rows;
  }
}

function outlineRow(
  { id, depth, node, missing, branch, again, cut }: TreeRow,
  further: number,
  context: Context,
): EvidenceOutlineRow {
  const owners = (branch?.owners ?? []).filter((owner) => owner !== null);
  const types = node?.["@type"] ?? [];
  const { count = null, group = null } = node ?? missing ?? {};
  const { by = null, inverse = false, thirdParty = false } = branch ?? {};
  return {
    depth,
    id,
    name: node?.name ?? null,
    types,
    symbol: glyphOf(types),
    property: by,
    inverse,
    thirdParty,
    assertedByOwners: owners,
    assertedBy: () => nodesOf(owners, context),
    count,
    group,
    missing: missing?.reason ?? null,
    repeated: again,
    continues: cut,
    further,
  };
}

const boundsOf = (config: Context["deps"]["config"]): PictureBounds => ({
  nodes: config.EVIDENCE_PICTURE_NODES,
  edges: config.EVIDENCE_PICTURE_EDGES,
  read: config.EVIDENCE_LIMIT,
});

/** @throws ValidationError for a link that leads out of the service */
function optionsOf(
  { form, groupLink }: Pick<PictureArguments, "form" | "groupLink">,
  { deps }: Context,
): Omit<PictureOptions, keyof PictureBounds> {
  if (groupLink != null && !/^(?:\/(?![/\\])|\?)[\x21-\x7e]*$/.test(groupLink))
    throw invalid(
      ["query", "groupLink"],
      "Value error, this is not a path of this service; begin it with / or ?",
    );
  // Paths mean nothing in a file.
  const base = form === PictureFormEnum.FILE ? deps.baseUrl() : "";
  return { form, base, ...(groupLink != null && { groupLink }) };
}

const pictured = (
  { svg, nodes, edges, left }: DrawnPicture,
  graph: EvidenceGraph,
  context: Context,
  continued = false,
): EvidencePicture => ({
  svg,
  nodeCount: nodes.length,
  edgeCount: edges.length,
  notDrawn: left,
  evidence: answerOf(graph, context, continued),
});
