import type { JsonObject, JsonValue } from "../../../model/field.js";

/** One metadata file, whatever its layout. */
export interface CrateDescription {
  /** Metadata file inside the archive. */
  file: string;
  /** Folder of the archive that relative paths start from: empty, or with `/` at the end. */
  folder: string;
  context: JsonValue | undefined;
  /** Says which entity is the root; the older layout has none. */
  descriptor?: CrateEntity;
  root: CrateEntity;
  /** False where the metadata is one object without `@graph`. */
  hasGraph: boolean;
  /** The root and the descriptor are among them. */
  entities: CrateEntity[];
}

export interface CrateEntity {
  /** `@id` as written; for an object without one a blank node name made from its place. */
  id: string;
  /** Where the entity stands in the metadata file. */
  pointer: string;
  value: JsonObject;
  /** Stands inside another entity; saying the same twice is usual there. */
  embedded?: true;
  /** Describes the metadata file itself. */
  descriptor?: true;
}
