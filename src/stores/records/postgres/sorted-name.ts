/** Characters of a name by which lists are ordered; an index holds no more of it. */
const LONGEST = 200;

/** The beginning of a name without case. */
export const sortedName = (folded: string): string => (folded.length > LONGEST ? folded.slice(0, LONGEST).toWellFormed() : folded);
