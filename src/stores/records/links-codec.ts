import type { Link } from "../../model/link.js";
import type { RecordState } from "./port.js";
import { storedJson } from "./unavailable.js";

/** Links of one record that are copied between threads as objects; more go as bytes, which are handed over. */
const FEW = 50;

/**
 * Links as they go from one thread to another: copying a hundred thousand objects takes the serving thread, which only
 * passes them on to the writer, half a second.
 */
export const packLinks = (links: RecordState["links"]): RecordState["links"] => (links instanceof Uint8Array || links.length <= FEW ? links : new TextEncoder().encode(JSON.stringify(links)));

export const unpackLinks = (links: RecordState["links"]): readonly Link[] => (links instanceof Uint8Array ? storedJson<Link[]>(new TextDecoder().decode(links), "a list of links") : links);
