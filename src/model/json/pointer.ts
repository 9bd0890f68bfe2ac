/** One step of a JSON pointer (RFC 6901). */
export const step = (key: string | number): string =>
  `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** The name that a step stands for; without its `/`. */
export const stepName = (text: string): string => text.replaceAll("~1", "/").replaceAll("~0", "~");
