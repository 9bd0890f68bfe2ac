/** Longest keyword that an index holds; of longer ones the beginning counts. */
const LONGEST = 500;

/** A keyword as the index holds it. */
export const shortWord = (word: string): string => (word.length > LONGEST ? word.slice(0, LONGEST).toWellFormed() : word);
