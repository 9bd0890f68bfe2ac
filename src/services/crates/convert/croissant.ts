import { parseArk } from "../../../identifiers/ark.js";
import type { JsonObject, JsonValue } from "../../../model/field.js";
import { isObject, listOf } from "../../../model/field.js";
import { step } from "../../../model/json/pointer.js";
import type { ExchangedColumn } from "../../../tabular/interchange/exchange.js";
import { type Findings, objectFrom, quoted } from "../findings.js";
import { ABSOLUTE, type Converted, CrateGraph, defined, textOf } from "./graph.js";
import { getOrInsert } from "../../../get-or-insert.js";

/** `http://mlcommons.org/croissant/1.1`, and the terms of the vocabulary. */
export const CROISSANT = /^https?:\/\/mlcommons\.org\/croissant\//;
const VOCABULARY = /^https?:\/\/schema\.org\/?$/;
const SCHEMA_ORG = /^(?:sc|schema|sdo|https?:\/\/schema\.org\/):?/;
/** Members of the document that become entities, or that the converted crate states itself. */
const STRUCTURE = new Set([
  "@context",
  "@id",
  "@type",
  "conformsTo",
  "dct:conformsTo",
  "distribution",
  "recordSet",
  "cr:recordSet",
  "ml:recordSet",
  "hasPart",
]);
const AGENTS = new Set([
  "creator",
  "author",
  "contributor",
  "publisher",
  "funder",
  "sdPublisher",
  "maintainer",
]);

/** Whether the document says that it is Croissant. */
export const isCroissant = (document: JsonObject): boolean =>
  document["@graph"] === undefined &&
  (["conformsTo", "dct:conformsTo"].some((name) =>
    listOf(document[name]).some((iri) => CROISSANT.test(idOf(iri) ?? "")),
  ) ||
    listOf(document["@context"]).some((context) =>
      typeof context === "string"
        ? CROISSANT.test(context)
        : isObject(context) &&
          ["cr", "ml"].some((name) => CROISSANT.test(textOf(context[name]) ?? "")),
    ) ||
    isOld(document));

/** Croissant before 1.0, whose terms had another namespace. */
const isOld = (document: JsonObject): boolean =>
  listOf(document["@context"]).some(
    (context) =>
      isObject(context) && /^https?:\/\/mlcommons\.org\/schema\//.test(textOf(context["ml"]) ?? ""),
  );

/** `"a"` and `{"@id": "a"}` refer to the same. */
const idOf = (value: JsonValue | undefined): string | undefined =>
  typeof value === "string" ? value : isObject(value) ? textOf(value["@id"]) : undefined;
const valueOf = (object: JsonObject, name: string): JsonValue | undefined =>
  object[name] ?? object[`cr:${name}`] ?? object[`ml:${name}`] ?? object[`sc:${name}`];
