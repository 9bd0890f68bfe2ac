import { withoutLast } from "../layout/descriptor.js";
import type { Member } from "../zip/member.js";

/** A file of the archive. `path` is relative to the crate's folder, or to the archive for what lies outside. */
export interface CrateFile { member: string; path: string; size: number }

/** The files of an archive by their paths. */
export class FileTree {
  private readonly byMember = new Map<string, CrateFile>();
  /** Names in order: those below a folder are neighbours. A list of all folders would be as long as all paths of a hostile archive. */
  private readonly sorted: readonly string[];

  /** @param folder the crate's folder in the archive: empty, or with `/` at the end */
  constructor(members: readonly Pick<Member, "name" | "folder" | "size">[], readonly folder: string) {
    for (const { name, folder: isFolder, size } of members) {
      if (!isFolder) this.byMember.set(name, { member: name, path: name.startsWith(folder) ? name.slice(folder.length) : name, size });
    }
    this.sorted = sortedNames(members);
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
    return spellings(path).some((candidate) => firstBelow(this.sorted, (base + candidate).replace(/\/$/, "")) !== undefined);
  }
}

/** Names of members as {@link firstBelow} looks them up: a folder with `/` at its end, so that an empty one is found too. */
export const sortedNames = (members: readonly Pick<Member, "name" | "folder">[]): string[] => members.map(({ name, folder }) => (folder ? `${name}/` : name)).sort();

/** The first name below a folder, found without looking at the others. */
export function firstBelow(sorted: readonly string[], folder: string): string | undefined {
  const start = `${folder}/`;
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < start) low = middle + 1;
    else high = middle;
  }
  return sorted[low]?.startsWith(start) ? sorted[low] : undefined;
}

function spellings(path: string): string[] {
  const bare = withoutLast(path.replace(/^(?:\.?\/+)+/, ""), "/");
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
