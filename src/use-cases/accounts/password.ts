import { Algorithm, hash, verify } from "@node-rs/argon2";
import { invalid } from "../../errors.js";
import { COMMON_PASSWORDS } from "./common-passwords.js";

/** OWASP's argon2id parameters: 19 MiB, two passes, one lane. */
const PARAMETERS = { algorithm: Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** argon2id in PHC format. */
export const hashPassword = (password: string): Promise<string> => hash(password, PARAMETERS);

/** Characters of the longest password that the model accepts: a longer one is nobody's, and need not be hashed. */
const LONGEST = 1024;

/**
 * Refuses a new password that is quickly guessed. It is stored as it was sent; only what it is compared with is folded.
 * @param least PASSWORD_MIN_LENGTH, counted in code points of the composed form
 * @throws ValidationError at `body.password`; the password is not part of it
 */
export function checkPassword(password: string, least: number): void {
  if ([...password.normalize("NFC")].length < least) {
    const message = `String should have at least ${least} characters (PASSWORD_MIN_LENGTH)`;
    throw invalid(["body", "password"], message, "string_too_short", { min_length: least });
  }
  if (!isCommon(password)) return;
  throw invalid(["body", "password"], "Value error, this is one of the 10,000 most used passwords: choose another one");
}

const isCommon = (password: string): boolean => COMMON_PASSWORDS.has(password.normalize("NFKC").toLowerCase());

let decoy: Promise<string> | undefined;

/** Takes the same time whether there is a hash to compare with or not, so that an unknown user cannot be told from a wrong password. */
export async function verifyPassword(stored: string | undefined, password: string): Promise<boolean> {
  decoy ??= hashPassword("no account has this password");
  const tooLong = password.length > 2 * LONGEST;
  const matches = await verify(stored ?? (await decoy), tooLong ? "" : password).catch(() => false);
  return matches && stored !== undefined && !tooLong;
}

/** What no eye tells apart: controls, format characters, spaces, unassigned and ignorable ones, the blank of Braille. */
const INVISIBLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** The first character of an address that is not seen; spaces around it are no part of it. */
export const invisibleIn = (email: string): string | undefined => {
  const bare = email.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
  return (INVISIBLE.exec(bare) ?? INVISIBLE.exec(bare.normalize("NFKC")))?.[0];
};

/** Form in which e-mail addresses are compared: trimmed, NFKC, lower case. */
export const normalizeEmail = (email: string): string => email.trim().normalize("NFKC").toLowerCase();
