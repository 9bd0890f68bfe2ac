/** Longest name of a file, and longest path, that common file systems take (bytes of UTF-8); some room for a number. */
const LONGEST_NAME = 240;
const LONGEST_PATH = 3000;

/** Paths below one folder, each given once. */
export class FileNames {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  /** The same path, or one like it that is free and safe: no way out of the folder, nothing that a terminal would obey. */
  claim(wanted: string): string {
    const parts = wanted.split("/").map(safeName).filter((part) => part !== "");
    const path = parts.length === 0 || Buffer.byteLength(parts.join("/")) > LONGEST_PATH ? [parts.at(-1) ?? "file"] : parts;
    const name = path.pop()!;
    const dot = name.lastIndexOf(".");
    const [stem, extension] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
    // A folder cannot have the name of a file: everything goes beside it then.
    const folder = path.some((_, depth) => this.#files.has(path.slice(0, depth + 1).join("/"))) ? [] : path;
    for (let number = 1; ; number++) {
      const free = [...folder, number === 1 ? name : `${stem}-${number}${extension}`].join("/");
      if (this.#files.has(free) || this.#folders.has(free)) continue;
      this.#files.add(free);
      for (let depth = 1; depth <= folder.length; depth++) this.#folders.add(folder.slice(0, depth).join("/"));
      return free;
    }
  }
}

function safeName(part: string): string {
  const name = part.toWellFormed().replace(/[\p{Cc}\\]/gu, "_").trim();
  if (name === "." || name === "..") return "";
  let short = name;
  while (Buffer.byteLength(short) > LONGEST_NAME) short = [...short].slice(0, -1).join("");
  return short;
}
