import type { JsonObject } from "../../../model/field.js";
import { ANY_SUBJECT } from "../../../model/provenance.js";
import { eachUnknownContext } from "../../../rdf/contexts.js";
import { FALLBACK_VOCABULARY } from "../../../rdf/iri.js";
import { TermMeanings, termsOf } from "../../crates/export/term-meanings.js";

/** Schemes that the meaning of a term may begin with; anything else before a colon is a prefix that no context declares. */
const SCHEME = /^(?:https?|urn|tag|did|info|ark|doi|arcp|mailto):/i;
/** Another name of a keyword. */
const ALIAS = /@[a-z]+$/i;
/** Contexts whose meanings are remembered: records of one crate share one or two. */
const MOST_CONTEXTS = 50;

/** Tells which terms of records no context explains. */
export class Terms {
  private readonly meanings = new Map<string, TermMeanings | null>();

  /** Terms of the document that its own context gives no meaning to; `undefined` when that context is not known here. */
  lostIn(document: JsonObject): string[] | undefined {
    const meanings = this.of(document);
    if (!meanings) return undefined;
    return [...termsOf(document)].filter((term) => {
      const meaning = meanings.of(term).split(" ", 1)[0]!;
      if (ALIAS.test(meaning)) return false;
      return meaning.startsWith(FALLBACK_VOCABULARY) ? !ANY_SUBJECT.has(`https://schema.org/${term}`) : !SCHEME.test(meaning);
    });
  }

  private of(document: JsonObject): TermMeanings | null {
    const context = document["@context"];
    const key = JSON.stringify(context) ?? "";
    let meanings = this.meanings.get(key);
    if (meanings === undefined) {
      if (this.meanings.size >= MOST_CONTEXTS) this.meanings.clear();
      this.meanings.set(key, meanings = meaningsOf(context));
    }
    return meanings;
  }
}

function meaningsOf(context: JsonObject[string] | undefined): TermMeanings | null {
  let isKnown = true;
  eachUnknownContext({ "@context": context ?? null }, () => {
    isKnown = false;
  });
  return isKnown ? new TermMeanings(context ?? null) : null;
}
