import { Algorithm, hash, verify } from "@node-rs/argon2";

/** OWASP's argon2id parameters: 19 MiB, two passes, one lane. */
const PARAMETERS = { algorithm: Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** argon2id in PHC format. */
export const hashPassword = (password: string): Promise<string> => hash(password, PARAMETERS);

let decoy: Promise<string> | undefined;

/** Takes the same time whether there is a hash to compare with or not, so that an unknown user cannot be told from a wrong password. */
export async function verifyPassword(stored: string | undefined, password: string): Promise<boolean> {
  decoy ??= hashPassword("no account has this password");
  const matches = await verify(stored ?? (await decoy), password).catch(() => false);
  return matches && stored !== undefined;
}

/** Form in which e-mail addresses are compared: trimmed, NFKC, lower case. */
export const normalizeEmail = (email: string): string => email.trim().normalize("NFKC").toLowerCase();
