/**
 * The items of two lists in pairs, such as records and what a store answered for each.
 * @throws Error for lists of different lengths
 */
export function pairs<A, B>(one: readonly A[], other: readonly B[]): [A, B][] {
  if (one.length !== other.length)
    throw new Error(`${one.length} and ${other.length} items are no pairs`);
  return one.map((item, index) => [item, other[index] as B]);
}
