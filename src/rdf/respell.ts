/**
 * Spells IRIs of records as the records that own their keys spell them, in subject and object position of
 * canonical N-Quads; literals and graph names stay. Lines stay sorted, and two that become equal become one.
 *
 * @param quads canonical N-Quads: one statement a line, terms separated by single blanks, lines sorted
 * @param spelling IRI as written → IRI as owned
 */
export function respell(quads: string, spelling: ReadonlyMap<string, string>): string {
  if (spelling.size === 0 || quads === "") return quads;
  let changed = false;
  const lines = quads.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    const respelled = respellLine(line, spelling);
    if (respelled === line) continue;
    lines[i] = respelled;
    changed = true;
  }
  if (!changed) return quads;
  return [...new Set(lines)].toSorted().join("\n") + "\n";
}

/** `<s> <p> <o> <g> .`: no IRI or blank node holds a blank, so the first two end the subject and predicate. */
function respellLine(line: string, spelling: ReadonlyMap<string, string>): string {
  const afterSubject = line.indexOf(" ");
  const afterPredicate = line.indexOf(" ", afterSubject + 1);
  if (afterSubject < 0 || afterPredicate < 0) return line;
  const subject = spelled(line.slice(0, afterSubject), spelling);
  const predicate = line.slice(afterSubject, afterPredicate + 1);
  const rest = line.slice(afterPredicate + 1);
  if (rest[0] !== "<") return subject + predicate + rest;
  const afterObject = rest.indexOf(" ");
  return subject + predicate + spelled(rest.slice(0, afterObject), spelling) + rest.slice(afterObject);
}

function spelled(term: string, spelling: ReadonlyMap<string, string>): string {
  if (term[0] !== "<") return term;
  const other = spelling.get(term.slice(1, -1));
  return other === undefined ? term : `<${other}>`;
}
