/** What a Parquet value would be as cells of text. */
export function cellTexts(value: unknown): string[] {
  return Array.isArray(value) || ArrayBuffer.isView(value) ? Array.from(value as ArrayLike<unknown>, cellText) : [cellText(value)];
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
  if (typeof value === "object") return JSON.stringify(value, (_key, member: unknown) => (typeof member === "bigint" ? member.toString() : member));
  return String(value as string | number | bigint | boolean);
}
