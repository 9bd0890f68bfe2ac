import { ServiceError } from "../../../errors.js";
import { KindGlyph, Pager, Size } from "../../components.js";
import { FolderPageDocument, type FolderFragment } from "../../documents.js";
import { counted, nameText, shortened, sizeText } from "../../format.js";
import { type Page, type PageRequest, recordPath, type Route, withQuery } from "../../page.js";
import { typeText } from "./access.js";
import { Back } from "./related.js";

type Entry = FolderFragment["nodes"][number];

const folderPath = (crate: string, path: string): string =>
  withQuery(recordPath(crate, "files"), { path });

/** What a folder of a crate holds: folders with their sizes, files with their previews. */
export function FolderTable({ crate, folder }: { crate: string; folder: FolderFragment }) {
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
        <tbody>
          {folder.nodes.map((entry) => (
            <Row crate={crate} entry={entry} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ crate, entry }: { crate: string; entry: Entry }) {
  const { name, path, file, fileCount, size } = entry;
  if (!file)
    return (
      <tr>
        <th scope="row">
          <a href={folderPath(crate, path)}>
            <KindGlyph kind="PROJECT" />
            <bdi>{shortened(name, 160)}</bdi>/
          </a>
        </th>
        <td>{counted(fileCount, "file")}</td>
        <td class="number">
          <Size bytes={size} />
        </td>
        <td>
          <a href={folderPath(crate, path)}>Open</a>
        </td>
      </tr>
    );
  const { record, readable, address, mediaType, id } = file;
  const preview = record
    ? recordPath(record.id, "preview")
    : withQuery(recordPath(id, "preview"), { crate });
  return (
    <tr>
      <th scope="row">
        <a href={record ? recordPath(record.id) : preview}>
          <KindGlyph kind={record?.kind ?? "DATADOWNLOAD"} />
          <bdi>{shortened(name, 160)}</bdi>
        </a>
      </th>
      <td>{typeText(mediaType) || shortened(mediaType, 60)}</td>
      <td class="number">
        <Size bytes={size} />
      </td>
      <td>
        {readable ? (
          <>
            <a href={preview}>Preview</a>{" "}
            <a href={address} download>
              Download
            </a>
          </>
        ) : (
          <span class="quiet">Restricted</span>
        )}
      </td>
    </tr>
  );
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
