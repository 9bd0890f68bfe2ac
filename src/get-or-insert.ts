/**
 * The value of a key in a map. Where there is none, one is made and stored first, as
 * `Map.prototype.getOrInsertComputed` of ES2026 does.
 */
export function getOrInsert<K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
