import type { Member } from "../zip/member.js";

/** A file of the archive. `path` is relative to the crate's folder, or to the archive for what lies outside. */
export interface CrateFile { member: string; path: string; size: number }

/** The files of an archive by their paths. */
export class FileTree {
  private readonly byMember = new Map<string, CrateFile>();
  private readonly folders = new Set<string>();

  /** @param folder the crate's folder in the archive: empty, or with `/` at the end */
  constructor(members: readonly Pick<Member, "name" | "folder" | "size">[], readonly folder: string) {
    for (const { name, folder: isFolder, size } of members) {
      if (isFolder) this.folders.add(name);
      else this.byMember.set(name, { member: name, path: name.startsWith(folder) ? name.slice(folder.length) : name, size });
      for (let slash = name.lastIndexOf("/"); slash > 0 && !this.folders.has(name.slice(0, slash)); slash = name.lastIndexOf("/", slash - 1)) this.folders.add(name.slice(0, slash));
    }
  }

  get files(): CrateFile[] {
    return [...this.byMember.values()];
  }

  /**
   * The file at a path as metadata writes it: percent-decoded, as written when that names nothing.
   * @param base folder of the archive that the path starts from
   */
  find(path: string, base: string): CrateFile | undefined {
    for (const candidate of spellings(path)) {
      const file = this.byMember.get(base + candidate);
      if (file) return file;
    }
    return undefined;
  }

  hasFolder(path: string, base: string): boolean {
    return spellings(path).some((candidate) => this.folders.has((base + candidate).replace(/\/$/, "")));
  }
}

function spellings(path: string): string[] {
  const bare = path.replace(/^(?:\.?\/+)+/, "").replace(/\/+$/, "");
  const written = [bare, ...(bare.includes("\\") ? [bare.replaceAll("\\", "/")] : [])];
  return [...written.flatMap((text) => decoded(text)), ...written].flatMap((text) => [text, text.normalize("NFC"), text.normalize("NFD")]);
}

function decoded(text: string): string[] {
  if (!text.includes("%")) return [];
  try {
    return [decodeURIComponent(text)];
  } catch {
    return [];
  }
}
