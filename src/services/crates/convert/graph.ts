import { slug } from "../../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject } from "../../../model/field.js";
import { type DigestName, digestIn } from "../../../model/file-facts.js";
import { fromColumns, type ExchangedColumn } from "../../../tabular/interchange/exchange.js";
import { TabularError } from "../../../tabular/limits.js";
import { adviseOnDigest } from "../advise-files.js";
import { type Findings, objectFrom } from "../findings.js";
import { DESCRIPTOR } from "../layout.js";

const VERSION = "https://w3id.org/ro/crate/1.2";
/** Terms of converted crates beside those of RO-Crate; later contexts win. */
const TERMS: JsonObject = {
  evi: "https://w3id.org/EVI#",
  cr: "http://mlcommons.org/croissant/",
  rai: "http://mlcommons.org/croissant/RAI/",
  prov: "http://www.w3.org/ns/prov#",
  citeAs: "cr:citeAs",
  includes: "cr:includes",
  excludes: "cr:excludes",
  isLiveDataset: "cr:isLiveDataset",
  separator: "evi:separator",
  header: "evi:header",
  hasSchema: "evi:hasSchema",
  properties: { "@id": "evi:properties", "@type": "@json" },
  examples: { "@id": "evi:examples", "@type": "@json" },
  data: { "@id": "cr:data", "@type": "@json" },
};

/** Converted metadata, and the place in the given document that each entity comes from. */
export interface Converted {
  metadata: JsonObject;
  /** JSON pointers, by position in `@graph`. */
  pointers: string[];
}

/** RO-Crate metadata that is made from a document of another format. */
export class CrateGraph {
  readonly #entities: JsonObject[] = [];
  readonly #pointers: string[] = [];
  /** Identifiers in use, with the next number where they are wanted again. */
  readonly #ids = new Map<string, number>();
  readonly #parts: JsonObject[] = [];

  constructor(
    readonly file: string,
    readonly findings: Findings,
  ) {}

  /** A digest in hex; a placeholder in its place is left out, with advice. */
  digest(name: DigestName, value: JsonValue | undefined, pointer: string): JsonObject {
    if (value === undefined || value === null) return {};
    adviseOnDigest(this.findings, name, value, { file: this.file, pointer });
    const hex = digestIn(name, value);
    return hex === undefined ? {} : { [name]: hex };
  }

  get parts(): JsonObject[] {
    return this.#parts;
  }

  /** Adds an entity; its `@id` gets a number where another entity has it. */
  add(pointer: string, entity: JsonObject): JsonObject {
    const id = entity["@id"] as string;
    let free = id;
    while (this.#ids.has(free)) {
      const number = this.#ids.get(id) ?? 2;
      this.#ids.set(id, number + 1);
      free = `${id}-${number}`;
    }
    this.#ids.set(free, 2);
    this.#entities.push({ ...entity, "@id": free });
    this.#pointers.push(pointer);
    return { "@id": free };
  }

  /** The same for a part of the crate. */
  addPart(pointer: string, entity: JsonObject): JsonObject {
    const reference = this.add(pointer, entity);
    this.#parts.push(reference);
    return reference;
  }

  /** A person or organization that the root refers to. */
  addAgent(pointer: string, type: string, agent: JsonObject): JsonObject {
    const { name } = agent;
    const words = typeof name === "string" ? slug(name) : "";
    return this.add(pointer, {
      ...agent,
      "@id": `#${type.toLowerCase()}${words === "" ? "" : `-${words}`}`,
      "@type": type,
    });
  }

  /**
   * The columns of a table as a schema, or undefined when there are none. Two columns of one name
   * are an error.
   */
  addSchema(
    pointer: string,
    id: string,
    about: JsonObject,
    columns: readonly ExchangedColumn[],
    code: "CROISSANT_INVALID" | "DATA_PACKAGE_INVALID",
  ): JsonObject | undefined {
    try {
      const properties = fromColumns(columns) as unknown as JsonObject;
      return this.schema(pointer, id, about, properties);
    } catch (error) {
      if (!(error instanceof TabularError)) throw error;
      this.findings.error(code, `${error.message}; rename one of them.`, {
        file: this.file,
        pointer,
      });
      return undefined;
    }
  }

  schema(pointer: string, id: string, about: JsonObject, properties: JsonObject): JsonObject {
    return this.add(pointer, { "@id": id, "@type": "evi:Schema", ...about, properties });
  }

  /**
   * @param root members of the crate itself
   * @param contexts those of the document, which explain its further terms
   */
  finish(root: JsonObject, contexts: readonly JsonValue[]): Converted {
    const { "@id": id = "./" } = root;
    return {
      metadata: {
        "@context": [...contexts, `${VERSION}/context`, TERMS],
        "@graph": [
          {
            "@id": DESCRIPTOR,
            "@type": "CreativeWork",
            conformsTo: { "@id": VERSION },
            about: { "@id": id },
          },
          objectFrom([
            ...Object.entries({ "@id": id, "@type": "Dataset" }),
            ...Object.entries(root).filter(([name]) => !name.startsWith("@")),
            ["hasPart", this.#parts],
          ]),
          ...this.#entities,
        ],
      },
      pointers: ["", "", ...this.#pointers],
    };
  }
}

/** Text, or the text of a value with a language; the first of several. */
export function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return textOf(value[0]);
  return isObject(value) ? textOf(value["@value"]) : undefined;
}

/** Without the members that are undefined. */
export const defined = (members: Record<string, JsonValue | undefined>): JsonObject =>
  objectFrom(
    Object.entries(members).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );

export const ABSOLUTE = /^[a-zA-Z][a-zA-Z0-9+.-]+:/;
