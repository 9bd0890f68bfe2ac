/**
 * What keeps a table or its schema from being checked at all. The message is one sentence for the person who
 * asked; it names the place and what to do. The file's name is put in front by whoever knows it.
 */
export class TabularError extends Error {
  constructor(
    /** `SCHEMA`: the schema is not sound. `DATA`: the bytes are no text table. `LIMIT`: a {@link TableLimits} was reached. */
    readonly code: "SCHEMA" | "DATA" | "LIMIT",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
