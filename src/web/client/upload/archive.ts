// The files that somebody brings: read from what was dropped, described, packed.
import { strToU8, Zip, ZipDeflate, ZipPassThrough } from "fflate";

import { describedFolder } from "../../../model/described-folder.js";

export interface Item {
  path: string;
  file: File;
}

export const METADATA = "ro-crate-metadata.json";
/** These are compressed already. */
const COMPRESSED =
  /\.(?:zip|gz|bz2|xz|7z|zst|png|jpe?g|gif|webp|avif|mp4|mov|mp3|parquet|h5|pdf)$/i;

/** The files of what was dropped, with their paths; folders are walked. */
export async function dropped(transfer: DataTransfer): Promise<Item[]> {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const items: Item[] = [];
  const walk = async (entry: FileSystemEntry, path: string): Promise<void> => {
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) =>
        (entry as FileSystemFileEntry).file(resolve, reject),
      );
      items.push({ path: path + entry.name, file });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
        reader.readEntries(resolve, reject),
      );
      if (batch.length === 0) return;
      for (const inner of batch) await walk(inner, `${path}${entry.name}/`);
    }
  };
  for (const entry of entries) await walk(entry, "");
  return items;
}

/** What was brought, with paths below the one folder that holds everything. */
export interface Brought {
  items: Item[];
  /** Name of that folder; empty where there is none. */
  folder: string;
}

/** Leaves out the files that systems leave behind. */
export function relative(items: Item[]): Brought {
  const kept = items.filter(
    ({ path }) => !/(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini|__MACOSX\/.*)$/.test(path),
  );
  const first = kept[0]?.path.split("/", 1)[0];
  const isBelow = kept.every(({ path }) => path.startsWith(`${first}/`));
  return isBelow && first !== undefined
    ? {
        items: kept.map(({ path, file }) => ({ path: path.slice(first.length + 1), file })),
        folder: first,
      }
    : { items: kept, folder: "" };
}

/** One archive of the files, made piece by piece: the page stays usable. */
export async function zipped(
  items: readonly Item[],
  progress: (bytes: number, files: number) => void,
): Promise<Blob> {
  const chunks: BlobPart[] = [];
  let fail: (error: Error) => void;
  const broken = new Promise<never>((_, reject) => (fail = reject));
  const archive = new Zip((error, chunk) => {
    if (error) fail(error);
    else chunks.push(chunk);
  });
  let [bytes, files] = [0, 0];
  const write = async (): Promise<void> => {
    for (const { path, file } of items) {
      const entry = COMPRESSED.test(path)
        ? new ZipPassThrough(path)
        : new ZipDeflate(path, { level: 6 });
      archive.add(entry);
      const reader = file.stream().getReader();
      for (;;) {
        const { done: isEnd, value } = await reader.read();
        if (isEnd) break;
        entry.push(value);
        progress((bytes += value.length), files);
      }
      entry.push(new Uint8Array(0), true);
      progress(bytes, ++files);
    }
    archive.end();
  };
  await Promise.race([write(), broken]);
  return new Blob(chunks, { type: "application/zip" });
}

/** RO-Crate metadata for files that have none. */
export function metadataOf(items: readonly Item[], fields: Readonly<Record<string, string>>): File {
  const words = fields["keywords"]!.split(",").map((word) => word.trim());
  const metadata = describedFolder(
    items.map(({ path, file }) => ({ path, size: file.size, mediaType: file.type })),
    {
      name: fields["name"]!,
      description: fields["description"]!,
      licence: fields["licence"]!,
      keywords: words.filter((word) => word !== ""),
    },
  );
  return new File([strToU8(JSON.stringify(metadata))], METADATA);
}
