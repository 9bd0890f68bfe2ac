import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Algorithm, hash, verify } from "@node-rs/argon2";
import { invalid } from "../../errors.js";
import { packageRoot } from "../../package-root.js";

/** OWASP's argon2id parameters: 19 MiB, two passes, one lane. */
const PARAMETERS = {
  algorithm: Algorithm.Argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
};

/** argon2id in PHC format. */
export const hashPassword = (password: string): Promise<string> => hash(password, PARAMETERS);

/**
 * Characters of the longest password that the model accepts: no account has a longer password, so
 * it need not be hashed.
 */
const MAX_PASSWORD_CHARS = 1024;

/**
 * Refuses a new password that is easy to guess. The password is stored as it was sent; only the
 * comparison uses a folded form.
 * @param least PASSWORD_MIN_LENGTH, counted in code points of the composed form
 * @throws ValidationError at `at`; the password is not part of it
 */
export function checkPassword(
  password: string,
  least: number,
  at: readonly string[] = ["body", "password"],
): void {
  if ([...password.normalize("NFC")].length < least) {
    const message = `String should have at least ${least} characters (PASSWORD_MIN_LENGTH)`;
    throw invalid([...at], message, "string_too_short", { min_length: least });
  }
  if (!isCommon(password)) return;
  throw invalid(
    [...at],
    "Value error, this is one of the 10,000 most used passwords: choose another one",
  );
}

/** Lines with `#` say where the list comes from. */
const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  readFileSync(join(packageRoot, "src/services/accounts/common-passwords.txt"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#")),
);

const isCommon = (password: string): boolean =>
  COMMON_PASSWORDS.has(password.normalize("NFKC").toLowerCase());

let decoy: Promise<string> | undefined;

/**
 * Takes the same time whether there is a hash to compare with or not, so that callers cannot
 * distinguish an unknown user from a wrong password.
 */
export async function verifyPassword(
  stored: string | undefined,
  password: string,
): Promise<boolean> {
  decoy ??= hashPassword("no account has this password");
  const tooLong = password.length > 2 * MAX_PASSWORD_CHARS;
  const matches = await verify(stored ?? (await decoy), tooLong ? "" : password).catch(() => false);
  return matches && stored !== undefined && !tooLong;
}
