import { ServiceError } from "../../errors.js";

const refused = (): ServiceError => new ServiceError("BAD_REQUEST", "The cursor is not one that this list gave; begin again without it.");
const NUMBER = /^\d{1,15}$/;

/** A position made of whole numbers, e.g. `17` or `17.4.0`. @throws ServiceError `BAD_REQUEST` when `text` is not one of `count` numbers */
export function readNumbers(text: string, count: number): number[] {
  const parts = text.split(".");
  if (parts.length !== count || !parts.every((part) => NUMBER.test(part))) throw refused();
  return parts.map(Number);
}

/** A position in the order by name: the name without case, then the record's number. */
export const writeNamePosition = (folded: string, id: number): string => `${id}.${Buffer.from(folded, "utf8").toString("base64url")}`;
export function readNamePosition(text: string): [folded: string, id: number] {
  const [id = "", name = "", ...more] = text.split(".");
  const folded = Buffer.from(name, "base64url").toString("utf8");
  if (!NUMBER.test(id) || more.length > 0 || folded.includes("\0")) throw refused();
  return [folded, Number(id)];
}
