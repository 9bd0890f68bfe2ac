/** Who sees what in each state: the table of docs/access.md, read from there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/package-root.js";

export const CALLERS = [
  "admin",
  "owner",
  "member",
  "reviewer",
  "anonymousReviewer",
  "granted",
  "other",
  "anonymous",
] as const;
export type Caller = (typeof CALLERS)[number];

/** Each state, and the row of the table that is about it. */
export const ROW_OF = {
  private: "private",
  openDraft: "open draft",
  published: "PUBLISHED",
  embargoed: "EMBARGOED",
  archived: "ARCHIVED",
  privateArchived: "private",
  withdrawn: "deleted",
  privateWithdrawn: "deleted, and never published, and private",
  newVersion: "private",
  contentDeleted: "PUBLISHED",
} as const;
export type State = keyof typeof ROW_OF;
export const STATES = Object.keys(ROW_OF) as State[];

const INSIDERS: readonly Caller[] = ["admin", "owner", "member"];
const GRANTED: readonly Caller[] = [...INSIDERS, "granted"];
/** What the cells of the table say. */
const PHRASES: Readonly<Record<string, readonly Caller[]>> = {
  everybody: CALLERS,
  "everybody, unless it is private": CALLERS,
  "those who may change it": INSIDERS,
  "those who may change it, and whom they grant access": GRANTED,
  "those who may change it, and whom they grant access; everybody after the date": GRANTED,
  "those who may change it, and whom they grant access unless it is private": GRANTED,
  // A tombstone has no words of the record.
  "a tombstone for everybody; earlier revisions for those who may change it": INSIDERS,
  "a tombstone for those who may change it": INSIDERS,
  nobody: [],
  no: [],
  whole: CALLERS,
  "metadata and access right": CALLERS,
  "announced as deleted": [],
};
const callersIn = (cell: string): readonly Caller[] => {
  const found = PHRASES[cell];
  if (!found)
    throw new Error(`docs/access.md: what "${cell}" means is not in test/access/who-sees.ts`);
  return found;
};

export interface Seers {
  /** For others it is an identifier that nobody has. */
  exists: ReadonlySet<Caller>;
  words: ReadonlySet<Caller>;
  content: ReadonlySet<Caller>;
  /** Words, in a search by words. */
  search: ReadonlySet<Caller>;
  /** Words, in what is harvested. */
  feeds: ReadonlySet<Caller>;
}

const text = readFileSync(join(packageRoot, "docs", "access.md"), "utf8");
const table = new Map(
  text
    .slice(text.indexOf("| state |"), text.indexOf("Who reads by a [review link]"))
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1)
    .map((line) => {
      const [state, ...cells] = line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim());
      return [state!, cells] as const;
    }),
);
/** The rows of the table, so that none is left out. */
export const DOCUMENTED: readonly string[] = [...table.keys()];

export function seersOf(state: State): Seers {
  const row = ROW_OF[state];
  const [metadata, content, search, feeds] = table.get(row)! as [string, string, string, string];
  const isDeleted = row.startsWith("deleted");
  // "... in each of these states until the record is deleted." An open draft has no anonymous link.
  const reviewers: Caller[] = isDeleted
    ? []
    : state === "openDraft"
      ? ["reviewer"]
      : ["reviewer", "anonymousReviewer"];
  const words = callersIn(metadata);
  return {
    exists: new Set([...(metadata.includes("for everybody") ? CALLERS : words), ...reviewers]),
    words: new Set([...words, ...reviewers]),
    content: new Set(state === "contentDeleted" ? [] : [...callersIn(content), ...reviewers]),
    search: new Set(callersIn(search)),
    feeds: new Set(callersIn(feeds)),
  };
}
