import { looksLikeArk } from "../../../identifiers/ark.js";
import type { JsonValue } from "../../../model/field.js";
import { KINDS } from "../../../model/kinds/index.js";
import { quoted, type Findings } from "../findings.js";
import { coercedTerms, isReferenceName } from "../identifiers/reference-fields.js";
import { isObject, listOf, referencesIn, step } from "../json-path.js";
import { kindOfTypes, typeNames } from "../kinds.js";
import type { CrateDescription, CrateEntity } from "../layout/description.js";
import { bareId } from "../layout/descriptor.js";

const ABSOLUTE = /^[a-zA-Z][a-zA-Z0-9+.-]*:/;
const SPECIFICATION = /^https?:\/\/w3id\.org\/ro\/crate(?:\/(.*))?$/;
/** Versions of RO-Crate, their drafts and corrections. */
const VERSION = /^(?:0\.[23]|1\.[0-4])(?:\.\d+)?(?:-DRAFT)?\/?$/;
/** Properties whose values are entities, never words. */
const ONLY_REFERENCES: ReadonlySet<string> = new Set(["hasPart", "isPartOf", "about", "mainEntity", "conformsTo"]);

/** Warns of references that are text or lead nowhere, and of whole objects in their place ("RO-Crate JSON-LD"). */
export function adviseOnReferences(description: CrateDescription, findings: Findings): void {
  const { descriptor, entities } = description;
  const rules = new ReferenceRules(description, findings);
  for (const entity of [...(descriptor ? [descriptor] : []), ...entities]) rules.check(entity);
  rules.tell();
}

/** Places of one finding: the first is shown, the others are counted. */
interface Places { first: string; pointer: string; count: number }

class ReferenceRules {
  readonly #described = new Set<string>();
  /** Their texts are references by what the context says. */
  readonly #coerced: ReadonlySet<string>;
  readonly #texts = new Map<string, Places>();
  #nested: Places | undefined;

  constructor(private readonly description: CrateDescription, private readonly findings: Findings) {
    for (const { id } of [...description.entities, ...(description.descriptor ? [description.descriptor] : [])]) this.#described.add(id).add(bareId(id));
    this.#coerced = coercedTerms(description.context);
  }

  check(entity: CrateEntity): void {
    const { value, pointer } = entity;
    const { fields } = KINDS[kindOfTypes(typeNames(value, this.description.context, value["@context"]))];
    for (const [key, stated] of Object.entries(value)) {
      if (key.startsWith("@")) continue;
      const place = pointer + step(key);
      const json = fields[key]?.json;
      // Fields of any JSON hold no entities.
      if (json !== "object" && json !== "list") this.#checkNested(stated, place);
      const name = key.startsWith("schema:") ? key.slice("schema:".length) : key;
      this.#checkTexts(name, stated, place);
      if (name === "conformsTo" || name === "dct:conformsTo") this.#checkConformsTo(entity, stated, place);
      if (name === "about") this.#checkAbout(stated, place);
    }
  }

  /** One warning for all of a kind: a crate of one tool has it everywhere. */
  tell(): void {
    const { file } = this.description;
    if (this.#nested)
      this.findings.warn("NESTED_WITHOUT_ID", `An object without an @id stands inside an entity${also(this.#nested)}; list it in @graph with an @id, and refer to it.`, { file, pointer: this.#nested.pointer });
    for (const [name, places] of this.#texts)
      this.findings.warn("TEXT_AS_REFERENCE", `The ${name} is the text ${JSON.stringify(quoted(places.first))}${also(places)}; write a reference, {"@id": …}.`, { file, pointer: places.pointer });
  }

  #checkNested(value: JsonValue, pointer: string): void {
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) if (typeof value[index] === "object") this.#checkNested(value[index]!, pointer + step(index));
    } else if (isObject(value)) {
      if (Object.hasOwn(value, "@value")) return;
      const isContainer = Object.hasOwn(value, "@list") || Object.hasOwn(value, "@set");
      if (!isContainer && typeof value["@id"] !== "string") this.#nested = more(this.#nested, "", pointer);
      // What has an @id is an entity of its own.
      if (typeof value["@id"] === "string") return;
      for (const [key, inner] of Object.entries(value)) if (typeof inner === "object" && inner !== null && key !== "@context") this.#checkNested(inner, pointer + step(key));
    }
  }

  #checkTexts(name: string, stated: JsonValue, pointer: string): void {
    if (this.#coerced.has(name) || (!ONLY_REFERENCES.has(name) && !isReferenceName(name))) return;
    for (const text of listOf(stated)) {
      if (typeof text !== "string" || text === "") continue;
      const isRead = looksLikeArk(text) || this.#described.has(text) || this.#described.has(bareId(text));
      if (isRead || ONLY_REFERENCES.has(name)) this.#texts.set(name, more(this.#texts.get(name), text, pointer));
    }
  }

  #checkConformsTo({ value }: CrateEntity, stated: JsonValue, pointer: string): void {
    const isRoot = value === this.description.root.value;
    for (const item of listOf(stated)) {
      const [iri] = referencesIn(item);
      const problem = iri === undefined || iri === "" ? "is no reference" : this.#conformsToProblem(iri, isRoot);
      if (problem !== undefined)
        this.findings.warn("CONFORMS_TO_INVALID", `The conformsTo ${JSON.stringify(quoted(iri ?? JSON.stringify(item)))} ${problem}.`, { file: this.description.file, pointer });
    }
  }

  #conformsToProblem(iri: string, isRoot: boolean): string | undefined {
    const version = SPECIFICATION.exec(iri);
    if (version && !version[1]) return isRoot ? "names no version of RO-Crate, and the crate itself conforms to profiles; the descriptor says the version" : undefined;
    if (version && !iri.includes("/context") && !VERSION.test(version[1]!)) return "is no version of RO-Crate";
    return ABSOLUTE.test(iri) || this.#isDescribed(iri) ? undefined : "is neither a URI nor an entity of the crate";
  }

  #checkAbout(stated: JsonValue, pointer: string): void {
    for (const item of listOf(stated)) {
      if (!isObject(item) || typeof item["@id"] !== "string") continue;
      const id = item["@id"];
      if (!ABSOLUTE.test(id) && !this.#isDescribed(id))
        this.findings.warn("ABOUT_NOWHERE", `The about ${JSON.stringify(quoted(id))} names nothing that the crate describes; describe it, or correct the @id.`, { file: this.description.file, pointer });
    }
  }

  #isDescribed(id: string): boolean {
    return this.#described.has(id) || this.#described.has(bareId(id));
  }
}

const more = (places: Places | undefined, first: string, pointer: string): Places =>
  places ? { ...places, count: places.count + 1 } : { first, pointer, count: 1 };
const also = ({ count }: Places): string => (count === 1 ? "" : ` (and ${count - 1} more)`);
