import { createHash } from "node:crypto";
import type { ChangedText } from "../../stores/records/vectors-port.js";

/** Bytes of a digest; 2^64 texts would have to be tried for two that share one. */
const DIGEST_BYTES = 16;

/** What a vector is made of: name, keywords and description, the first words counting most in many models; empty when there is nothing to say. */
export const embeddedText = ({ name, keywords, description }: NonNullable<ChangedText["text"]>): string => [name, keywords, description].map((part) => part.trim()).filter((part) => part !== "").join("\n");

/** By which a text is known that has its vector already. */
export const digestOf = (text: string): Uint8Array => new Uint8Array(createHash("sha256").update(text).digest().subarray(0, DIGEST_BYTES));

export const sameDigest = (a: Uint8Array | null, b: Uint8Array): boolean => a !== null && Buffer.compare(a, b) === 0;
