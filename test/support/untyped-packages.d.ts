// Types of packages that have none, as far as tests use them.

declare module "@citation-js/core" {
  /** References of any format that a plugin reads. */
  export class Cite {
    constructor(data: unknown);
    data: unknown[];
  }
}
declare module "@citation-js/plugin-bibtex";
declare module "@citation-js/plugin-ris";
