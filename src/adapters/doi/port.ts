/** States of a DOI at DataCite: `registered` DOIs resolve and are found in no search. */
export type DoiState = "draft" | "registered" | "findable";

/**
 * The service has read the request and refuses the metadata: a retry would give the same result.
 * The message is one line that holds the service's reason, cut short, and no secret.
 */
export class DoiRefused extends Error {
  override readonly name = "DoiRefused";
}

/**
 * Registers DOIs. Every call may be repeated, and throws `Outage` (errors.ts) while the service is
 * unavailable, overloaded, slow, or refuses the credentials, which an operator corrects; an abort
 * throws the signal's reason.
 */
export interface DoiService {
  /** Prefix of the DOIs that are assigned, `10.5072`. */
  readonly prefix: string;
  /**
   * Creates a DOI or replaces its metadata. Without an event the state stays, and is `draft` for a
   * new one.
   * @throws DoiRefused
   */
  put(
    doi: string,
    attributes: Readonly<Record<string, unknown>>,
    event: "publish" | "hide" | undefined,
    signal: AbortSignal,
  ): Promise<DoiState>;
  /** Deletes a draft. False where the DOI is no draft any more. */
  deleteDraft(doi: string, signal: AbortSignal): Promise<boolean>;
  close(): void;
}
