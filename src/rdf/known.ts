/** Crates bring terms of their own: more than these are worked out anew, and so are long ones. */
const MOST_KNOWN = 2000;
const LONGEST = 200;

/** What is made of an IRI of a vocabulary, remembered: few come again and again. */
export class Known<T> {
  readonly #known = new Map<string, T>();

  constructor(private readonly make: (iri: string) => T) {}

  of(iri: string): T {
    const known = this.#known.get(iri);
    if (known !== undefined) return known;
    const made = this.make(iri);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    if (iri.length <= LONGEST) this.#known.set(iri, made);
    return made;
  }
}
