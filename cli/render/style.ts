import { styleText } from "node:util";

/** True when text on this stream may be coloured: a terminal, and nobody asked for none (https://no-color.org). */
export const isColoured = (stream: { isTTY?: boolean }): boolean => stream.isTTY === true && (process.env["NO_COLOR"] ?? "") === "";

/** Paints text for standard output, or leaves it alone. */
export function paint(style: Parameters<typeof styleText>[0], text: string): string {
  return isColoured(process.stdout) ? styleText(style, text) : text;
}

/** Bytes for people: `412 B`, `27.1 KB`. */
export function humanSize(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
