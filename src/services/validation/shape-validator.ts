import { DataFactory, type Literal, type NamedNode, Parser, type Quad, Store } from "n3";
import { type Compile, type ValidationResult, Validator } from "shacl-engine";
import { compileDatatype } from "shacl-engine/lib/validations/type.js";
import { expandCurie } from "../../model/field.js";
import type { KindName } from "../../model/kind.js";
import { KINDS } from "../../model/kinds.js";
import { shaclShapes, shapeOf } from "../../model/shapes.js";
import type { RecordToCheck, ShapeResult } from "./document.js";

const term = (curie: string): NamedNode => DataFactory.namedNode(expandCurie(curie));
const STRING = expandCurie("xsd:string");

/**
 * Length in characters, as SPARQL's STRLEN counts (SHACL section 4.4): the engine counts UTF-16
 * units.
 */
function length(name: "minLength" | "maxLength"): Compile {
  const isMin = name === "minLength";
  const component = term(`sh:${isMin ? "Min" : "Max"}LengthConstraintComponent`);
  return (shape) => {
    const limit = Number(shape.ptr.out([term(`sh:${name}`)]).value);
    return {
      generic(context) {
        const { value, termType } = context.valueOrNode.term;
        const count = termType === "BlankNode" ? -1 : [...value].length;
        context.test(count >= 0 && (isMin ? count >= limit : count <= limit), component, {
          args: { [name]: limit },
          message: [
            DataFactory.literal(`Value has ${isMin ? "less" : "more"} than ${limit} characters`),
          ],
          value: context.valueOrNode,
        });
      },
    };
  };
}

/** Any text is an `xsd:string`; the engine treats characters beyond U+FFFF as malformed. */
const datatype: Compile = (shape) => {
  if (shape.ptr.out([term("sh:datatype")]).term.value !== STRING) return compileDatatype(shape);
  return {
    generic(context) {
      const { termType, datatype } = context.valueOrNode.term as Literal;
      context.test(
        termType === "Literal" && datatype.value === STRING,
        term("sh:DatatypeConstraintComponent"),
        {
          args: { datatype: STRING },
          message: [DataFactory.literal(`Value does not have datatype <${STRING}>`)],
          value: context.valueOrNode,
        },
      );
    },
  };
};

/** Replace the engine's own validations. */
const UNICODE_VALIDATIONS: readonly (readonly [NamedNode, Compile])[] = [
  [term("sh:minLength"), length("minLength")],
  [term("sh:maxLength"), length("maxLength")],
  [term("sh:datatype"), datatype],
];

const MAX_VALUE_CHARS = 200;
const SAME_AS = expandCurie("schema:sameAs");
const TYPE = expandCurie("rdf:type");

/**
 * Validates records one at a time. A document sent to the API is validated by the shape of its
 * kind; a stored record, or an entity of a crate, as in any SHACL engine: each node of the record's
 * graph by the shape that targets its class.
 */
export class ShapeValidator {
  readonly #engine = new Validator(new Store(new Parser().parse(shaclShapes())), {
    factory: DataFactory,
    validations: UNICODE_VALIDATIONS,
  });

  async check(record: RecordToCheck): Promise<ShapeResult[]> {
    return record.sent ? this.#validateSent(record) : this.#validateStored(record);
  }

  async #validateStored({
    ark,
    kind,
    quads,
    shownAs = ark,
  }: RecordToCheck): Promise<ShapeResult[]> {
    const stated = statedIn(ark, quads);
    const dataset = new Store(
      stated.map(({ subject, predicate, object }) => DataFactory.quad(subject, predicate, object)),
    );
    const alias = aliasOf(ark, stated);
    const found: ShapeResult[] = [];
    for (const each of Object.values(KINDS)) {
      const terms = dataset.getSubjects(
        DataFactory.namedNode(TYPE),
        DataFactory.namedNode(expandCurie(each.rdfClass)),
        null,
      );
      if (terms.length === 0) continue;
      const shape = expandCurie(shapeOf(each, "stored"));
      const { results } = await this.#engine.validate({ dataset, terms }, [
        { terms: [DataFactory.namedNode(shape)] },
      ]);
      for (const result of results) {
        const focus = result.focusNode.term.value;
        found.push(
          resultOf(result, {
            node: focus === ark || focus === alias ? shownAs : focus,
            kind,
            shape,
          }),
        );
      }
    }
    return found;
  }

  async #validateSent({ ark, kind, quads, shownAs = ark }: RecordToCheck): Promise<ShapeResult[]> {
    const stated = statedIn(ark, quads);
    const alias = aliasOf(ark, stated);
    const node = DataFactory.namedNode(ark);
    const dataset = new Store(
      stated.map(({ subject, predicate, object }) =>
        DataFactory.quad(subject.value === alias ? node : subject, predicate, object),
      ),
    );
    const shape = expandCurie(shapeOf(KINDS[kind], "sent"));
    const { results } = await this.#engine.validate({ dataset, terms: [node] }, [
      { terms: [DataFactory.namedNode(shape)] },
    ]);
    return results.map((result) => resultOf(result, { node: shownAs, kind, shape }));
  }
}

/** Inferred statements are in a separate graph and are not the record's own. */
const statedIn = (ark: string, quads: string): Quad[] =>
  new Parser({ format: "N-Quads" }).parse(quads).filter(({ graph }) => graph.value === ark);

const resultOf = (
  result: ValidationResult,
  of: Pick<ShapeResult, "node" | "kind" | "shape">,
): ShapeResult => ({
  ...of,
  path: result.path?.[0]?.predicates[0]?.value ?? null,
  value: valueOf(result),
  message: messageOf(of.kind, result),
  severity: local(result.severity.value) as ShapeResult["severity"],
  constraint: local(result.constraintComponent.value),
});

/**
 * A crate's entity with a URL has all its statements under the URL; the record has its class and
 * names it by `schema:sameAs`.
 */
function aliasOf(ark: string, quads: readonly Quad[]): string | undefined {
  const [only, ...others] = quads.filter(
    ({ subject, predicate }) => subject.value === ark && predicate.value !== TYPE,
  );
  return others.length === 0 && only?.predicate.value === SAME_AS ? only.object.value : undefined;
}

function valueOf({ value }: ValidationResult): string | null {
  const text = value?.term?.value;
  if (text === undefined) return null;
  return text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text;
}

const local = (iri: string): string => iri.replace(/.*[/#]/, "");

/** The engine's message, and the expected value of the field. */
function messageOf(kind: KindName, { message, path }: ValidationResult): string {
  const property = path?.[0]?.predicates[0]?.value;
  const field = Object.entries(KINDS[kind].fields).find(
    ([, { term }]) => expandCurie(term) === property,
  );
  const claimed = (message[0]?.value ?? "").replaceAll(/\s+/g, " ");
  return field ? `${claimed} (${field[0]}: ${field[1].description})` : claimed;
}
