/** One step of a JSON pointer (RFC 6901). */
export const step = (key: string | number): string =>
  `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
