import { DataFactory, type Literal, type NamedNode } from "n3";
import type { Compile } from "shacl-engine";
import { compileDatatype } from "shacl-engine/lib/validations/type.js";
import { expandCurie } from "../../model/field.js";

const term = (curie: string): NamedNode => DataFactory.namedNode(expandCurie(curie));
const STRING = expandCurie("xsd:string");

/** Length in characters, as SPARQL's STRLEN counts (SHACL section 4.4): the engine counts UTF-16 units. */
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
          args: { [name]: limit }, message: [DataFactory.literal(`Value has ${isMin ? "less" : "more"} than ${limit} characters`)], value: context.valueOrNode,
        });
      },
    };
  };
}

/** Any text is an `xsd:string`; the engine takes characters beyond U+FFFF for malformed. */
const datatype: Compile = (shape) => {
  if (shape.ptr.out([term("sh:datatype")]).term.value !== STRING) return compileDatatype(shape);
  return {
    generic(context) {
      const { termType, datatype } = context.valueOrNode.term as Literal;
      context.test(termType === "Literal" && datatype.value === STRING, term("sh:DatatypeConstraintComponent"), {
        args: { datatype: STRING }, message: [DataFactory.literal(`Value does not have datatype <${STRING}>`)], value: context.valueOrNode,
      });
    },
  };
};

/** Put in the place of the engine's own. */
export const UNICODE_VALIDATIONS: readonly (readonly [NamedNode, Compile])[] = [
  [term("sh:minLength"), length("minLength")], [term("sh:maxLength"), length("maxLength")], [term("sh:datatype"), datatype],
];
