import { createUnionType, Field, ID, Int, ObjectType, registerEnumType } from "type-graphql";
import type { Preview } from "../../../services/previews/preview.js";
import type { NotebookCell, NoPreviewReason } from "../../../services/previews/types.js";

const REASONS = {
  NO_CONTENT: "Nothing is stored.",
  NOT_READABLE: "You may not read the content.",
  ARCHIVE: "It is the archive of a crate: see its files.",
  BINARY: "It is no text, table, notebook, image or PDF.",
  TOO_LARGE: "It is too large, or needs too much memory.",
  DAMAGED: "It is not what it should be.",
  TIMEOUT: "It takes too long.",
  BUSY: "Too many previews are made at the moment.",
} as const satisfies Record<NoPreviewReason, string>;
const ReasonEnum = Object.fromEntries(
  Object.keys(REASONS).map((reason) => [reason, reason]),
) as Record<NoPreviewReason, NoPreviewReason>;
registerEnumType(ReasonEnum, {
  name: "NoPreviewReason",
  description: "Why a file has no preview.",
  valuesConfig: Object.fromEntries(
    Object.entries(REASONS).map(([reason, description]) => [reason, { description }]),
  ),
});

@ObjectType({
  description: "What is wrong with a cell, or with a row, by the schema of the table.",
  simpleResolvers: true,
})
class CellError {
  @Field(() => Int, { description: "Row among rows, from 0." }) row!: number;
  @Field(() => Int, { nullable: true, description: "Column, from 0; null for the whole row." })
  column!: number | null;
  @Field(() => String, { nullable: true, description: "Keyword of the schema." })
  keyword!: string | null;
  @Field({ description: "The error as a sentence." }) message!: string;
}

@ObjectType({ description: "The first rows of a table, as text.", simpleResolvers: true })
class TablePreview {
  @Field(() => [String], { description: "Header; empty for a table without one." })
  columns!: string[];
  @Field(() => [[String]], { description: "Data rows; long cells are cut." }) rows!: string[][];
  @Field(() => [CellError], { description: "What is wrong with these rows." }) errors!: CellError[];
  @Field({ description: "There are more rows." }) moreRows!: boolean;
  @Field({ description: "There are more columns." }) moreColumns!: boolean;
  @Field(() => ID, { nullable: true, description: "The schema that the rows were checked by." })
  schema!: string | null;
  @Field(() => String, { nullable: true, description: "Why they were not read or checked." })
  problem!: string | null;
}

@ObjectType({
  description: "Text or code, markup too; JSON is indented.",
  simpleResolvers: true,
})
class TextPreview {
  @Field({ description: "The text; never to be shown as markup." }) text!: string;
  @Field({ description: "Detected encoding of the file." }) charset!: string;
  @Field({ description: "json, or the extension of the file; txt without one." })
  language!: string;
  @Field({ description: "There is more text." }) truncated!: boolean;
}

@ObjectType({ description: "An image that browsers show.", simpleResolvers: true })
class ImagePreview {
  @Field({ description: "Address for img." }) address!: string;
  @Field({ description: "Type, by the first bytes." }) mediaType!: string;
  @Field(() => Int, { nullable: true, description: "Width in pixels." }) width!: number | null;
  @Field(() => Int, { nullable: true, description: "Height in pixels." }) height!: number | null;
}

@ObjectType("NotebookCell", { description: "A cell of a notebook.", simpleResolvers: true })
class NotebookCellType implements NotebookCell {
  @Field(() => String, { description: "code, markdown or raw." }) kind!: NotebookCell["kind"];
  @Field({ description: "Its source." }) text!: string;
  @Field(() => [String], {
    description: "Its stored outputs as text; a PNG or JPEG as a data URL.",
  })
  outputs!: string[];
}

@ObjectType({
  description: "A notebook as it was stored; nothing is run.",
  simpleResolvers: true,
})
class NotebookPreview {
  @Field({ description: "Language of its code; txt where it states none." }) language!: string;
  @Field(() => [NotebookCellType], { description: "The first cells." }) cells!: NotebookCellType[];
  @Field({ description: "There are more cells." }) truncated!: boolean;
}

@ObjectType({ description: "A document that browsers show: PDF.", simpleResolvers: true })
class DocumentPreview {
  @Field({ description: "Address for object or a link." }) address!: string;
  @Field({ description: "Type, by the first bytes." }) mediaType!: string;
}

@ObjectType({ description: "There is no preview.", simpleResolvers: true })
class NoPreview {
  @Field(() => ReasonEnum, { description: "Why." }) reason!: NoPreviewReason;
  @Field({ description: "The same as a sentence." }) about!: string;
}

const TYPES = {
  table: TablePreview,
  text: TextPreview,
  image: ImagePreview,
  notebook: NotebookPreview,
  document: DocumentPreview,
  none: NoPreview,
} as const;

export const PreviewUnion = createUnionType({
  name: "Preview",
  description: "What a stored file looks like.",
  types: () => Object.values(TYPES) as [typeof TablePreview, typeof NoPreview],
  resolveType: (value) => TYPES[(value as unknown as Preview).form],
});
