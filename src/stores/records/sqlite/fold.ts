/** Text as names and keywords are compared by: compatibility form (NFKC), without case. */
export const fold = (text: string): string => text.normalize("NFKC").toLowerCase();

/** Text for the search index, which is ours: what SQLite cannot hold is replaced, not refused. */
export const indexable = (text: string): string => text.toWellFormed().replaceAll("\0", " ");
