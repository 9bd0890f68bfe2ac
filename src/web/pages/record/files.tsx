/** Stored files of a record or crate, and what is in them. */
import type { ComponentChildren } from "preact";
import { ServiceError } from "../../../errors.js";
import type { TableQuestion, TableView } from "../../../services/previews/table-view.js";
import type { NoPreview } from "../../../services/previews/types.js";
import { askedArk } from "../../../services/records/find.js";
import { Empty, Identifier, Notice, Pager, Section, Size } from "../../components.js";
import { KindGlyph, RecordLink } from "../../record-components.js";
import {
  type FolderFragment,
  FolderPageDocument,
  PreviewPageDocument,
  type PreviewPartsFragment,
  type RecordPageQuery,
} from "../../documents.js";
import { nameText } from "../../../model/labels.js";
import { Markdown } from "../../markdown.js";
import { counted, shortened, sizeText } from "../../words.js";
import type { Page, PageRequest, Route } from "../../page.js";
import { pathOf, recordPath, withQuery } from "../../paths.js";
import { Download, type Stored, typeText } from "./access.js";
import { Back } from "./related.js";
import { questionOf, TableOfFile } from "./table.js";
import { errorsAt, sentenceOf } from "./table-errors.js";

type Entry = FolderFragment["nodes"][number];

const folderPath = (crate: string, path: string): string =>
  withQuery(recordPath(crate, "files"), { path });