const typesOf = (object: JsonObject): string[] =>
  listOf(object["@type"]).flatMap((type) =>
    typeof type === "string" ? [type.replace(/^(?:cr|ml|sc|schema):|^.*[/#]/, "")] : [],
  );

/** A Croissant document (1.0 or 1.1) as RO-Crate metadata. */
export function fromCroissant(document: JsonObject, file: string, findings: Findings): Converted {
  return new Croissant(document, new CrateGraph(file, findings)).convert();
}

/** The fields of a record set, and the files that they are read from. */
interface Table {
  columns: ExchangedColumn[];
  names: Set<string>;
  sources: Set<string>;
}

class Croissant {
  /** Entities of files and file sets, by the names that record sets use. */
  readonly #files = new Map<string, JsonObject>();
  readonly #urls = new Map<string, number>();
  readonly #document: JsonObject;
  readonly #graph: CrateGraph;

  constructor(document: JsonObject, graph: CrateGraph) {
    this.#document = document;
    this.#graph = graph;
  }

  convert(): Converted {
    this.#adviseOnVersion();
    const resources = this.#objects(this.#document, "distribution");
    for (const { object } of resources)
      for (const url of listOf(valueOf(object, "contentUrl")))
        if (typeof url === "string") this.#urls.set(url, (this.#urls.get(url) ?? 0) + 1);
    const schemas = this.#schemas();
    for (const { object, pointer } of resources) this.#resource(object, pointer, schemas);
    const contexts = listOf(this.#document["@context"]).flatMap(ownTerms);
    return this.#graph.finish(this.#root(), contexts);
  }

  #adviseOnVersion(): void {
    const versions = ["conformsTo", "dct:conformsTo"].flatMap((name) =>
      listOf(this.#document[name]).flatMap(
        (iri) =>
          /^https?:\/\/mlcommons\.org\/croissant\/(\d+\.\d+)/.exec(idOf(iri) ?? "")?.[1] ?? [],
      ),
    );
    if (versions.some((version) => Number.parseFloat(version) >= 1)) return;
    const [version = isOld(this.#document) ? "0.8" : undefined] = versions;
    this.#graph.findings.warn(
      "CROISSANT_VERSION",
      (version === undefined
        ? "The document does not say which version of Croissant it conforms to"
        : `The document is of Croissant ${version}`) +
        ", and it is read as one of 1.1: what has changed since may be missing. Write it in " +
        "Croissant 1.1, with conformsTo http://mlcommons.org/croissant/1.1.",
      { file: this.#graph.file, pointer: versions.length === 0 ? "/@context" : "/conformsTo" },
    );
  }

  #error(message: string, pointer: string): void {
    this.#graph.findings.error("CROISSANT_INVALID", message, { file: this.#graph.file, pointer });
  }

  #objects(
    holder: JsonObject,
    name: string,
    above = "",
  ): { object: JsonObject; pointer: string }[] {
    const value = valueOf(holder, name);
    return listOf(value).flatMap((object, index) => {
      const pointer = `${above}/${name}${Array.isArray(value) ? step(index) : ""}`;
      if (isObject(object)) return [{ object, pointer }];
      this.#error(`An item of ${name} is not an object; describe it by its properties.`, pointer);
      return [];
    });
  }

  #root(): JsonObject {
    const id = textOf(this.#document["@id"]);
    const members = Object.entries(this.#document)
      .filter(([name]) => !STRUCTURE.has(name))
      .map(([name, value]): [string, JsonValue] => {
        const term = name.replace(/^(?:sc|schema):/, "");
        return [term, this.#value(value, step(name), AGENTS.has(term))];
      });
    return objectFrom([
      ...(id !== undefined && parseArk(id) ? [["@id", id] as [string, JsonValue]] : []),
      ...members,
    ]);
  }

  /** Values with plain names of schema.org; agents become entities of their own. */
  #value(value: JsonValue, pointer: string, isAgent: boolean): JsonValue {
    if (Array.isArray(value))
      return value.map((item, index) => this.#value(item, pointer + step(index), isAgent));
    if (!isObject(value)) return value;
    const plain = objectFrom(
      Object.entries(value).map(([name, member]): [string, JsonValue] =>
        name === "@type"
          ? [name, listOf(member).map((type) => textOf(type)?.replace(SCHEMA_ORG, "") ?? "")]
          : [name.replace(/^(?:sc|schema):/, ""), this.#value(member, pointer + step(name), false)],
      ),
    );
    if (!isAgent || typeof value["@id"] === "string") return plain;
    const [type = "Person"] = listOf(plain["@type"]) as string[];
    return this.#graph.addAgent(pointer, type === "Organization" ? type : "Person", plain);
  }

  #resource(object: JsonObject, pointer: string, schemas: ReadonlyMap<string, JsonObject[]>): void {
    const id = textOf(object["@id"]) ?? textOf(valueOf(object, "name"));
    if (id === undefined)
      return this.#error(
        "A resource of distribution has neither @id nor name; give it an @id.",
        pointer,
      );
    if (this.#files.has(id))
      return this.#error(
        `Two resources have the @id ${JSON.stringify(quoted(id))}; give each one of its own.`,
        pointer,
      );
    const types = typesOf(object);
    const isSet = types.includes("FileSet");
    const containers = listOf(valueOf(object, "containedIn")).flatMap((one) => idOf(one) ?? []);
    const said = defined({
      name: textOf(valueOf(object, "name")) ?? id,
      description: valueOf(object, "description"),
      encodingFormat: valueOf(object, "encodingFormat"),
      contentSize: textOf(valueOf(object, "contentSize")),
      includes: isSet ? valueOf(object, "includes") : undefined,
      excludes: isSet ? valueOf(object, "excludes") : undefined,
      isPartOf:
        containers.length === 0
          ? undefined
          : containers.map((one) => this.#files.get(one) ?? { "@id": `#${one}` }),
      hasSchema: schemas.get(id),
    });
    if (isSet)
      return void this.#files.set(
        id,
        this.#graph.addPart(pointer, { "@id": `#${id}`, "@type": "Dataset", ...said }),
      );
    const [url] = listOf(valueOf(object, "contentUrl"));
    if (url !== undefined && typeof url !== "string")
      return this.#error("The contentUrl is not text; write a path or URL.", pointer);
    if (url === undefined && containers.length === 0)
      return this.#error(
        `The file ${JSON.stringify(quoted(id))} has neither contentUrl nor containedIn; say ` +
          "where it is.",
        pointer,
      );
    const digests = {
      ...this.#graph.digest("sha256", valueOf(object, "sha256"), `${pointer}/sha256`),
      ...this.#graph.digest("md5", valueOf(object, "md5"), `${pointer}/md5`),
    };
    this.#files.set(
      id,
      this.#graph.addPart(pointer, {
        ...this.#place(id, url, containers.length > 0),
        ...said,
        ...digests,
      }),
    );
  }

  /** A file inside an archive is not a file of the crate: its path is in the archive. */
  #place(id: string, url: string | undefined, isContained: boolean): JsonObject {
    const type = { "@type": "File" };
    if (url === undefined) return { "@id": `#${id}`, ...type };
    if (!ABSOLUTE.test(url))
      return isContained
        ? { "@id": `#${id}`, ...type, alternateName: url }
        : { "@id": url, ...type };
    return (this.#urls.get(url) ?? 0) > 1
      ? { "@id": `#${id}`, ...type, contentUrl: url }
      : { "@id": url, ...type, contentUrl: url };
  }

  /** Record sets as schemas; answers those of each file and file set. */
  #schemas(): Map<string, JsonObject[]> {
    const bySource = new Map<string, JsonObject[]>();
    const seen = new Set<string>();
    for (const { object, pointer } of this.#objects(this.#document, "recordSet")) {
      const id = textOf(object["@id"]) ?? textOf(valueOf(object, "name"));
      if (id === undefined) {
        this.#error("A record set has neither @id nor name; give it an @id.", pointer);
        continue;
      }
      if (seen.has(id)) {
        this.#error(
          `Two record sets have the @id ${JSON.stringify(quoted(id))}; give each one of its own.`,
          pointer,
        );
        continue;
      }
      seen.add(id);
      const table: Table = { columns: [], names: new Set(), sources: new Set() };
      for (const field of this.#objects(object, "field", pointer))
        this.#column(field.object, field.pointer, id, table);
      const about = defined({
        name: textOf(valueOf(object, "name")) ?? id,
        description: valueOf(object, "description"),
        examples: valueOf(object, "data") ?? valueOf(object, "examples"),
      });
      const schema = this.#graph.addSchema(
        `${pointer}/field`,
        `#${id}`,
        about,
        table.columns,
        "CROISSANT_INVALID",
      );
      if (!schema) continue;
      if (table.sources.size === 0) this.#graph.parts.push(schema);
      for (const source of table.sources)
        getOrInsert(bySource, source, (): JsonObject[] => []).push(schema);
    }
    return bySource;
  }

  #column(field: JsonObject, pointer: string, recordSet: string, table: Table): void {
    const names = [textOf(valueOf(field, "name")), textOf(field["@id"])].flatMap((name) =>
      name === undefined
        ? []
        : [name.startsWith(`${recordSet}/`) ? name.slice(recordSet.length + 1) : name],
    );
    // Fields of several files may share a name; their identifiers differ.
    const name = names.find((one) => !table.names.has(one)) ?? names[0];
    if (name === undefined)
      return this.#error("A field has neither @id nor name; give it an @id.", pointer);
    table.names.add(name);
    const source = valueOf(field, "source");
    if (isObject(source))
      for (const name of ["fileObject", "fileSet", "distribution"]) {
        const from = idOf(valueOf(source, name));
        if (from !== undefined) table.sources.add(from);
      }
    const types = listOf(valueOf(field, "dataType")).flatMap((type) => idOf(type) ?? []);
    const isMany = valueOf(field, "repeated") === true || valueOf(field, "isArray") === true;
    table.columns.push({
      name,
      type: isMany ? "string" : typeOf(types),
      description: textOf(valueOf(field, "description")) ?? "",
      valueURL: idOf(valueOf(field, "equivalentProperty")) ?? null,
      keywords: {},
    });
    for (const { object, pointer: place } of this.#objects(field, "subField", pointer))
      this.#column(object, place, recordSet, table);
  }
}

function typeOf(types: readonly string[]): ExchangedColumn["type"] {
  const names = types.map((type) => type.replace(/^.*[/:#]/, ""));
  if (names.some((name) => /^U?Int(?:eger)?\d*$/.test(name))) return "integer";
  if (names.some((name) => /^(?:Float\d*|Number)$/.test(name))) return "number";
  return names.includes("Boolean") || names.includes("Bool") ? "boolean" : "string";
}

/** What of a context explains further terms; its language would be that of every text. */
function ownTerms(context: JsonValue): JsonValue[] {
  if (typeof context === "string")
    return CROISSANT.test(context) || VOCABULARY.test(context) ? [] : [context];
  if (!isObject(context)) return [];
  return [
    objectFrom(
      Object.entries(context).filter(
        ([term, meaning]) =>
          !term.startsWith("@") ||
          (term === "@vocab" && typeof meaning === "string" && VOCABULARY.test(meaning)),
      ),
    ),
  ];
}
