/** What the two databases say in their own way about the tables of this folder. */
import type { Statement } from "../statements.js";
import type { LinkSql } from "./links.js";
import type { CrateUseSql, ObjectSql } from "./objects.js";
import type { VectorSql } from "./vectors.js";

export interface TableSql {
  readonly links: LinkSql;
  /** The number of the next submission. */
  readonly nextSubmission: Statement<[number]>;
  readonly objects: ObjectSql;
  readonly uses: CrateUseSql;
  readonly vectors: VectorSql;
}