/** A table of files: what they are, their form, size and content. */
function FilesTable({ children }: { children: ComponentChildren }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Files">
      <table class="files wide">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Form</th>
            <th scope="col" class="number">
              Size
            </th>
            <th scope="col">Content</th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface RowProps {
  link: ComponentChildren;
  form: string;
  size: number | null | undefined;
  /** What leads to the content. */
  children: ComponentChildren;
}

function Row({ link, form, size, children }: RowProps) {
  return (
    <tr>
      <th scope="row">{link}</th>
      <td>{form}</td>
      <td class="number">{size != null && <Size bytes={size} />}</td>
      <td>{children}</td>
    </tr>
  );
}

const formText = (mediaType: string | null): string =>
  typeText(mediaType) || shortened(mediaType ?? "", 60);

interface ContentProps {
  /** Where the preview is. */
  preview: string;
  address: string | null;
  readable: boolean;
}

/** The preview and the download of a file, for those who may read it. */
function ContentLinks({ preview, address, readable }: ContentProps) {
  if (!readable || address === null) return <span class="quiet">Restricted</span>;
  return (
    <>
      <a href={preview}>Preview</a>{" "}
      <a href={address} download>
        Download
      </a>
    </>
  );
}

/** What a folder of a crate holds: folders with their sizes, files with their previews. */
export function FolderTable({ crate, folder }: { crate: string; folder: FolderFragment }) {
  return (
    <FilesTable>
      {folder.nodes.map((entry) => (
        <EntryRow crate={crate} entry={entry} />
      ))}
    </FilesTable>
  );
}

const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;
/** Larger pictures are not fetched to be shown small. */
const MAX_THUMBNAIL_BYTES = 1_000_000;

function EntryRow({ crate, entry }: { crate: string; entry: Entry }) {
  const { name, path, file, fileCount, size } = entry;
  const shown = <bdi>{shortened(name, 160)}</bdi>;
  if (!file) {
    const link = (
      <a href={folderPath(crate, path)}>
        <KindGlyph kind="PROJECT" />
        {shown}/
      </a>
    );
    return (
      <Row link={link} form={counted(fileCount, "file")} size={size}>
        <a href={folderPath(crate, path)}>Open</a>
      </Row>
    );
  }
  const { record, readable, address, mediaType, id } = file;
  const preview = record
    ? recordPath(record.id, "preview")
    : withQuery(recordPath(id, "preview"), { crate });
  const isPicture =
    readable && PICTURE.test(mediaType ?? "") && (size ?? Infinity) <= MAX_THUMBNAIL_BYTES;
  const link = (
    <a href={record ? recordPath(record.id) : preview}>
      {record && isPicture ? (
        <img class="thumbnail" src={recordPath(record.id, "view")} alt="" loading="lazy" />
      ) : (
        <KindGlyph kind={record?.kind ?? "DATA_DOWNLOAD"} />
      )}
      {shown}
    </a>
  );
  return (
    <Row link={link} form={formText(mediaType)} size={size}>
      <ContentLinks preview={preview} address={address} readable={readable} />
    </Row>
  );
}

/** A file of a record. */
export interface FileOf {
  id: string;
  name?: string | null;
  kind?: string | null;
  encodingFormat?: string | null;
  content?: Stored;
}

/** The files of a record. */
export function Files({ files }: { files: readonly FileOf[] }) {
  return (
    <FilesTable>
      {files.map((file) => (
        <Row
          link={<RecordLink record={file} glyph />}
          form={formText(file.content?.mediaType ?? file.encodingFormat ?? null)}
          size={file.content?.size}
        >
          <FileContent file={file} />
        </Row>
      ))}
    </FilesTable>
  );
}

function FileContent({ file: { id, content } }: { file: FileOf }) {
  if (content?.state === "STORED")
    return <ContentLinks {...content} preview={recordPath(id, "preview")} />;
  if (content?.state === "DAMAGED") return <>Damaged</>;
  if (content?.state === "DELETED") return <>Deleted</>;
  return <span class="quiet">Not stored here</span>;
}

const ON_A_PAGE = 200;

const inFolder = (folder: string): string => new URLSearchParams({ folder }).toString();

/** One folder of a crate, in pages. */
async function folderPage({ ask, param, query }: PageRequest): Promise<Page> {
  const id = param("ark");
  const path = (query.get("path") ?? "").replace(/^\/+|\/+$/g, "");
  const find = query.get("find")?.trim() || null;
  const { roCrate } = await ask(FolderPageDocument, {
    id,
    path,
    find,
    after: query.get("after"),
    first: ON_A_PAGE,
  });
  if (!roCrate) throw new ServiceError("NOT_FOUND", `No crate is stored under ${id}.`);
  const { folder } = roCrate;
  const steps = path === "" ? [] : path.split("/");
  const isOffered =
    steps.length > 0 && find === null && roCrate.files.nodes.some(({ readable }) => readable);
  const name = steps.at(-1) ?? nameText(roCrate);
  return {
    title: `Files in ${shortened(name, 120)}`,
    section: "browse",
    body: (
      <>
        <Back record={roCrate} />
        <h1 dir="auto">
          {steps.length === 0 ? (
            "Files"
          ) : (
            <>
              <a href={recordPath(roCrate.id, "files")}>Files</a>
              {steps.slice(0, -1).map((step, index) => (
                <>
                  {" / "}
                  <a href={folderPath(roCrate.id, steps.slice(0, index + 1).join("/"))}>
                    <bdi>{shortened(step, 60)}</bdi>
                  </a>
                </>
              ))}
              {" / "}
              <bdi>{shortened(name, 120)}</bdi>
            </>
          )}
        </h1>
        <FindFiles crate={roCrate.id} path={path} find={find} />
        {isOffered ? (
          <p class="actions">
            <a class="button" href={`${roCrate.addresses.current}&${inFolder(path)}`} download>
              Download this folder · {counted(folder.fileCount, "file")}
              <span class="size"> · {sizeText(folder.size)}</span>
            </a>
          </p>
        ) : (
          <p class="meta">
            {counted(folder.fileCount, "file")}
            {find !== null && " found"}, {sizeText(folder.size)}
          </p>
        )}
        {folder.fileCount === 0 ? (
          <Empty title={find === null ? "No file of the crate is stored here" : "No file found"}>
            {find !== null && <p>No path of a file contains “{shortened(find, 60)}”.</p>}
          </Empty>
        ) : (
          <FolderTable crate={roCrate.id} folder={folder} />
        )}
        <Pager path={recordPath(roCrate.id, "files")} query={query} pageInfo={folder.pageInfo} />
      </>
    ),
  };
}

interface FindFilesProps {
  crate: string;
  path: string;
  find: string | null;
}

/** Asks for files by a part of their name, in a folder and below it. */
function FindFiles({ crate, path, find }: FindFilesProps) {
  return (
    <form
      class="find files-find"
      action={recordPath(crate, "files")}
      role="search"
      aria-label="Find files"
    >
      {path !== "" && <input type="hidden" name="path" value={path} />}
      <input
        type="search"
        name="find"
        value={find ?? ""}
        aria-label="A part of the name"
        placeholder={path === "" ? "Find files…" : "Find files in this folder…"}
      />
      <button class="secondary">Find</button>
      {find !== null && <a href={folderPath(crate, path)}>Show all</a>}
    </form>
  );
}

interface FolderSectionProps {
  crate: string;
  folder: FolderFragment;
}

/** The files of a crate on its page: the root folder, or its beginning. */
export function FolderSection({ crate, folder }: FolderSectionProps) {
  return (
    <Section
      id="files"
      title="Files"
      count={
        <>
          {folder.fileCount.toLocaleString("en-US")}
          {folder.fileCount > 0 && ` · ${sizeText(folder.size)}`}
        </>
      }
    >
      {folder.fileCount === 0 ? (
        <p class="quiet">No file of the crate is stored here.</p>
      ) : (
        <>
          {folder.nodes.length < folder.fileCount && (
            <FindFiles crate={crate} path="" find={null} />
          )}
          <FolderTable crate={crate} folder={folder} />
        </>
      )}
      {folder.pageInfo.hasNextPage && (
        <p>
          <a href={recordPath(crate, "files")}>All files</a>
        </p>
      )}
    </Section>
  );
}

/** Pictures of a gallery, and the largest that is fetched for it. */
const [MAX_PICTURES, MAX_PICTURE_BYTES] = [12, 5_000_000];

interface GalleryProps {
  pictures: RecordPageQuery["pictures"];
}

/** The pictures of a crate that the reader may see. */
export function Gallery({ pictures }: GalleryProps) {
  const shown = (pictures?.nodes ?? []).flatMap((picture) => {
    const content = "content" in picture ? (picture.content as Stored) : undefined;
    const isShown =
      content?.state === "STORED" && content.readable && (content.size ?? 0) <= MAX_PICTURE_BYTES;
    return isShown ? [{ ...picture, title: nameText(picture) }] : [];
  });
  if (shown.length === 0) return null;
  return (
    <Section id="pictures" title="Pictures">
      <ul class="gallery">
        {shown.slice(0, MAX_PICTURES).map(({ id, title }) => (
          <li>
            <a href={recordPath(id)}>
              <img src={recordPath(id, "view")} alt="" loading="lazy" />
              <bdi>{shortened(title, 80)}</bdi>
            </a>
          </li>
        ))}
      </ul>
      {shown.length > MAX_PICTURES && <p class="quiet">There are more pictures among the files.</p>}
    </Section>
  );
}

export const filesRoutes: readonly Route[] = [{ path: "/files/*ark", get: folderPage }];

type Table = Extract<PreviewPartsFragment, { __typename: "TablePreview" }>;
type Notebook = Extract<PreviewPartsFragment, { __typename: "NotebookPreview" }>;

/** What is shown of a file on the page of its record; the page of the preview shows all of it. */
const BRIEF = { rows: 8, columns: 20, characters: 1500, cells: 3 };
const WHOLE = { rows: 1000, columns: 1000, characters: Infinity, cells: 1000 };
type Most = typeof BRIEF;

interface ShownProps {
  id: string;
  preview: PreviewPartsFragment;
  name: string;
  most: Most;
}

/**
 * An SVG as a picture, in which browsers run no script and load nothing; its address has a policy
 * that forbids both.
 */
function Drawing(props: { id: string; name: string; children: ComponentChildren }) {
  const { id, name, children } = props;
  return (
    <>
      <p class="preview-image">
        <img src={recordPath(id, "view")} alt={shortened(name, 120)} loading="lazy" />
      </p>
      <details>
        <summary>Source</summary>
        {children}
      </details>
    </>
  );
}

/** A file as far as its preview goes. Texts of files are text here, never markup; only an SVG is also a picture. */
function Shown({ id, preview, name, most }: ShownProps) {
  switch (preview.__typename) {
    case "TablePreview":
      return <Rows table={preview} most={most} />;
    case "TextPreview": {
      const text = (
        <pre class="preview" tabIndex={0} aria-label={`Text of ${shortened(name, 80)}`} dir="auto">
          {preview.text.slice(0, most.characters).toWellFormed()}
        </pre>
      );
      return preview.language === "svg" ? <Drawing {...{ id, name }}>{text}</Drawing> : text;
    }
    case "ImagePreview":
      return (
        <p class="preview-image">
          <img
            src={pathOf(preview.address)}
            alt={shortened(name, 120)}
            width={preview.width ?? undefined}
            height={preview.height ?? undefined}
            loading="lazy"
          />
        </p>
      );
    case "NotebookPreview":
      return <Cells notebook={preview} most={most} />;
    case "DocumentPreview":
      return (
        <p>
          <a class="button secondary" href={pathOf(preview.address)}>
            Open the PDF
          </a>
        </p>
      );
    case "NoPreview":
      return <p class="quiet">There is no preview. {preview.about}</p>;
  }
}

function Rows({ table, most }: { table: Table; most: Most }) {
  const { columns, rows, errors, problem } = table;
  const width = Math.min(
    most.columns,
    rows.reduce((widest, row) => Math.max(widest, row.length), columns.length),
  );
  const shown = rows.slice(0, most.rows);
  const found = errorsAt(errors, width);
  const messages = (row: number, column: number | "row") =>
    found(row, column)?.map((message) => <small>{sentenceOf(message)}</small>);
  return (
    <>
      {errors.length > 0 && (
        <p class="wrong">
          {counted(errors.length, "error")} by the schema, each at its cell
          {errors.some(({ row }) => row >= shown.length) && "; some in rows further below"}.
        </p>
      )}
      {problem !== null && <p class="quiet">{shortened(problem, 300)}</p>}
      <div class="scroll preview-table" tabIndex={0} role="region" aria-label="First rows">
        <table class="data">
          {columns.length > 0 && (
            <thead>
              <tr>
                <th scope="col">
                  <span class="visually-hidden">Row</span>
                </th>
                {columns.slice(0, width).map((column) => (
                  <th scope="col">
                    <bdi>{shortened(column, 80)}</bdi>
                  </th>
                ))}
              </tr>
            </thead>
          )}
          <tbody>
            {shown.map((row, index) => {
              const ofRow = messages(index, "row");
              return (
                <tr>
                  <th scope="row" class={ofRow && "wrong"}>
                    {index + 1}
                    {ofRow}
                  </th>
                  {row.slice(0, width).map((cell, column) => {
                    const ofCell = messages(index, column);
                    return (
                      <td class={ofCell && "wrong"} dir="auto">
                        {shortened(cell, 300)}
                        {ofCell}
                      </td>
                    );
                  })}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Cells({ notebook, most }: { notebook: Notebook; most: Most }) {
  return (
    <div class="notebook">
      {notebook.cells.slice(0, most.cells).map(({ kind, text, outputs }, index) => (
        <div class="cell">
          <p class="quiet small">
            {index + 1} · {kind === "code" ? notebook.language : kind}
          </p>
          {kind === "markdown" ? (
            <Markdown text={text.slice(0, most.characters)} />
          ) : (
            <pre tabIndex={0} aria-label={`Cell ${index + 1}`}>
              {text.slice(0, most.characters).toWellFormed()}
            </pre>
          )}
          {outputs.map((output) =>
            output.startsWith("data:image/") ? (
              <p class="preview-image">
                <img src={output} alt={`Output of cell ${index + 1}`} loading="lazy" />
              </p>
            ) : (
              <pre class="output" tabIndex={0} aria-label={`Output of cell ${index + 1}`}>
                {output.slice(0, most.characters).toWellFormed()}
              </pre>
            ),
          )}
        </div>
      ))}
    </div>
  );
}

/** Whether the file has more than `most` shows of it; null where nothing is left out. */
function restOf(preview: PreviewPartsFragment, most: Most): string | null {
  switch (preview.__typename) {
    case "TablePreview": {
      const moreRows = preview.moreRows || preview.rows.length > most.rows;
      const moreColumns =
        preview.moreColumns || preview.rows.some(({ length }) => length > most.columns);
      if (moreRows && moreColumns) return "more rows and columns";
      return moreRows ? "more rows" : moreColumns ? "more columns" : null;
    }
    case "TextPreview":
      return preview.truncated || preview.text.length > most.characters ? "more text" : null;
    case "NotebookPreview":
      return preview.truncated ||
        preview.cells.length > most.cells ||
        preview.cells.some(({ text }) => text.length > most.characters)
        ? "more cells"
        : null;
    default:
      return null;
  }
}

/** Reasons that the page of a record gives elsewhere. */
const SAID = new Set(["NO_CONTENT", "NOT_READABLE", "ARCHIVE"]);

interface PreviewProps {
  id: string;
  name: string;
  preview: PreviewPartsFragment | undefined;
}

/** The beginning of a record's file, on the page of the record. */
export function Preview({ id, name, preview }: PreviewProps) {
  if (!preview || (preview.__typename === "NoPreview" && SAID.has(preview.reason))) return null;
  const rest = restOf(preview, BRIEF);
  return (
    <Section id="preview" title="Preview">
      <Shown {...{ id, preview, name }} most={BRIEF} />
      <CheckedBy preview={preview} />
      {rest !== null && (
        <p>
          <a href={recordPath(id, "preview")}>See more of it</a>{" "}
          <span class="quiet">The file has {rest}.</span>
        </p>
      )}
    </Section>
  );
}

function CheckedBy({ preview }: { preview: PreviewPartsFragment }) {
  if (preview.__typename !== "TablePreview" || preview.schema === null) return null;
  return (
    <p class="quiet small">
      {preview.errors.length === 0 && preview.problem === null && "No error in these rows. "}
      Checked by <a href={recordPath(preview.schema)}>its schema</a>.
    </p>
  );
}

/** A page for what a file looks like, whether it has a record or not. */
async function previewPage({ ask, param, query, readTable }: PageRequest): Promise<Page> {
  const id = param("ark");
  const inCrate = query.get("crate") ?? "";
  const { record, crate, preview } = await ask(PreviewPageDocument, {
    id,
    crate: inCrate,
    inCrate: inCrate !== "" && id.startsWith(`${inCrate}/`),
  });
  const content = record && "content" in record ? (record.content as Stored) : undefined;
  // A file without a record, which exists: the preview would have failed otherwise.
  const holder = record?.crate ?? crate;
  if (!record && preview.__typename === "NoPreview" && preview.reason === "NO_CONTENT" && !holder)
    throw new ServiceError("NOT_FOUND", `Nothing is stored under ${id}.`);
  const name = record ? nameText(record) : nameText({ id });
  const withoutContent =
    preview.__typename === "NoPreview" &&
    (preview.reason === "NOT_READABLE" || preview.reason === "NO_CONTENT");
  const question = questionOf(query);
  // A table that takes too long as a whole is shown as far as its preview goes.
  const table =
    preview.__typename === "TablePreview" ? await readTable(askedArk(id), question) : undefined;
  return {
    title: `Preview of ${shortened(name, 120)}`,
    section: "browse",
    body: (
      <>
        {record ? <Back record={record} /> : holder && <Back record={holder} />}
        <h1 dir="auto">{shortened(name, 200)}</h1>
        <div class="actions">
          <DownloadButton id={id} content={content} isUndescribed={!record && !withoutContent} />
          {record && <RecordLink record={{ ...record, name: "About this file" }} />}
        </div>
        <Section id="preview" title="Preview">
          <TableOrPreview {...{ id, name, preview, table, question }} crate={inCrate} />
        </Section>
        <p class="quiet">
          <Identifier id={id} />
        </p>
      </>
    ),
  };
}

interface TableOrPreviewProps extends Omit<ShownProps, "most"> {
  table: TableView | NoPreview | undefined;
  question: TableQuestion;
  crate: string;
}

function TableOrPreview({ id, name, preview, table, question, crate }: TableOrPreviewProps) {
  if (table && "rows" in table) return <TableOfFile {...{ id, question, crate }} view={table} />;
  return (
    <>
      {table && <FirstRowsOnly {...table} />}
      <WholePreview {...{ id, name, preview }} />
    </>
  );
}

/** Why a table cannot be searched and sorted: it is not read as a whole. */
function FirstRowsOnly({ reason, about }: NoPreview) {
  const why = WHY_NOT_WHOLE[reason] ?? about;
  return <Notice>Only the first rows are shown, without search and order: {why}</Notice>;
}

const WHY_NOT_WHOLE: Readonly<Partial<Record<NoPreview["reason"], string>>> = {
  TIMEOUT: "reading the whole table takes too long.",
  TOO_LARGE: "the whole table needs too much memory.",
  BUSY: "too many tables are being read at the moment. Load the page again.",
};

function WholePreview({ id, name, preview }: Omit<ShownProps, "most">) {
  const rest = restOf(preview, WHOLE);
  if (preview.__typename === "NoPreview")
    return (
      <Empty title="There is no preview.">
        <p>{preview.about}</p>
      </Empty>
    );
  return (
    <>
      <Shown {...{ id, preview, name }} most={WHOLE} />
      <CheckedBy preview={preview} />
      {rest !== null && <p class="quiet">The file has {rest}: download it to see them.</p>}
    </>
  );
}

/** @param isUndescribed the file has no record, and is read at its address */
function DownloadButton({
  id,
  content,
  isUndescribed,
}: {
  id: string;
  content: Stored | undefined;
  isUndescribed: boolean;
}) {
  if (content?.state === "STORED" && content.readable && content.address)
    return <Download content={content} />;
  if (!isUndescribed) return null;
  return (
    <a class="button" href={recordPath(id)} download>
      Download
    </a>
  );
}

export const previewRoutes: readonly Route[] = [{ path: "/preview/*ark", get: previewPage }];
