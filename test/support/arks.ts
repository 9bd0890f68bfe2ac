import { type Ark, lookupArk } from "../../src/identifiers/ark.js";

/** An identifier that a test writes as text, as services and stores take it. */
export function arkFrom(text: string): Ark {
  const ark = lookupArk(text);
  if (!ark) throw new Error(`${text} is not an ARK`);
  return ark;
}
