/** A failure whose message is written for the person at the terminal. */
export class Failure extends Error {}

/** Any error as one line without a stack. */
export function failureLine(error: unknown): string {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const place = path === undefined ? "" : `${path}: `;
  if (code === "ENOENT") return `${place}there is no such file or folder`;
  if (code === "EACCES" || code === "EPERM") return `${place}permission denied`;
  if (code === "EADDRINUSE") return "the address is in use: set PORT to another one";
  return String(message ?? error).replaceAll(/\s*\n\s*/g, " ");
}
