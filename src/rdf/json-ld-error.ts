/** The document cannot be read as JSON-LD (a malformed `@context`, a wrong keyword); names what is wrong. */
export class JsonLdError extends Error {
  /** @param entity index of the entity of a crate that cannot be read */
  constructor(message: string, readonly entity?: number) {
    super(message);
    this.name = "JsonLdError";
  }
}
