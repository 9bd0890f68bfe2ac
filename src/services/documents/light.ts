import type { JsonObject } from "../../model/field.js";

/** Bytes of a document up to which the serving thread may expand it itself. */
const SMALL = 16 * 2 ** 10;
/** Values of a document of scalars, each of which costs 2 to 3 µs. */
const MOST_SCALARS = 2_000;
/** Values of one that holds objects, each of which costs the JSON-LD processor about 40 µs. */
const MOST_NESTED = 100;

/**
 * Whether a document is expanded in about 5 ms at most: this is usual, and starting a thread for it
 * would take longer. Contexts inside the document, and contexts that it only names, cost as much as
 * their terms.
 * @param size bytes of the document as JSON
 */
export function isLight(document: JsonObject, size: number): boolean {
  if (size > SMALL) return false;
  let values = 0;
  let nested = false;
  const open: object[] = [document];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    const members: unknown[] = Array.isArray(holder) ? holder : Object.values(holder);
    values += members.length;
    if (values > (nested ? MOST_NESTED : MOST_SCALARS)) return false;
    if (
      holder !== document &&
      (Object.hasOwn(holder, "@context") || Object.hasOwn(holder, "@import"))
    )
      return false;
    for (const member of members) {
      if (typeof member !== "object" || member === null) continue;
      if (!Array.isArray(member) && member !== document["@context"]) nested = true;
      open.push(member);
    }
  }
  const context = document["@context"];
  return (
    values <= (nested ? MOST_NESTED : MOST_SCALARS) &&
    (context === undefined ||
      context === null ||
      (typeof context === "object" && !Array.isArray(context)))
  );
}
