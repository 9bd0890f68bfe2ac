import type { ComponentChildren } from "preact";
import { ServiceError } from "../../../errors.js";
import { KindGlyph, Pager, RecordLink, Size } from "../../components.js";
import { FolderPageDocument, type FolderFragment } from "../../documents.js";
import { counted, nameText, shortened, sizeText } from "../../format.js";
import { type Page, type PageRequest, recordPath, type Route, withQuery } from "../../page.js";
import { type Stored, typeText } from "./access.js";
import { Back } from "./related.js";

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
  const link = (
    <a href={record ? recordPath(record.id) : preview}>
      <KindGlyph kind={record?.kind ?? "DATADOWNLOAD"} />
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

/** One folder of a crate, in pages. */
async function folderPage({ ask, params, query }: PageRequest): Promise<Page> {
  const id = params["ark"]!;
  const path = (query.get("path") ?? "").replace(/^\/+|\/+$/g, "");
  const { roCrate } = await ask(FolderPageDocument, {
    id,
    path,
    after: query.get("after"),
    first: ON_A_PAGE,
  });
  if (!roCrate) throw new ServiceError("NOT_FOUND", `No crate is stored under ${id}.`);
  const { folder } = roCrate;
  const steps = path === "" ? [] : path.split("/");
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
        <p class="meta">
          {counted(folder.fileCount, "file")}, {sizeText(folder.size)}
        </p>
        <FolderTable crate={roCrate.id} folder={folder} />
        <Pager path={recordPath(roCrate.id, "files")} query={query} pageInfo={folder.pageInfo} />
      </>
    ),
  };
}

interface FolderSectionProps {
  crate: string;
  folder: FolderFragment;
}

/** The files of a crate on its page: the root folder, or its beginning. */
export function FolderSection({ crate, folder }: FolderSectionProps) {
  return (
    <section id="files">
      <h2>
        Files{" "}
        <span class="count">
          {folder.fileCount.toLocaleString("en-US")}
          {folder.fileCount > 0 && ` · ${sizeText(folder.size)}`}
        </span>
      </h2>
      {folder.fileCount === 0 ? (
        <p class="quiet">No file of the crate is stored here.</p>
      ) : (
        <FolderTable crate={crate} folder={folder} />
      )}
      {folder.pageInfo.hasNextPage && (
        <p>
          <a href={recordPath(crate, "files")}>All files</a>
        </p>
      )}
    </section>
  );
}

export const filesRoutes: readonly Route[] = [{ path: "/files/{ark}", get: folderPage }];
