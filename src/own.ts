/**
 * The entry of a table under a name that a client chose. Every object inherits entries named
 * `constructor` or `__proto__`, which are none of a table.
 */
export const ownValue = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
