import { iriTerm } from "./nquads.js";

/**
 * Statements by subject, for their canonical text: sorted lines without duplicates. Those of one subject are compared by what
 * follows it; whole lines share so much at their beginning that sorting them took most of the time of making them.
 */
export class Lines {
  readonly #bySubject = new Map<string, string[]>();
  #subject: string | undefined;
  #rests: string[] = [];

  /** @param subject safe IRI; @param rest what follows its term: `<predicate> object <graph> .` */
  add(subject: string, rest: string): void {
    if (subject !== this.#subject) {
      this.#subject = subject;
      this.#rests = this.#of(`${iriTerm(subject)} `);
    }
    this.#rests.push(rest);
  }

  /** Canonical N-Quads (RDFC-1.0, section 5). */
  text(): string {
    let text = "";
    // With the blank behind it, a subject that another one begins with comes where its whole lines would.
    for (const subject of [...this.#bySubject.keys()].sort()) {
      const rests = this.#bySubject.get(subject)!.sort();
      for (let at = 0; at < rests.length; at++) if (rests[at] !== rests[at - 1]) text += `${subject}${rests[at]!}\n`;
    }
    return text;
  }

  #of(subject: string): string[] {
    let rests = this.#bySubject.get(subject);
    if (rests === undefined) this.#bySubject.set(subject, (rests = []));
    return rests;
  }
}
