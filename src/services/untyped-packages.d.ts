// Types of packages that have none, as far as services use them.

declare module "mime-db" {
  /** Media types in lower case; `source` is `iana` for those that IANA has registered. */
  const types: Readonly<
    Record<string, { source?: "iana" | "apache" | "nginx"; extensions?: readonly string[] }>
  >;
  export default types;
}

declare module "shacl-engine" {
  import type { DataFactory, NamedNode, Store, Term } from "n3";

  /** A shape while it is compiled. */
  export interface Shape {
    ptr: { out(predicates: NamedNode[]): { value: string; term: Term } };
  }
  /** One value while a shape is applied to it. */
  export interface ValueContext {
    valueOrNode: { term: Term };
    test(result: boolean, component: NamedNode, details: object): void;
  }
  export type Compile = (shape: Shape) => { generic: (context: ValueContext) => void };

  export interface ValidationResult {
    /** Steps, each with its possible predicates. */
    path?: { predicates: { value: string }[] }[];
    value?: { term?: { value: string } };
    message: { value: string }[];
    /** The node that was validated. */
    focusNode: { term: { value: string } };
    severity: { value: string };
    constraintComponent: { value: string };
  }
  export interface Report {
    conforms: boolean;
    results: ValidationResult[];
  }

  export class Validator {
    constructor(
      shapes: Store,
      options: {
        factory: typeof DataFactory;
        validations?: readonly (readonly [NamedNode, Compile])[];
      },
    );
    /** @param data `terms`: the nodes to validate; without them the target nodes of the shapes */
    validate(
      data: { dataset: Store; terms?: Term[] },
      shapes?: { terms: Term[] }[],
    ): Promise<Report>;
  }
}

declare module "shacl-engine/lib/validations/type.js" {
  export const compileDatatype: import("shacl-engine").Compile;
}
