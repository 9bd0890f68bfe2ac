import { type DocumentNode, parse } from "graphql";

/** A GraphQL document with the types of its result and its variables. */
export class TypedDocumentString<Result, Variables> {
  /** Never set: it carries the types. */
  declare readonly __types?: (variables: Variables) => Result;
  readonly #text: string;
  #parsed: DocumentNode | undefined;

  constructor(text: string, _meta?: unknown) {
    this.#text = text;
  }

  /** Parsed on the first request. */
  get parsed(): DocumentNode {
    return (this.#parsed ??= parse(this.#text));
  }

  toString(): string {
    return this.#text;
  }
}
