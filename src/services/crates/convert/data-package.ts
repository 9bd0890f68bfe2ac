import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, listOf } from "../../../model/field.js";
import { step } from "../../../model/json/pointer.js";
import { fromFrictionless } from "../../../tabular/interchange/frictionless.js";
import { TabularError } from "../../../tabular/limits.js";
import { type Findings, quoted } from "../findings.js";
import { ABSOLUTE, type Converted, CrateGraph, defined, textOf } from "./graph.js";
import { ownValue } from "../../../own.js";

/** Whether the document is a Frictionless Data Package: JSON with resources, without JSON-LD. */
export const isDataPackage = (document: JsonObject): boolean =>
  Array.isArray(document["resources"]) &&
  document["@graph"] === undefined &&
  document["@context"] === undefined;

/** Media types of the formats that packages name without one. */
const FORMATS: Readonly<Record<string, string>> = {
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  json: "application/json",
  geojson: "application/geo+json",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  parquet: "application/vnd.apache.parquet",
};

/** A Data Package (versions 1 and 2) as RO-Crate metadata. */
export function fromDataPackage(document: JsonObject, file: string, findings: Findings): Converted {
  return new DataPackage(document, new CrateGraph(file, findings)).convert();
}

class DataPackage {
  readonly #document: JsonObject;
  readonly #graph: CrateGraph;
  readonly #names = new Set<string>();

  constructor(document: JsonObject, graph: CrateGraph) {
    this.#document = document;
    this.#graph = graph;
  }

