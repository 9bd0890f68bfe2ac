/** How near vectors are: by PostgreSQL's extension pgvector where the database has it. */
import { type Session, statement } from "../statement.js";

const SCHEMA = statement<[name: string]>(
  `SELECT quote_ident(n.nspname) FROM pg_extension AS e JOIN pg_namespace AS n
    ON n.oid = e.extnamespace WHERE e.extname = 'vector' AND has_schema_privilege(n.oid, 'USAGE')`,
);

/**
 * SQL of the cosine of `embedding AS e` and a list of as many numbers, both of length 1. Without
 * pgvector PostgreSQL multiplies number by number, which takes about 20 times as long.
 */
export async function similaritySql(session: Session): Promise<(asked: string) => string> {
  const [[schema] = []] = await session.query(SCHEMA);
  if (schema === undefined)
    return (asked) =>
      `(SELECT sum(u.x * u.y) FROM unnest(e.vector, ${asked}::float8[]) AS u (x, y))`;
  const vector = `${schema}.vector`;
  return (asked) => `1 - (e.vector::${vector} OPERATOR(${schema}.<=>) ${asked}::real[]::${vector})`;
}
