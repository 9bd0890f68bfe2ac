/** Words that are spelt like one that no record has: by PostgreSQL's extension pg_trgm. */
import { distance, isPart, MAX_COMPOUNDS, splitsOf, tolerance } from "../../search.js";
import { type Database, type Session, statement } from "../statement.js";

/** Words of the most similar ones whose letters are compared. */
const COMPARED = 200;

const SCHEMA = statement<[name: string]>(
  `SELECT quote_ident(n.nspname) FROM pg_extension AS e JOIN pg_namespace AS n
    ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm' AND has_schema_privilege(n.oid, 'USAGE')`,
);
const ALONE = statement("SELECT 1 FROM arkgraph_schema WHERE id = 1 FOR UPDATE");

/** Makes the extension and an index of words by it, once; where it may not, says what is missing. */
export async function prepareSpellings(
  database: Database,
  log: (message: string) => void,
): Promise<void> {
  try {
    await database.transaction("", async (session) => {
      await session.query(ALONE);
      await session.exec("CREATE EXTENSION IF NOT EXISTS pg_trgm");
      const [[schema] = ["public"]] = await session.query(SCHEMA);
      await session.exec(
        `CREATE INDEX IF NOT EXISTS word_near ON word USING gist (word ${schema}.gist_trgm_ops)`,
      );
    });
  } catch (error) {
    log(
      `Search suggests no other spellings: ${(error as Error).message}. Let an administrator run ` +
        "CREATE EXTENSION pg_trgm in the registry's database, then restart.",
    );
  }
}

const HOLDING = statement<[word: string]>(
  `SELECT w.word FROM word AS w, coalesce((ts_lexize('arkgraph', $1))[1], $1) AS s (stem)
    WHERE strpos(w.word, s.stem) > 0 AND length(w.word) > length(s.stem)
    ORDER BY length(w.word), w.word LIMIT ${MAX_COMPOUNDS}`,
);

/** Words that hold one that no record has, and pairs of words that it may be made of. */
export async function compoundsOf(session: Session, typed: string): Promise<string[][]> {
  const holding = isPart(typed) ? await session.query(HOLDING, [typed]) : [];
  return [...holding, ...splitsOf(typed)];
}

/** Most words that one may stand for. */
const MAX_SPELLINGS = 8;

/**
 * Words that differ from one in as few letters as any, themselves or by their stems.
 * @param isHeld whether a record has the word: those of deleted records stay in the table
 */
export async function spellingsOf(
  session: Session,
  typed: string,
  isHeld: (word: string) => Promise<boolean>,
): Promise<string[]> {
  const most = tolerance(typed);
  const [[schema] = []] = await session.query(SCHEMA);
  if (schema === undefined || most === 0) return [];
  const similar = await session.query(
    statement<[word: string, stem: string, own: string]>(
      `SELECT word, (ts_lexize('arkgraph', word))[1], (ts_lexize('arkgraph', $1))[1]
        FROM word ORDER BY word OPERATOR(${schema}.<->) $1 LIMIT ${COMPARED}`,
    ),
    [typed],
  );
  const differing = similar.map(([word, stem, own]) => ({
    word,
    letters: Math.min(distance(typed, word, most), distance(own, stem, most)),
  }));
  const found: string[] = [];
  for (let least = 0; least <= most && found.length === 0; least++)
    for (const { word, letters } of differing)
      if (letters === least && found.length < MAX_SPELLINGS && (await isHeld(word)))
        found.push(word);
  return found;
}