  convert(): Converted {
    for (const [index, resource] of listOf(this.#document["resources"]).entries()) {
      const pointer = `/resources${step(index)}`;
      if (isObject(resource)) this.#resource(resource, pointer);
      else this.#error("A resource is not an object; describe it by its properties.", pointer);
    }
    return this.#graph.finish(this.#root(), []);
  }

  #error(message: string, pointer: string): void {
    this.#graph.findings.error("DATA_PACKAGE_INVALID", message, {
      file: this.#graph.file,
      pointer,
    });
  }

  #root(): JsonObject {
    const {
      name,
      title,
      description,
      homepage,
      version,
      created,
      keywords,
      id,
      licenses,
      sources,
    } = this.#document;
    const agents = this.#agents();
    return defined({
      name: textOf(title) ?? textOf(name),
      alternateName: textOf(title) === undefined ? undefined : textOf(name),
      description: textOf(description),
      url: textOf(homepage),
      version: textOf(version),
      datePublished: textOf(created),
      keywords: Array.isArray(keywords) ? keywords : undefined,
      identifier: textOf(id),
      license: licencesOf(licenses ?? this.#document["license"]),
      isBasedOn: listOf(sources).flatMap((source) =>
        isObject(source) ? (textOf(source["path"]) ?? textOf(source["title"]) ?? []) : [],
      ),
      ...agents,
    });
  }

  /** Contributors by their roles, as entities. */
  #agents(): JsonObject {
    const authors: JsonObject[] = [];
    const others: JsonObject[] = [];
    for (const [index, contributor] of listOf(this.#document["contributors"]).entries()) {
      if (!isObject(contributor)) continue;
      const roles = [...listOf(contributor["roles"]), ...listOf(contributor["role"])];
      const agent = this.#graph.addAgent(`/contributors${step(index)}`, "Person", {
        ...defined({
          name: textOf(contributor["title"]),
          givenName: textOf(contributor["givenName"]),
          familyName: textOf(contributor["familyName"]),
          email: textOf(contributor["email"]),
          url: textOf(contributor["path"]),
          affiliation: textOf(contributor["organization"]),
        }),
      });
      (roles.length === 0 || roles.some((role) => role === "author" || role === "creator")
        ? authors
        : others
      ).push(agent);
    }
    return defined({
      author: authors.length > 0 ? authors : undefined,
      contributor: others.length > 0 ? others : undefined,
    });
  }

  #resource(resource: JsonObject, pointer: string): void {
    const name = textOf(resource["name"]);
    if (name !== undefined && this.#names.has(name))
      return this.#error(
        `Two resources are named ${JSON.stringify(quoted(name))}; names are unique in a package.`,
        `${pointer}/name`,
      );
    if (name !== undefined) this.#names.add(name);
    const path = resource["path"] ?? resource["url"];
    const paths = listOf(path);
    if (paths.length === 0 && resource["data"] === undefined)
      return this.#error("The resource has neither path nor data; add one.", pointer);
    for (const [index, one] of paths.entries()) {
      const place = `${pointer}/path${Array.isArray(path) ? step(index) : ""}`;
      if (typeof one !== "string")
        return this.#error("A path is not text; write a relative path or a URL.", place);
      if (!ABSOLUTE.test(one) && (one.startsWith("/") || one.split(/[/\\]/).includes("..")))
        return this.#error(
          `The path ${JSON.stringify(quoted(one))} leads out of the package; paths are ` +
            "relative, without `..`.",
          place,
        );
    }
    const title = textOf(resource["title"]) ?? name;
    const schema = this.#schema(resource, pointer, name ?? pointer);
    const said = defined({
      name: title,
      description: textOf(resource["description"]),
      license: resource["licenses"] === undefined ? undefined : licencesOf(resource["licenses"]),
      hasSchema: schema,
    });
    if (paths.length === 1)
      return void this.#graph.addPart(pointer, {
        ...fileAt(paths[0] as string),
        ...said,
        ...this.#file(resource, paths[0] as string, pointer),
      });
    const parts = paths.map((one) =>
      this.#graph.add(pointer, {
        ...fileAt(one as string),
        name: one,
        ...defined({ encodingFormat: formatOf(resource, one as string), hasSchema: schema }),
      }),
    );
    this.#graph.addPart(pointer, {
      "@id": `#${name ?? `resource-${pointer.slice(pointer.lastIndexOf("/") + 1)}`}`,
      "@type": "Dataset",
      ...said,
      ...defined({
        data: resource["data"],
        hasPart: parts.length > 0 ? parts : undefined,
      }),
    });
  }

  #file(resource: JsonObject, path: string, pointer: string): JsonObject {
    const hash = textOf(resource["hash"]);
    // Here the name of the algorithm belongs before the digits.
    const [, algorithm = "md5", digits] = /^(?:(\w+):)?(.*)$/s.exec(hash ?? "") ?? [];
    const bytes = textOf(resource["bytes"]);
    return {
      ...defined({ encodingFormat: formatOf(resource, path), contentSize: bytes }),
      ...(algorithm === "md5" || algorithm === "sha256" || algorithm === "sha512"
        ? this.#graph.digest(algorithm, hash && digits, `${pointer}/hash`)
        : {}),
    };
  }

  /** The Table Schema of a resource, or a reference to the file or address that holds it. */
  #schema(resource: JsonObject, pointer: string, name: string): JsonObject | undefined {
    const { schema } = resource;
    if (schema === undefined || schema === null) return undefined;
    const place = { file: this.#graph.file, pointer: `${pointer}/schema` };
    if (typeof schema === "string") return { "@id": schema };
    try {
      const table = fromFrictionless(resource, (sentence) =>
        this.#graph.findings.warn("SCHEMA_PART_LEFT_OUT", `${sentence}.`, place),
      );
      return this.#graph.schema(
        place.pointer,
        `#schema-${name}`,
        defined({
          name: `Schema of ${table.name ?? name}`,
          description: table.description,
          separator: table.separator,
          header: table.header,
          ...(table.keys as unknown as JsonObject),
        }),
        table.properties as unknown as JsonObject,
      );
    } catch (error) {
      if (!(error instanceof TabularError)) throw error;
      this.#error(`The schema cannot be read: ${error.message}; correct it.`, place.pointer);
      return undefined;
    }
  }
}

/** A file of the package, or one elsewhere. */
const fileAt = (path: string): JsonObject => ({
  "@id": path,
  "@type": "File",
  ...(ABSOLUTE.test(path) ? { contentUrl: path } : {}),
});

function formatOf(resource: JsonObject, path: string): string | undefined {
  const type = textOf(resource["mediatype"]);
  if (type !== undefined) return type;
  const format =
    textOf(resource["format"]) ?? /\.([A-Za-z0-9]+)$/.exec(path.replace(/[?#].*$/, ""))?.[1];
  return format === undefined ? undefined : ownValue(FORMATS, format.toLowerCase());
}

/** Addresses of licences where they are given, else their names; one alone, several in a list. */
function licencesOf(licences: JsonValue | undefined): JsonValue | undefined {
  const found = listOf(licences).flatMap((licence): JsonValue[] => {
    if (typeof licence === "string") return [licence];
    if (!isObject(licence)) return [];
    const path = textOf(licence["path"]) ?? textOf(licence["url"]);
    if (path !== undefined && ABSOLUTE.test(path)) return [{ "@id": path }];
    const name = textOf(licence["name"]) ?? textOf(licence["title"]) ?? textOf(licence["type"]);
    return name === undefined ? [] : [name];
  });
  return found.length > 1 ? found : found[0];
}
