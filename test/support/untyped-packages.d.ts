// Types of packages and scripts that have none, as far as tests use them.

declare module "@citation-js/core" {
  /** References of any format that a plugin reads. */
  export class Cite {
    constructor(data: unknown);
    data: unknown[];
  }
}
declare module "@citation-js/plugin-bibtex";
declare module "@citation-js/plugin-ris";
declare module "*/scripts/help-pages.mjs" {
  /** A page of the documentation as HTML. */
  export function rendered(
    path: string,
    text: string,
    titles: ReadonlyMap<string, string>,
  ): { html: string; sections: { id: string; title: string }[] };
}
